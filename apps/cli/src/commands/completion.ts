import { buildCommand } from "@stricli/core";
import { action } from "../action.ts";
import type { CommonFlags } from "../session.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

/**
 * The scripts ask `vestibule __complete WORD…`, which answers a proposal and its meaning a line. The last word is the
 * one under the cursor, and may be empty.
 */
const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `_vestibule() {
  local proposal IFS=$'\\n'
  COMPREPLY=()
  while IFS=$'\\t' read -r proposal _; do
    [[ $proposal == "\${COMP_WORDS[COMP_CWORD]}"* ]] && COMPREPLY+=("$proposal")
  done < <("\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _vestibule vestibule
`,
  zsh: `#compdef vestibule
_vestibule() {
  local line
  local -a proposals
  while IFS= read -r line; do
    proposals+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  _describe 'vestibule' proposals
}
compdef _vestibule vestibule
`,
  fish: `complete -c vestibule -f -a '(
  set -l words (commandline -opc) (commandline -ct)
  $words[1] __complete $words[2..-1] 2>/dev/null
)'
`,
};

const HOW: Readonly<Record<Shell, string>> = {
  bash: 'eval "$(vestibule completion bash)"',
  zsh: 'eval "$(vestibule completion zsh)"',
  fish: "vestibule completion fish | source",
};

type Flags = CommonFlags;

export const completion = buildCommand({
  docs: {
    brief: "Print a script that completes commands, options and keys",
    fullDescription: [
      "Load it from the start file of your shell. It completes the command `vestibule`: link",
      "apps/cli/bin/vestibule into a directory on PATH.",
      "",
      "EXAMPLES",
      ...SHELLS.map((shell) => `  ${HOW[shell].padEnd(40)} # ${shell}`),
    ].join("\n"),
  },
  parameters: {
    flags: {},
    positional: {
      kind: "tuple",
      parameters: [
        {
          brief: SHELLS.join(", "),
          placeholder: "shell",
          parse: shellOf,
          proposeCompletions: (partial: string) =>
            SHELLS.filter((shell) => shell.startsWith(partial)),
        },
      ],
    },
  },
  func(this: Parameters<typeof write>[0], _flags: object, shell: Shell) {
    return write(this, shell);
  },
});

const print = action<Flags, [Shell]>(async ({ platform }, _flags, shell) => {
  platform.out.write(SCRIPTS[shell]);
});

function write(context: ThisParameterType<typeof print>, shell: Shell): Promise<void> {
  return print.call(context, { json: false, insecureHttp: false }, shell);
}

function shellOf(text: string): Shell {
  const shell = SHELLS.find((name) => name === text);
  if (shell === undefined) throw new Error(`one of ${SHELLS.join(", ")}`);
  return shell;
}
