/** The environment that servers are started with: a few harmless variables and what their own entry declares. */
import type { Environment } from "../config/environment.ts";

const inherited =
  process.platform === "win32"
    ? [
        "APPDATA",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "PATH",
        "PATHEXT",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "TMP",
        "USERNAME",
        "USERPROFILE",
        "PROGRAMFILES",
      ]
    : ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];

/** Nothing else of ours is passed on: tokens in the user's shell are not every server's business. */
export function childEnvironment(env: Environment, declared: Record<string, string>): Record<string, string> {
  const child: Record<string, string> = {};
  for (const name of inherited) {
    const value = env[name];
    if (value !== undefined) child[name] = value;
  }
  return { ...child, ...declared };
}
