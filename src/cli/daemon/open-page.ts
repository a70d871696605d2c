/** Opens the page of a daemon with an app of its own, which follows changes of the config. */

import { ClaudikinsError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { shellWord } from "../../base/shell-word.ts";
import { loadConfig } from "../../config/load.ts";
import { homeOf } from "../../config/locations.ts";
import { isAnsweredFor } from "../../config/trust/require.ts";
import { watchedConfig } from "../../config/watched-config.ts";
import { DaemonClient } from "../../daemon/client.ts";
import { askToStop, endSilent, findDaemons, hasEnded, isThere, statusOf } from "../../daemon/peers.ts";
import { placeOf } from "../../daemon/place.ts";
import { PageApi } from "../../page/api.ts";
import type { PageToken } from "../../page/contract.ts";
import type { Background, DaemonControl, StartedInBackground } from "../../page/parts.ts";
import { type Invitation, UserPage } from "../../page/user-page.ts";
import { Approvals } from "../../policy/approvals/approvals.ts";
import { readTokens, tokenId } from "../../serve/tokens/token-file.ts";
import { configOwner } from "../../servers/logs/place.ts";
import { openCredentials } from "../commands/auth.ts";
import { usesDaemon } from "../flags/config-flags.ts";
import type { Io } from "../io.ts";
import { appOf, openApp } from "../open-app.ts";
import { continuedInDaemon } from "./continue-in-daemon.ts";

/** Time for a daemon without calls to end its servers and itself. */
const daemonEndsMs = 5_000;

/** Time for the answer to reach the page of a daemon that was told to stop by this page. */
const stopAnswerMs = 200;

export interface PageOptions {
  /** The config file; undefined for the demo. */
  file: string | undefined;
  /** Whether the user vouches for the config. */
  trust: boolean | undefined;
  /** The working directory of servers. */
  cwd: string;
  log: Log;
}

export async function openPage({ file, trust, cwd, log }: PageOptions, io: Io): Promise<UserPage> {
  const { env } = io;
  const choice = { flag: file, cwd, env };
  const load = (door?: string) => loadConfig({ ...choice, demo: file === undefined, trust, door, isFlagFound: true });
  const reload = file === undefined ? undefined : { choice, load, files: watchedConfig(choice) };
  const app = await appOf(await load(), io, { cwd, reload });
  const isAnswered = isAnsweredFor({ trust, isFlagFound: true, flag: file, env });
  const api = new PageApi({
    app,
    approvals: new Approvals({ env }),
    credentials: await openCredentials(io, { json: true, config: app.config }),
    env,
    isAnswered,
    continued: async (execution, config) =>
      (await continuedInDaemon([execution], config ?? undefined, {}, io)).includes(execution),
    openDoor: async (door) => app.behindDoor(await load(door)),
    openToRecord: async (door) => {
      if (file === undefined) return appOf(await load(door), io, { cwd });
      const how = { sharing: "shell", recording: {}, observed: {}, asks: false } as const;
      return openApp({ ...io, cwd }, { config: file, door, trust }, how);
    },
    openConfig: (config) => appOf(config, io, { cwd }),
    openRunning: () => openApp({ ...io, cwd }, { config: file, trust }, { asks: false }),
    tokens: () => tokensOf(configOwner(app.config.origin), env),
    background: backgroundOf(file, isAnswered, env),
    // The variables of a changed config may lead to another daemon.
    running: async () => statusOf(placeOf(file, env).socket),
    daemons: daemonsOf(env),
  });
  return new UserPage({ api, log, home: homeOf(env) });
}

function shellText(program: StartedInBackground): string {
  if ("source" in program) {
    return `claudikins exec${program.dryRun === true ? " --dry-run" : ""} -e ${shellWord(program.source)}`;
  }
  return `claudikins ${"program" in program ? `programs run ${program.program}` : `executions again ${program.again}`}`;
}

function tokensOf(config: string | null, env: Io["env"]): PageToken[] {
  return readTokens(env)
    .filter((token) => token.config === config)
    .map((token) => {
      const { name, door, expiresAt, lastUsedAt } = token;
      return { id: tokenId(token), name, door, expiresAt, lastUsedAt };
    });
}

/** What the daemon does for the page. This process may have left its place to another one. */
function backgroundOf(file: string | undefined, isAnswered: boolean, env: Io["env"]): Background {
  const client = () => new DaemonClient(file, env, isAnswered);
  return {
    async start(program) {
      if (!usesDaemon({}, env)) {
        throw new ClaudikinsError("USAGE", "There can be no daemon here, so the program cannot run in it", {
          hint: `Run it in a shell: ${shellText(program)}`,
        });
      }
      return ((await client().post("/executions", program)) as { id: string }).id;
    },
    async restart(server) {
      if (!usesDaemon({}, env))
        throw new ClaudikinsError("USAGE", "There can be no daemon here, so no server stays running");
      return (await client().post("/restart", { server })) as { ended: number; tools: number };
    },
    async relist(server) {
      if (usesDaemon({}, env)) await client().postToRunning("/relist", { server });
    },
    async pageOf(config) {
      if (!usesDaemon({}, env)) throw new ClaudikinsError("USAGE", "There can be no daemon here, so there is no page");
      const { port, path, token } = (await new DaemonClient(config, env).post("/ui", {})) as Invitation;
      return `http://127.0.0.1:${port}${path}#${token}`;
    },
    async wake() {
      if (!usesDaemon({}, env)) return false;
      await client().post("/adopt", { executions: [] });
      return true;
    },
  };
}

/** The same daemons, stopped in the same way, as in `claudikins daemon`. */
function daemonsOf(env: Io["env"]): DaemonControl {
  return {
    async list() {
      const { peers, silent } = await findDaemons(env);
      return {
        running: peers.map(({ status }) => status),
        silent: silent.map(({ place, holder }) => ({ ...holder, log: place.log })),
      };
    },
    async stop(pid, now) {
      const { peers, silent } = await findDaemons(env);
      const peer = peers.find(({ status }) => status.pid === pid);
      if (peer && pid === process.pid) {
        setTimeout(() => void askToStop(peer.place.socket, now), stopAnswerMs);
        return { isOver: false, calls: peer.status.calls.running };
      }
      const signal = AbortSignal.timeout(daemonEndsMs);
      if (peer) {
        const calls = await askToStop(peer.place.socket, now);
        if (!calls || now) await hasEnded(pid, signal);
        return { isOver: !isThere(pid), calls: calls ?? 0 };
      }
      const hung = silent.find(({ holder }) => holder?.pid === pid);
      if (hung && now) {
        await endSilent(hung, signal);
        return { isOver: !isThere(pid), calls: 0 };
      }
      throw new ClaudikinsError(
        "SERVER_UNAVAILABLE",
        hung ? `The daemon ${pid} does not answer: it was paused, or hangs` : `There is no daemon ${pid} any more`,
        { hint: hung ? "End it by force." : "To see the daemons: claudikins daemon status" },
      );
    },
  };
}
