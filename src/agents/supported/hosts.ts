/** All supported agents, in the order in which they are shown. */
import { ClaudikinsError } from "../../errors.ts";
import { didYouMean } from "../../near-names.ts";
import { claudeCode } from "./claude-code.ts";
import { claudeDesktop } from "./claude-desktop.ts";
import { codex } from "./codex.ts";
import { cursor } from "./cursor.ts";
import { gemini } from "./gemini.ts";
import type { Host } from "./model.ts";
import { opencode } from "./opencode.ts";
import { vscode } from "./vscode.ts";
import { windsurf } from "./windsurf.ts";
import { zed } from "./zed.ts";

export const hosts: readonly Host[] = [
  claudeCode,
  claudeDesktop,
  cursor,
  vscode,
  windsurf,
  codex,
  gemini,
  opencode,
  zed,
];

export const hostNames = hosts.map(({ name }) => name);

/** The agents with these names; all if there are no names. Throws USAGE for an unknown name. */
export function chosenHosts(names: readonly string[]): readonly Host[] {
  for (const name of names) {
    if (!hostNames.some((each) => each === name)) throw unknownAgent(name, hostNames);
  }
  return names.length === 0 ? hosts : hosts.filter(({ name }) => names.includes(name));
}

/** The error for an unknown agent. `known` are the possible names. */
export function unknownAgent(name: string, known: readonly string[]): ClaudikinsError {
  return new ClaudikinsError("USAGE", `Unknown agent "${name}"`, {
    hint: [didYouMean(name, hostNames), `Known agents: ${known.join(", ")}.`].filter(Boolean).join(" "),
  });
}
