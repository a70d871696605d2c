/** Records decisions and changes in the user's audit log, for those who have no store open. */
import type { Environment } from "../../config/environment.ts";
import { openStore } from "../open.ts";
import type { AuditEvent, Decider } from "./event.ts";

/** The events are in the log when it resolves. Throws FILE_NOT_WRITABLE. */
export async function record(env: Environment, events: readonly AuditEvent[], by: Decider): Promise<void> {
  await using store = openStore(env);
  await store.audit.add(events, by);
}

/** Throws FILE_NOT_WRITABLE if nothing could be recorded. For work that other programs do, and that is recorded when they have ended. */
export async function requireLog(env: Environment): Promise<void> {
  await using store = openStore(env);
  await store.audit.requireWritable();
}
