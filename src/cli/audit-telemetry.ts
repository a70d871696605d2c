/** Sends what a command has added to the audit log, if the command has no telemetry of its own. */
import { hasUnheard } from "../store/audit/heard.ts";
import type { Io } from "./io.ts";
import { telemetryFor } from "./telemetry.ts";

/** Opens telemetry as the variables say. It hears the entries, and sends them at the end of the command. */
export async function sendUnheard(io: Io): Promise<void> {
  if (hasUnheard()) await telemetryFor({ telemetry: undefined }, io);
}
