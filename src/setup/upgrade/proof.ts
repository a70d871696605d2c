/** Proves that an executable of claudikins works on this machine, before and after it takes the place of another one. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ClaudikinsError } from "../../base/errors.ts";
import { isObject, parsedJson, stringsIn } from "../../base/json-object.ts";
import { repository } from "../../base/version.ts";
import type { Environment } from "../../config/environment.ts";
import { runFailure, runProgram } from "./run.ts";
import { isVersion } from "./versions.ts";

/** Time for a new executable to say its version. */
const newVersionMs = 20_000;

/** Time for the self-check of a new executable. */
const selfCheckMs = 90_000;

/** What `claudikins self-check` prints. */
export interface SelfCheck {
  version: string;
  /** Its mark, see `base/program-format.ts`: it can continue programs whose mark has the same format. */
  engine: string;
  /** Parts of the data folder that the executable cannot read, because a newer version has written them. */
  unreadable: string[];
}

/** Starts the executable, and lets it run a program that calls the demo server. Throws UPGRADE_FAILED, CANCELLED. */
export async function prove(
  command: readonly string[],
  version: string,
  env: Environment,
  signal: AbortSignal,
): Promise<SelfCheck> {
  const fail = (why: string) =>
    new ClaudikinsError("UPGRADE_FAILED", `claudikins ${version} does not work on this machine: ${why}`, {
      hint: `Nothing was changed. Report this: ${repository}/issues`,
    });
  const stopIfAborted = () => {
    if (signal.aborted) throw new ClaudikinsError("CANCELLED", "Nothing was changed");
  };
  const said = await runProgram([...command, "--version"], { env, signal, timeoutMs: newVersionMs });
  stopIfAborted();
  if (said.exitCode !== 0) throw fail(runFailure(said));
  const stated = said.stdout.trim();
  if (stated !== version) throw fail(isVersion(stated) ? `its version is ${stated}` : "it does not print its version");
  const checked = await runProgram([...command, "self-check", "--json"], { env, signal, timeoutMs: selfCheckMs });
  stopIfAborted();
  if (checked.exitCode !== 0) throw fail(`its self-check failed: ${runFailure(checked)}`);
  const result = parsedJson(checked.stdout);
  if (!isObject(result) || result["version"] !== version || typeof result["engine"] !== "string") {
    throw fail("its self-check has no result");
  }
  return { version, engine: result["engine"], unreadable: stringsIn(result["unreadable"]) };
}

/** Runs `work` with an environment whose home is empty, and removes the home afterwards. */
export async function inEmptyHome<T>(env: Environment, work: (env: Environment) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(tmpdir(), "claudikins-check-"));
  const hidden = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"];
  const kept = Object.entries(env).filter(([name]) => !hidden.includes(name) && !/^CLAUDIKINS_/.test(name));
  try {
    return await work({ ...Object.fromEntries(kept), HOME: home, USERPROFILE: home });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
