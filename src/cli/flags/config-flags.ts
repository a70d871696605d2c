/**
 * The flags that choose the config, its trust and the daemon. Loads the config for a command, and asks the user at the terminal
 * about one that is not trusted yet.
 */

import { ClaudikinsError } from "../../base/errors.ts";
import type { ConfigOrigin } from "../../config/discover.ts";
import type { Environment } from "../../config/environment.ts";
import type { Config } from "../../config/load.ts";
import { userConfigFile } from "../../config/locations.ts";
import type { Person } from "../../config/oidc.ts";
import { NotTrusted, type TrustRequest } from "../../config/trust/not-trusted.ts";
import { type Args, flag, option } from "../command.ts";
import type { Io } from "../io.ts";
import { canAsk, confirm } from "../terminal/prompt.ts";
import { warningLabel } from "../terminal/terminal-output.ts";

export const configArgs = {
  trust: flag("Trust this project's config for this run"),
  config: option(
    'Config file (default: CLAUDIKINS_CONFIG, the nearest claudikins.json, then your own). Your own servers are added, unless the file has "extends": false',
    { valueHint: "file", complete: "file" },
  ),
} as const satisfies Args;

/** The flags of commands that change a config file. */
export const changeArgs = {
  user: flag("Change your own config, even inside a project"),
  config: configArgs.config,
} as const satisfies Args;

export const doorArgs = {
  door: option("See only the servers and tools of this door of the config", {
    valueHint: "name",
    complete: "door",
  }),
} as const satisfies Args;

/** The flags of commands about what is behind a door, or in the whole config. */
export const viewArgs = { ...configArgs, ...doorArgs } as const satisfies Args;

export const daemonArgs = {
  "no-daemon": flag("Start servers for this command only, and stop them when it ends"),
} as const satisfies Args;

/** The flags that choose the config, the door, and whether it is trusted. */
export interface ConfigFlags {
  config?: string | undefined;
  door?: string | undefined;
  /** Set by `serve --http` for a person who has signed in. */
  person?: Person | undefined;
  trust?: boolean | undefined;
  /** Set by `serve` on stdin, whose first answer does not wait for a check of the conditions of rules. */
  skipsConditions?: boolean | undefined;
  json?: boolean | undefined;
}

export interface DaemonFlags {
  "no-daemon"?: boolean | undefined;
}

/** Which config file a command changes. Throws USAGE. */
export function whichConfig(args: { config?: string | undefined; user?: boolean | undefined }, { cwd, env }: Io) {
  if (args.user && args.config !== undefined) throw new ClaudikinsError("USAGE", "Use --user or --config, not both");
  return { flag: args.config, user: args.user, cwd, env };
}

/** Throws what `loadConfig` throws. CONFIG_NOT_TRUSTED means that the user could not be asked or said no. */
export function openConfig(flags: ConfigFlags, io: Io, asks = true): Promise<Config> {
  const load = async () => {
    const { loadConfig } = await import("../../config/load.ts");
    const { config: flag, door, person, trust, skipsConditions } = flags;
    const config = await loadConfig({ flag, door, person, trust, skipsConditions, cwd: io.cwd, env: io.env });
    if (!flags.json) await tellSkipped(config.origin, io);
    return config;
  };
  return asks ? askingForTrust(flags, io, load) : load();
}

/** Runs the work. If it fails because of trust and the user then trusts the config, runs it once more. */
export async function askingForTrust<T>({ json }: ConfigFlags, io: Io, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NotTrusted) || !error.request || json || !canAsk(io)) throw error;
    if (!(await asksForTrust(error.request, io))) throw error;
    return work();
  }
}

/** The streams of commands that have said what waits. A command may need the config twice. */
const told = new WeakSet<Io>();

/**
 * Does the work with the user's own config while the project's waits to be trusted for the first time. A config that was trusted and has
 * changed has no substitute: the rules that the user has accepted with it would not count.
 */
export async function orOwnMeanwhile<Flags extends ConfigFlags, T>(
  flags: Flags,
  io: Io,
  work: (flags: Flags) => Promise<T>,
): Promise<T> {
  try {
    return await work(flags);
  } catch (error) {
    const request = error instanceof NotTrusted && flags.door === undefined ? error.request : undefined;
    if (!request || request.before || request.own.added.length + request.own.replaced.length === 0) throw error;
    const { message, hint } = error as NotTrusted;
    if (!told.has(io)) {
      await io.stderr.write(`${warningLabel} ${message} Your own servers work meanwhile. ${hint}\n`);
    }
    told.add(io);
    return work({ ...flags, config: userConfigFile(io.env) });
  }
}

/** Returns whether the user trusts the config, and stores the answer. */
export async function asksForTrust(request: TrustRequest, io: Io): Promise<boolean> {
  const [{ trustQuestion }, { trustConfig }] = await Promise.all([
    import("../../setup/trust/question.ts"),
    import("../../setup/trust/trust-config.ts"),
  ]);
  await io.stderr.write(trustQuestion(request));
  if (!(await confirm(io, "Trust this config?"))) return false;
  await trustConfig(request, io.env, "terminal");
  return true;
}

/** Warns about files that the user may expect to be used. */
async function tellSkipped(origin: ConfigOrigin, { stderr }: Io): Promise<void> {
  for (const { file, folder } of ("skipped" in origin && origin.skipped) || []) {
    await stderr.write(
      `${warningLabel} ${file} is not used, because claudikins and sandboxed code write to ${folder}\n`,
    );
  }
}

/** Whether a command uses the daemon's servers. Throws USAGE if CLAUDIKINS_DAEMON is neither on nor off. */
export function usesDaemon(args: DaemonFlags, env: Environment): boolean {
  const word = env["CLAUDIKINS_DAEMON"] || "on";
  const isOn = /^(?:on|1|true)$/i.test(word);
  if (!isOn && !/^(?:off|0|false)$/i.test(word)) {
    throw new ClaudikinsError("USAGE", `CLAUDIKINS_DAEMON must be on or off; it is "${word}"`);
  }
  // Without a home folder there is no private place for the socket.
  const hasPlace = ["HOME", "USERPROFILE", "XDG_RUNTIME_DIR", "XDG_DATA_HOME"].some((name) => env[name]);
  return isOn && hasPlace && !args["no-daemon"];
}

/** The folders beside which people have folders of their own: the registries and workspaces of the config and its doors. Throws what `loadConfig` throws. */
export async function sharedFolders(flag: string | undefined, { cwd, env }: Io): Promise<string[]> {
  const { loadConfig } = await import("../../config/load.ts");
  const whole = await loadConfig({ flag, cwd, env });
  const behind = await Promise.all(whole.doors.map((door) => loadConfig({ flag, cwd, env, door })));
  return [whole, ...behind].flatMap(({ folders: { registry, workspace } }) => [registry, workspace]);
}
