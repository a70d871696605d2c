/** Whether servers are those of the daemon, which stay for the next command, or a command's own. */
import type { Environment } from "../config/environment.ts";
import { ClaudikinsError } from "../errors.ts";
import type { Args } from "./command.ts";

export const daemonArgs = {
  "no-daemon": { type: "boolean", description: "Start servers for this command only, and stop them when it ends" },
} as const satisfies Args;

export interface DaemonFlags {
  "no-daemon"?: boolean | undefined;
}

const words: ReadonlyMap<string, boolean> = new Map([
  ["on", true],
  ["1", true],
  ["true", true],
  ["off", false],
  ["0", false],
  ["false", false],
]);

/** By the parsed flags and CLAUDIKINS_DAEMON. Throws USAGE where the variable is neither on nor off. */
export function usesDaemon(args: DaemonFlags, env: Environment): boolean {
  const word = env["CLAUDIKINS_DAEMON"] || "on";
  const isOn = words.get(word.toLowerCase());
  if (isOn === undefined) {
    throw new ClaudikinsError("USAGE", `CLAUDIKINS_DAEMON must be on or off; it is "${word}"`);
  }
  // There nobody has tried yet whether sockets like ours can be reached; a start that is waited for in vain costs half a minute.
  if (process.platform === "win32") return false;
  // Where nobody has a home there is no place for its socket that is theirs alone.
  const hasPlace = ["HOME", "USERPROFILE", "XDG_RUNTIME_DIR", "XDG_DATA_HOME"].some((name) => env[name]);
  return isOn && hasPlace && !args["no-daemon"];
}
