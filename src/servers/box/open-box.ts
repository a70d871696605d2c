/** Makes the box of a server: the command that starts it confined, and what must be ended with it. */
import { resolve } from "node:path";
import { ClaudikinsError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Environment } from "../../config/environment.ts";
import { homeOf } from "../../config/locations.ts";
import type { Box } from "../../config/sandbox.ts";
import { childEnvironment } from "../child-environment.ts";
import { missingCommand } from "../process-group.ts";
import { requireBubblewrap, wrapArguments } from "./bubblewrap.ts";
import { type Command, startedCommand } from "./launchers.ts";
import { openPaths } from "./lists.ts";
import { type Mount, orderedMounts } from "./mounts.ts";
import { followed, isWithin } from "./paths.ts";
import { Reach } from "./programs.ts";
import { BoxProxy } from "./proxy.ts";
import { proxyVariables, relayCommand } from "./relay.ts";
import { certificateVariables, systemPaths } from "./system.ts";

interface Confined {
  command: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  /** Call it when the process has ended. */
  ended: () => void;
}

interface Scene {
  server: string;
  box: Box;
  /** How it would start without a box. */
  start: { command: string; args: string[]; cwd: string; env: Record<string, string> };
  /** The environment of claudikins. */
  env: Environment;
  log: Log;
}

/** Where the files of claudikins are shown inside. */
const inside = { executable: "/run/claudikins/relay", socket: "/run/claudikins/proxy" };

/** Variables that change how programs are loaded: also bubblewrap, which is outside. */
const isOfLoader = (name: string) => name.startsWith("LD_") || name === "GLIBC_TUNABLES" || name === "GCONV_PATH";

/** Throws SANDBOX_UNAVAILABLE, CONFIG_INVALID for paths that cannot be opened, and SERVER_UNAVAILABLE for a missing command or package. */
export async function openBox({ server, box, start, env, log }: Scene): Promise<Confined> {
  const bubblewrap = await requireBubblewrap(env["PATH"]);
  const home = homeOf(env);
  const cwd = followed(resolve(start.cwd))?.real ?? start.cwd;
  const paths = openPaths(box, { cwd, env });
  const { HOME: shownHome = home } = start.env;
  const inner = { ...start, env: { ...start.env, HOME: shownHome, TMPDIR: "/tmp" } };
  const program = await startedCommand(inner, { home, trusted: childEnvironment(env, {}) });
  const file = commandFile(program, cwd);
  const reach = new Reach({ env: program.env, cwd, home, writable: paths.writable });
  const sharesNetwork = box.network === true;
  for (const path of systemPaths(sharesNetwork)) reach.add(path);
  for (const path of paths.write) reach.add(path, "write");
  for (const path of paths.read) reach.add(path);
  // Only those of the user: a variable of the entry could name any folder.
  for (const name of certificateVariables) if (env[name]) reach.add(resolve(env[name]));
  reach.command(file, program.args);
  const isCwdShown = reach.mounts.some(({ at }) => isWithin(cwd, at));
  const homes = [home, shownHome].map((path) => followed(path)?.real ?? path);
  const folders = [...homes, "/tmp", ...(isCwdShown ? [] : [cwd])].filter((at) => at !== "/");
  const empty = folders.map((at): Mount => ({ at, kind: "empty" }));
  const mounts = orderedMounts([...reach.mounts, ...empty]);
  const shown = mounts.filter(({ kind }) => kind !== "empty");
  const links = reach.links.filter(({ at }) => !shown.some((mount) => isWithin(at, mount.at)));
  const proxy = Array.isArray(box.network) ? await proxyFor(server, box.network, log) : undefined;
  const words = [file, ...program.args];
  const variables = Object.entries({ ...program.env, ...(proxy ? proxyVariables() : {}) });
  const contents = {
    mounts,
    links: [...new Map(links.map((link) => [link.at, link])).values()],
    elsewhere: proxy ? [[process.execPath, inside.executable] as const, [proxy.socket, inside.socket] as const] : [],
    cwd,
    sharesNetwork,
    variables: {
      ...Object.fromEntries(variables.filter(([name]) => isOfLoader(name))),
      ...(proxy ? { BUN_BE_BUN: "1" } : {}),
    },
  };
  const command = proxy ? relayCommand(inside.executable, inside.socket, words) : words;
  return {
    command: bubblewrap,
    args: [...wrapArguments(contents), ...command],
    cwd,
    env: Object.fromEntries(variables.filter(([name]) => !isOfLoader(name))),
    ended: () => proxy?.[Symbol.dispose](),
  };
}

/** The file of a command that is found on the PATH of the server, as an absolute path with its links. */
function commandFile({ command, env }: Command, cwd: string): string {
  const file = command.includes("/") ? resolve(cwd, command) : Bun.which(command, { PATH: env["PATH"] ?? "" });
  if (file !== null && followed(file)) return file;
  const { why, hint } = missingCommand(command);
  throw new ClaudikinsError("SERVER_UNAVAILABLE", why, { hint });
}

function proxyFor(server: string, hosts: string[], log: Log): Promise<BoxProxy> {
  return BoxProxy.listen({
    hosts,
    refused: (target, why) =>
      log.warn(`${server}: its sandbox refused a connection to ${JSON.stringify(target)}: ${why}`),
  });
}
