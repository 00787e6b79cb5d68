/**
 * A shell that outlives us by seconds: when the launcher is killed so hard that it cannot stop
 * anything (SIGKILL), its pipe closes, and it stops what the launcher had started.
 */
import { type ChildProcess, spawn } from "node:child_process";

/**
 * Reads `+ pid signal`, `- pid` and `file path`. At the end of input it signals the newest first, gives
 * everything ten seconds, and then ends what is left with its process group.
 */
const SCRIPT = `
trap '' INT TERM HUP
all=
file=
while read -r what pid signal; do
  case $what in
    +) all="$pid:$signal $all" ;;
    file) file="$pid\${signal:+ $signal}" ;;
    -) rest=; for one in $all; do [ "\${one%%:*}" = "$pid" ] || rest="$rest $one"; done; all=$rest ;;
  esac
done
[ -n "$file" ] && rm -f -- "$file"
[ -z "$all" ] && exit 0
for one in $all; do kill -"\${one##*:}" "\${one%%:*}" 2>/dev/null; done
for second in 1 2 3 4 5 6 7 8 9 10; do
  left=; for one in $all; do kill -0 "\${one%%:*}" 2>/dev/null && left=1; done
  [ -z "$left" ] && break
  sleep 1
done
for one in $all; do kill -KILL -"\${one%%:*}" 2>/dev/null; done
exit 0
`;

export class Guard {
  readonly #shell: ChildProcess;

  constructor() {
    // A session of its own: no terminal and no signal to our group reaches it.
    this.#shell = spawn("/bin/sh", ["-c", SCRIPT], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
      env: { PATH: process.env["PATH"] },
      cwd: "/",
    });
    // Without a shell there is no guard, and the next start cleans up by the lock file.
    this.#shell.on("error", () => {});
    this.#shell.stdin?.on("error", () => {});
    this.#shell.unref();
  }

  add(pid: number, stopSignal: NodeJS.Signals): void {
    this.#tell(`+ ${pid} ${stopSignal.replace(/^SIG/, "")}`);
  }

  remove(pid: number): void {
    this.#tell(`- ${pid}`);
  }

  /** A file that must not outlive the parts. */
  addFile(path: string): void {
    this.#tell(`file ${path}`);
  }

  /** Nothing is left to guard. */
  end(): void {
    this.#shell.stdin?.end();
  }

  #tell(line: string): void {
    this.#shell.stdin?.write(`${line}\n`);
  }
}
