/** `exec --detach`: runs a program in the daemon. */
import { serverFolder } from "../config/discover.ts";
import { checkTrust, isAnsweredFor } from "../config/trust/require.ts";
import { DaemonClient } from "../daemon/client.ts";
import { shellSessionOf } from "../daemon/protocol.ts";
import { ClaudikinsError } from "../errors.ts";
import type { ExecuteRequest } from "../execution/execute.ts";
import { askingForTrust, type ConfigFlags, usesDaemon } from "./config-flags.ts";
import type { Io } from "./io.ts";

/** Returns the id of the execution, once it is stored. Throws what the daemon throws. */
export async function runDetached(
  program: Pick<ExecuteRequest, "source" | "limits" | "check">,
  flags: ConfigFlags,
  io: Io,
): Promise<string> {
  const { cwd, env } = io;
  if (!usesDaemon({}, env)) {
    throw new ClaudikinsError("USAGE", "--detach runs the code in the daemon, and there can be none here", {
      hint: "Check that CLAUDIKINS_DAEMON is not off, and that HOME is set.",
    });
  }
  const options = { flag: flags.config, trust: flags.trust, cwd, env };
  const origin = await askingForTrust(flags, io, () => checkTrust(options));
  const client = new DaemonClient(origin.kind === "demo" ? undefined : origin.file, env, isAnsweredFor(options));
  const body = { ...program, cwd: serverFolder(origin, cwd, env), session: shellSessionOf(env) };
  const { id } = (await client.post("/executions", body, io.interrupted)) as { id: string };
  return id;
}
