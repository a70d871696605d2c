/** What commands let the daemon of their config do. */

import { ClaudikinsError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { serverFolder } from "../../config/discover.ts";
import { telemetryOf } from "../../config/telemetry.ts";
import { checkTrust, isAnsweredFor } from "../../config/trust/require.ts";
import { DaemonClient } from "../../daemon/client.ts";
import { shellSessionOf } from "../../daemon/protocol.ts";
import type { ExecuteRequest } from "../../programs/execute.ts";
import { newId } from "../../programs/trace/id.ts";
import type { Outcome } from "../../sandbox/contract.ts";
import type { OutputFolders } from "../../sandbox/host/outputs.ts";
import { onAbort } from "../../servers/abort.ts";
import { childEnvironment } from "../../servers/process/child-environment.ts";
import {
  askingForTrust,
  type ConfigFlags,
  type DaemonFlags,
  orOwnMeanwhile,
  usesDaemon,
} from "../flags/config-flags.ts";
import { showsWire, type WireFlags } from "../flags/wire-flags.ts";
import type { Io } from "../io.ts";
import { commandTrace } from "../telemetry.ts";

/** Pause in milliseconds before a daemon that does not know a program yet is asked again to cancel it. */
const cancelAgainMs = 20;

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

/**
 * Whether a command may leave its work to the daemon. Only this process can show a person the progress, ask what a server wants to know, show
 * messages, or send telemetry as its variables say.
 */
export function mayUseDaemon(flags: WireFlags & DaemonFlags, io: Io): boolean {
  const { env, stderr } = io;
  const isWatched = showsWire(flags) || ["debug", "info"].includes(env["CLAUDIKINS_LOG"] ?? "");
  return usesDaemon(flags, env) && !isWatched && !stderr.isTerminal && telemetryOf(undefined, env) === undefined;
}

/** Said by a command whose servers start without a silent daemon. */
export const silentDaemon = "The daemon does not answer: starting servers without the daemon";

/** A program that was run in the daemon. */
interface RunInDaemon {
  outcome: Outcome;
  folders: OutputFolders;
}

/**
 * Runs a program in the daemon, where its servers are, if one is running and answers. Otherwise nothing was done: `silent` if one is running
 * and does not answer, so that its servers cannot be used either. An interruption cancels the program, and the outcome says so. Throws what the
 * daemon throws.
 */
export async function runInDaemon(
  program: (Pick<ExecuteRequest, "source" | "check"> | SavedRun) & Pick<ExecuteRequest, "limits">,
  flags: ConfigFlags,
  io: Io,
): Promise<RunInDaemon | "silent" | undefined> {
  const { client, caller } = await daemonOf(flags, io);
  // A daemon that has stopped would run the program when it goes on, and nobody knows when.
  const found = await client.look();
  if (found !== "answers") return found === "silent" ? "silent" : undefined;
  const id = newId(Date.now());
  const over = new AbortController();
  const forget = onAbort(io.interrupted, () => void cancelOnceKnown(id, client, over.signal).catch(() => {}));
  try {
    const answer = (await client.postToRunning("/run", { id, ...program, ...caller })) as
      | { outcome: string; value?: string; folders: OutputFolders }
      | undefined;
    if (!answer) return undefined;
    const { outcomeOf } = await import("../../programs/execution/stored-outcome.ts");
    return { outcome: outcomeOf({ outcome: answer.outcome, value: answer.value }), folders: answer.folders };
  } finally {
    forget();
    over.abort();
  }
}

/** The daemon may get this before the program itself, and does not know the program then. It is asked again until `over`. */
async function cancelOnceKnown(id: string, client: DaemonClient, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    const answer = (await client.postToRunning("/cancel", { id })) as { cancelled: boolean } | undefined;
    if (!answer || answer.cancelled) return;
    await Bun.sleep(cancelAgainMs);
  }
}

/** A saved program, by its name. */
interface SavedRun {
  program: string;
  input: JsonObject;
}

/** `exec --detach` and `programs run --detach`. Returns the id of the execution, once it is stored. Throws what the daemon throws. */
export async function runDetached(
  program: ((Pick<ExecuteRequest, "source" | "check"> | SavedRun) & Pick<ExecuteRequest, "limits">) | { again: string },
  flags: ConfigFlags,
  io: Io,
): Promise<string> {
  if (!usesDaemon({}, io.env)) {
    throw new ClaudikinsError("USAGE", "Code in the background runs in the daemon, and there can be none here", {
      hint: "Check that CLAUDIKINS_DAEMON is not off, and that HOME is set.",
    });
  }
  const { client, caller } = await daemonOf(flags, io);
  const { id } = (await client.post("/executions", { ...program, ...caller }, io.interrupted)) as { id: string };
  return id;
}
