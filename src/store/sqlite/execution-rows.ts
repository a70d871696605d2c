/** The executions of the store: the main thread reads, and a thread of the store writes. The SQL is loaded with the first use. */
import type { ExecutionRows } from "../executions.ts";
import { type Access, readerOf } from "./access.ts";
import { StoreWriter } from "./writer.ts";

export function executionRows(access: Access): ExecutionRows {
  const read = readerOf(access, async () => (await import("./executions.ts")).ExecutionStore);
  return {
    get: (id) => read(undefined, (table) => table.get(id)),
    open: (config) => read([], (table) => table.open(config)),
    list: (config) => read([], (table) => table.list(config)),
    newest: (config, count) => read([], (table) => table.newest(config, count)),
    startedBy: (client, which) => read([], (table) => table.startedBy(client, which)),
    waiting: () => read([], (table) => table.waiting()),
    program: (id) => read(undefined, (table) => table.program(id)),
    callPlaces: (id) => read([], (table) => table.callPlaces(id)),
    cancelled: (owner) => read([], (table) => table.cancelled(owner)),
    old: (before) => read([], (table) => table.old(before)),
    writer: () => new StoreWriter(access.file),
  };
}
