/** Opens telemetry for a command that runs programs or calls tools. Without settings for it, nothing of OpenTelemetry is loaded. */
import { messageOf } from "../base/errors.ts";
import { openLog } from "../base/log.ts";
import { type TraceContext, traceIn } from "../base/trace-context.ts";
import type { Environment } from "../config/environment.ts";
import type { Config } from "../config/load.ts";
import { hasReference } from "../config/secrets/references.ts";
import { telemetryOf } from "../config/telemetry.ts";
import type { Telemetry } from "../programs/telemetry.ts";
import type { Io } from "./io.ts";
import { warningLabel } from "./terminal/terminal-output.ts";

/**
 * Time for a receiver of telemetry to take one message, with all attempts, unless a variable sets another. A command may stay as long
 * after its answer.
 */
const commandSendMs = 2_000;

/** The same for `serve` and the daemon. */
const serverSendMs = 5_000;

export interface TelemetryOptions {
  /** Whether the command stays open, as `serve` does. */
  isServer?: boolean | undefined;
  /** Given for `serve --http`: whether a flag asks for `/metrics`. */
  http?: { metrics: boolean } | undefined;
}

/** Undefined if nothing is sent. It ends with the command, after its answer is written. */
export async function telemetryFor(
  { telemetry: entry }: Pick<Config, "telemetry">,
  io: Pick<Io, "env" | "stderr" | "atEnd">,
  { isServer = false, http }: TelemetryOptions = {},
): Promise<Telemetry | undefined> {
  const settings = telemetryOf(entry, io.env, { http });
  if (!settings) return undefined;
  for (const problem of settings.problems) await io.stderr.write(`${warningLabel} ${problem}\n`);
  if (Object.keys(settings.destinations).length === 0 && !settings.prometheus) return undefined;
  const timeoutMs = settings.hasTimeout ? undefined : isServer ? serverSendMs : commandSendMs;
  try {
    const [{ openTelemetry }, log] = await Promise.all([
      import("../telemetry/open.ts"),
      openLog(io.env["CLAUDIKINS_LOG"]),
    ]);
    const destinations = hasReference(settings.destinations)
      ? await (await import("../servers/values/read-values.ts")).withReadValues(settings.destinations, "it", {
          env: io.env,
        })
      : settings.destinations;
    const telemetry = await openTelemetry({ ...settings, destinations }, { log, timeoutMs });
    io.atEnd?.(() => telemetry.end());
    return telemetry;
  } catch (error) {
    await io.stderr.write(`${warningLabel} telemetry is off: ${messageOf(error)}\n`);
    return undefined;
  }
}

/** The trace of the program that runs the command, in the variables that OpenTelemetry names for it. */
export function commandTrace(env: Environment): TraceContext | undefined {
  return traceIn({ traceparent: env["TRACEPARENT"], tracestate: env["TRACESTATE"] });
}
