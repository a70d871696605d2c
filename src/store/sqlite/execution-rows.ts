/** The executions of the store: the main thread reads, and a thread of the store writes. The SQL is loaded with the first use. */
import type { ExecutionRows } from "../executions.ts";
import type { Access } from "./access.ts";
import type { ExecutionStore } from "./executions.ts";
import { StoreWriter } from "./writer.ts";

export function executionRows(access: Access): ExecutionRows {
  let loading: Promise<{ ExecutionStore: typeof ExecutionStore }> | undefined;
  const read = async <T>(empty: T, work: (table: ExecutionStore) => T): Promise<T> => {
    loading ??= import("./executions.ts");
    const { ExecutionStore } = await loading;
    return access.read(empty, (database) => work(new ExecutionStore(database)));
  };
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
