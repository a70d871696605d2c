/** Opens the page of a daemon with an app of its own, which follows changes of the config. */

import type { Log } from "../base/log.ts";
import { loadConfig } from "../config/load.ts";
import { homeOf } from "../config/locations.ts";
import { configMark } from "../config/mark.ts";
import { isAnsweredFor } from "../config/trust/require.ts";
import { statusOf } from "../daemon/peers.ts";
import { placeOf } from "../daemon/place.ts";
import { PageApi } from "../page/api.ts";
import { PageServer } from "../page/server.ts";
import { Approvals } from "../policy/approvals/approvals.ts";
import { openCredentials } from "./commands/auth.ts";
import { continuedInDaemon } from "./continue-in-daemon.ts";
import type { Io } from "./io.ts";
import { appOf } from "./open-app.ts";

export interface PageOptions {
  /** The config file; undefined for the demo. */
  file: string | undefined;
  /** Whether the user vouches for the config. */
  trust: boolean | undefined;
  /** The working directory of servers. */
  cwd: string;
  log: Log;
}

export async function openPage({ file, trust, cwd, log }: PageOptions, io: Io): Promise<PageServer> {
  const { env } = io;
  const choice = { flag: file, cwd, env };
  const load = () => loadConfig({ ...choice, demo: file === undefined, trust, isFlagFound: true });
  const reload = file === undefined ? undefined : { choice, load, mark: configMark(choice) };
  const app = await appOf(await load(), io, { cwd, reload });
  const api = new PageApi({
    app,
    approvals: new Approvals({ env }),
    credentials: openCredentials(io, { json: true }),
    env,
    isAnswered: isAnsweredFor({ trust, isFlagFound: true, flag: file, env }),
    continued: async (execution, config) =>
      (await continuedInDaemon([execution], config ?? undefined, {}, io)).includes(execution),
    // The variables of a changed config may lead to another daemon.
    running: async () => statusOf(placeOf(file, env).socket),
  });
  return new PageServer({ api, log, home: homeOf(env) });
}
