/** Loads the config for a command, and asks the person at the terminal about one that is not trusted yet. */

import type { ConfigOrigin } from "../config/discover.ts";
import type { Config } from "../config/load.ts";
import { NotTrusted, type TrustRequest } from "../config/trust/not-trusted.ts";
import type { Args } from "./command.ts";
import type { Io } from "./io.ts";
import { canAsk, confirm } from "./prompt.ts";

export const trustArgs = {
  trust: { type: "boolean", description: "Trust this project's config for this run" },
} as const satisfies Args;

/** The flags that choose the config and whether it is trusted. */
export interface ConfigFlags {
  config?: string | undefined;
  trust?: boolean | undefined;
  json?: boolean | undefined;
}

/** Throws what `loadConfig` throws. CONFIG_NOT_TRUSTED means that the person could not be asked or said no. */
export function openConfig(flags: ConfigFlags, io: Io, asks = true): Promise<Config> {
  const load = async () => {
    const { loadConfig } = await import("../config/load.ts");
    const config = await loadConfig({ flag: flags.config, trust: flags.trust, cwd: io.cwd, env: io.env });
    await tellSkipped(config.origin, flags, io);
    return config;
  };
  return asks ? askingForTrust(flags, io, load) : load();
}

/** Runs the work. If it fails because of trust and the person then trusts the config, runs it once more. */
export async function askingForTrust<T>({ json }: ConfigFlags, io: Io, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NotTrusted) || !error.request || json || !canAsk(io)) throw error;
    if (!(await asksForTrust(error.request, io))) throw error;
    return work();
  }
}

/** Returns whether the person trusts the config, and stores the answer. */
export async function asksForTrust(request: TrustRequest, io: Io): Promise<boolean> {
  const [{ questionText }, { trustConfig }] = await Promise.all([
    import("../settings/trust/question.ts"),
    import("../settings/trust/trust-config.ts"),
  ]);
  await io.stderr.write(questionText(request));
  if (!(await confirm(io, "Trust this config?"))) return false;
  await trustConfig(request, io.env);
  return true;
}

/** A file that somebody may expect to count. */
async function tellSkipped(origin: ConfigOrigin, { json }: ConfigFlags, io: Io): Promise<void> {
  const skipped = "skipped" in origin ? (origin.skipped ?? []) : [];
  for (const { file, folder } of json ? [] : skipped) {
    await io.stderr.write(`warning: ${file} is not used, because claudikins and sandboxed code write to ${folder}\n`);
  }
}
