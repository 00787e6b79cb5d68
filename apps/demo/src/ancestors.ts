/**
 * Who started us: `npx` starts a shell, that one pnpm, that one a shell, that one us. A signal
 * often reaches only the first of them, which dies without a word to the others.
 */
import {
  type ProcessIdentity,
  commandLineOf,
  identityOf,
  isAlive,
  parentOf,
} from "./process-identity.ts";

const DEPTH_MAX = 12;
const SHELL = /^\S*\b(?:sh|bash|dash|zsh|ash|busybox)\s/;
const PACKAGE_MANAGER = /(?:^|[\s/])(?:npm|npx|pnpm|pnpx|yarn|corepack)(?:\.c?js)?(?:\s|$)/;

export interface Ancestor {
  readonly identity: ProcessIdentity;
  readonly command: string;
}

/** Parent, its parent, and so on, as far as they can be seen. */
export function ancestors(pid: number): readonly Ancestor[] {
  const found: Ancestor[] = [];
  let at = parentOf(pid);
  while (at !== undefined && at > 1 && found.length < DEPTH_MAX) {
    const identity = identityOf(at);
    if (identity === undefined) break;
    found.push({ identity, command: commandLineOf(at) });
    at = parentOf(at);
  }
  return found;
}

/**
 * Of these ancestors, nearest first, the package managers and the shells between: up to the last
 * package manager. The shell or program in which somebody typed the command is none of ours: that
 * one may end, and the sale go on.
 */
export function launchers(all: readonly Ancestor[]): readonly Ancestor[] {
  const other = all.findIndex(
    ({ command }) => !SHELL.test(command) && !PACKAGE_MANAGER.test(command),
  );
  const chain = other < 0 ? all : all.slice(0, other);
  const last = chain.findLastIndex(
    ({ command }) => !SHELL.test(command) && PACKAGE_MANAGER.test(command),
  );
  return chain.slice(0, last + 1);
}

export function areAlive(chain: readonly Ancestor[]): boolean {
  return chain.every(({ identity }) => isAlive(identity));
}
