/** The environment of server processes: a few harmless variables, and those that the server's entry declares. */
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

/** Nothing else is passed on, because the user's shell may contain tokens. */
export function childEnvironment(env: Environment, declared: Record<string, string>): Record<string, string> {
  const child: Record<string, string> = {};
  for (const name of inherited) {
    const value = env[name];
    if (value !== undefined) child[name] = value;
  }
  return { ...child, ...declared };
}
