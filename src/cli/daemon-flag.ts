/** `--no-daemon` and CLAUDIKINS_DAEMON: whether a command uses the daemon's servers. */
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

/** Throws USAGE if CLAUDIKINS_DAEMON is neither on nor off. */
export function usesDaemon(args: DaemonFlags, env: Environment): boolean {
  const word = env["CLAUDIKINS_DAEMON"] || "on";
  const isOn = words.get(word.toLowerCase());
  if (isOn === undefined) {
    throw new ClaudikinsError("USAGE", `CLAUDIKINS_DAEMON must be on or off; it is "${word}"`);
  }
  // The daemon's sockets are untested on Windows, and a failed start takes half a minute.
  if (process.platform === "win32") return false;
  // Without a home folder there is no private place for the socket.
  const hasPlace = ["HOME", "USERPROFILE", "XDG_RUNTIME_DIR", "XDG_DATA_HOME"].some((name) => env[name]);
  return isOn && hasPlace && !args["no-daemon"];
}
