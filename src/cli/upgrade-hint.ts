/** After a command at a terminal: one line about a newer version, and the start of the next check. */
import { spawn } from "node:child_process";
import { version } from "../base/version.ts";
import { readConfigFile } from "../config/discover.ts";
import { userConfigFile } from "../config/locations.ts";
import { parsedConfig } from "../config/plain-config.ts";
import { nextSteps, readSeen, writeSeen } from "../setup/upgrade/hint.ts";
import type { Io } from "./io.ts";
import { dim } from "./terminal/terminal-output.ts";

/** Variables of continuous integration, and of people who want no hints at newer versions. */
const silencing = ["NO_UPDATE_NOTIFIER", "CI", "CONTINUOUS_INTEGRATION", "BUILD_NUMBER", "RUN_ID"];

export function isSilenced(env: Io["env"]): boolean {
  return silencing.some((name) => env[name]);
}

/** Never throws: a hint is not worth an error. */
export async function hintAtUpgrade({ env, stderr }: Pick<Io, "env" | "stderr">, now = Date.now()): Promise<void> {
  if (isSilenced(env)) return;
  try {
    const seen = readSeen(env);
    const { show, checks } = nextSteps(seen, version, now);
    if ((show === undefined && !checks) || !(await isWanted(env))) return;
    writeSeen({ ...seen, ...(show === undefined ? {} : { shownAt: now }), ...(checks ? { checkedAt: now } : {}) }, env);
    if (show !== undefined) await stderr.write(`${dim(`claudikins ${show} is available: claudikins upgrade`)}\n`);
    if (checks) startCheck(env);
  } catch {}
}

/** The key `upgradeHint` of the user's own config. */
async function isWanted(env: Io["env"]): Promise<boolean> {
  const file = userConfigFile(env);
  if (!(await Bun.file(file).exists())) return true;
  return (await parsedConfig(readConfigFile(file), file)).upgradeHint;
}

/** The check writes its result to the data folder. No command waits for it, and it ends by itself. */
function startCheck(env: Io["env"]): void {
  const child = spawn(process.execPath, ["upgrade", "--check", "--json"], {
    cwd: "/",
    env: { ...env },
    detached: true,
    windowsHide: true,
    stdio: "ignore",
  });
  child.on("error", () => {});
  child.unref();
}
