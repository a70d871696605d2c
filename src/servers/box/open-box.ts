/** Makes the box of a server: the command that starts it confined, and what must be ended with it. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { ClaudikinsError } from "../../base/errors.ts";
import type { HeldPath } from "../../base/held-path.ts";
import type { Log } from "../../base/log.ts";
import type { Box } from "../../config/box.ts";
import { certificateVariables, systemPaths } from "../../config/box-places.ts";
import type { Environment } from "../../config/environment.ts";
import type { StdioServer } from "../../config/load.ts";
import { homeOf } from "../../config/locations.ts";
import { childEnvironment } from "../process/child-environment.ts";
import { missingCommand, type SpawnOptions } from "../process/process-group.ts";
import type { Preparation } from "../process/stdio.ts";
import { requireBubblewrap, wrapArguments } from "./bubblewrap.ts";
import { Contents } from "./contents.ts";
import { type Command, startedCommand } from "./launchers.ts";
import { openPaths } from "./lists.ts";
import { allNeighbours, neighbours } from "./neighbours.ts";
import { showPrograms, startFiles } from "./programs.ts";
import { BoxProxy } from "./proxy.ts";
import script from "./relay.txt";

interface Scene {
  server: StdioServer;
  box: Box;
  /** How it would start without a box. */
  start: SpawnOptions;
  /** The environment of claudikins. */
  env: Environment;
  log: Log;
}

/** Where the files of claudikins are shown inside. */
const inside = { executable: "/run/claudikins/relay", socket: "/run/claudikins/proxy" };

/** Variables that change how programs are loaded: also bubblewrap, which is outside. */
const isOfLoader = (name: string) => name.startsWith("LD_") || name === "GLIBC_TUNABLES" || name === "GCONV_PATH";

/** Throws SANDBOX_UNAVAILABLE, CONFIG_INVALID for paths that cannot be opened, and SERVER_UNAVAILABLE for a missing command or package. */
export async function openBox({ server, box, start, env, log }: Scene): ReturnType<Preparation> {
  const bubblewrap = await requireBubblewrap(env["PATH"]);
  const home = homeOf(env);
  const { HOME: shownHome = home } = start.env;
  const inner = { ...start, env: { ...start.env, HOME: shownHome, TMPDIR: "/tmp" } };
  const program = await startedCommand(inner, { home, trusted: childEnvironment(env, {}) });
  const refused = (target: string, why: string) =>
    log.warn(`${server.name}: its sandbox refused a connection to ${JSON.stringify(target)}: ${why}`);
  const proxy = Array.isArray(box.network) ? await BoxProxy.listen({ hosts: box.network, refused }) : undefined;
  const own = { server, env, cwd: start.cwd };
  const running = { ...own, servers: new Map([[server.name, server]]) };
  const held: HeldPath[] = [];
  const begun = () => {
    for (const each of held.splice(0)) each[Symbol.dispose]();
  };
  const ended = () => {
    allNeighbours.delete(running);
    proxy?.[Symbol.dispose]();
  };
  try {
    // From here on nothing waits, so that what is checked is what is shown.
    const paths = openPaths(own, neighbours(), held);
    const contents = new Contents(paths.writable, held);
    const cwd = paths.cwd.path;
    const words = [commandFile(program, cwd), ...program.args];
    // Certificates only by variables of the user: a variable of the entry could name any folder.
    const certificates = certificateVariables.flatMap((name) => (env[name] ? [resolve(env[name])] : []));
    for (const path of [...systemPaths(box.network === true), ...certificates]) contents.add(path);
    for (const path of paths.write) contents.show(path, "write");
    for (const { held: path, kind } of paths.guards) contents.show(path, kind);
    for (const path of paths.read) contents.show(path);
    const { PATH: path = "" } = program.env;
    showPrograms(startFiles(program, cwd), { contents, path, home, closed: paths.closed });
    if (!contents.shows(cwd)) contents.empty(cwd);
    for (const path of [home, shownHome, "/tmp"]) contents.empty(contents.find(path)?.path ?? path);
    const variables = Object.entries({ ...program.env, ...(proxy ? proxyVariables() : {}) });
    const { args, files } = wrapArguments({
      contents,
      elsewhere: proxy ? [[process.execPath, inside.executable] as const, [proxy.socket, inside.socket] as const] : [],
      cwd,
      sharesNetwork: box.network === true,
      variables: {
        ...Object.fromEntries(variables.filter(([name]) => isOfLoader(name))),
        ...(proxy ? { BUN_BE_BUN: "1" } : {}),
      },
    });
    allNeighbours.add(running);
    return {
      command: bubblewrap,
      args: [...args, ...(proxy ? relayCommand(inside.executable, inside.socket, words) : words)],
      cwd: "/",
      env: Object.fromEntries(variables.filter(([name]) => !isOfLoader(name))),
      files,
      begun,
      ended,
    };
  } catch (error) {
    begun();
    ended();
    throw error;
  }
}

/** The file of a command that is found on the PATH of the server, as an absolute path with its links. */
function commandFile(program: Command, cwd: string): string {
  const [file] = startFiles(program, cwd);
  if (file !== undefined && existsSync(file)) return file;
  const { why, hint } = missingCommand(program.command);
  throw new ClaudikinsError("SERVER_UNAVAILABLE", why, { hint });
}

/** The port of the relay. The network of each box is its own, so that nothing else can have it. */
const relayPort = 3_128;

/** The command of the relay, given the path of this executable inside of the box. It must run with `BUN_BE_BUN=1`, which makes it Bun. */
function relayCommand(executable: string, socket: string, command: readonly string[]): string[] {
  // Settings in the working directory must not change what Bun does.
  const options = ["--no-env-file", "--config=/dev/null"];
  return [executable, ...options, "-e", script, "--", socket, `${relayPort}`, ...command];
}

/** The variables by which programs find a proxy. Node.js 22.21 and 24 read them because of the last one. */
function proxyVariables(): Record<string, string> {
  const address = `http://127.0.0.1:${relayPort}`;
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
  return { ...Object.fromEntries(names.map((name) => [name, address])), NODE_USE_ENV_PROXY: "1" };
}
