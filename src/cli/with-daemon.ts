/** What commands let the daemon of their config do. */

import { ClaudikinsError } from "../base/errors.ts";
import type { JsonObject } from "../base/json-object.ts";
import { serverFolder } from "../config/discover.ts";
import { checkTrust, isAnsweredFor } from "../config/trust/require.ts";
import { DaemonClient } from "../daemon/client.ts";
import { shellSessionOf } from "../daemon/protocol.ts";
import type { ExecuteRequest } from "../programs/execute.ts";
import { childEnvironment } from "../servers/process/child-environment.ts";
import { askingForTrust, type ConfigFlags, orOwnMeanwhile, usesDaemon } from "./config-flags.ts";
import type { Io } from "./io.ts";
import { commandTrace } from "./telemetry.ts";

/** The daemon of the config, and what it needs to know of a caller. May ask the user to trust the config. */
export async function daemonOf(flags: ConfigFlags, io: Io) {
  const { cwd, env } = io;
  const choice = { flag: flags.config, trust: flags.trust, cwd, env };
  const origin = await orOwnMeanwhile(flags, io, (from) =>
    askingForTrust(from, io, () => checkTrust({ ...choice, flag: from.config })),
  );
  const client = new DaemonClient(origin.kind === "demo" ? undefined : origin.file, env, isAnsweredFor(choice));
  const caller = {
    door: flags.door,
    cwd: serverFolder(origin, cwd, env),
    session: shellSessionOf(env),
    env: childEnvironment(env, {}),
    trace: commandTrace(env),
  };
  return { client, caller };
}

/** A saved program, by its name. */
interface SavedRun {
  program: string;
  input: JsonObject;
}

/** `exec --detach` and `programs run --detach`. Returns the id of the execution, once it is stored. Throws what the daemon throws. */
export async function runDetached(
  program: (Pick<ExecuteRequest, "source" | "check"> | SavedRun) & Pick<ExecuteRequest, "limits">,
  flags: ConfigFlags,
  io: Io,
): Promise<string> {
  if (!usesDaemon({}, io.env)) {
    throw new ClaudikinsError("USAGE", "--detach runs the code in the daemon, and there can be none here", {
      hint: "Check that CLAUDIKINS_DAEMON is not off, and that HOME is set.",
    });
  }
  const { client, caller } = await daemonOf(flags, io);
  const { id } = (await client.post("/executions", { ...program, ...caller }, io.interrupted)) as { id: string };
  return id;
}
