/** Jobs of executions for tests. */
import type { ExecutionWriter } from "../../../src/store/jobs.ts";

export const roomBytes = 1_000_000_000;

export const newExecution = { config: null, startedAt: 1_000, request: "{}", isWanted: true };

export const call = { call: 1, isSent: false, repeatable: false, namespace: "shop", group: "tools", name: "buy" };

export const outcome = { outcome: '{"ok":true}', value: "1", isOk: true };

/** What `save` stores, of a program that waits for `call`. */
export function saved(owner: string) {
  const program = new Uint8Array([1, 2, 3]);
  const rest = { unsaved: undefined, wakeAt: undefined, engine: "this build", pages: undefined };
  return { owner, program, open: [call.call], version: 1, ...rest };
}

/** Stores an execution with one call that has not left. */
export async function stored(writer: ExecutionWriter, execution: string, owner: string): Promise<void> {
  await writer.do("add", execution, { ...newExecution, owner, roomBytes });
  await writer.do("call", execution, call);
  await writer.do("save", execution, saved(owner));
}
