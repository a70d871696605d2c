/** The approvals of the store: the main thread reads, and a worker changes. The SQL is loaded with the first use. */
import type { ApprovalRows } from "../approvals.ts";
import { type Access, readerOf } from "./access.ts";

export function approvalRows(access: Access): ApprovalRows {
  const read = readerOf(access, async () => (await import("./approvals.ts")).ApprovalStore);
  return {
    get: (id) => read(undefined, (table) => table.get(id)),
    argumentsOf: (id) => read(undefined, (table) => table.argumentsOf(id)),
    list: (filter) => read([], (table) => table.list(filter)),
    decided: (after, count) => read([], (table) => table.decided(after, count)),
    isWaiting: (execution) => read(false, (table) => table.isWaiting(execution)),
    openAmong: (ids) => read(new Set(), (table) => table.openAmong(ids)),
    ofCall: (execution, call) => read(undefined, (table) => table.ofCall(execution, call)),
    sessionApproval: (execution, server, tool) =>
      read(undefined, (table) => table.sessionApproval(execution, server, tool)),
    unsaved: (filter) => read([], (table) => table.unsaved(filter)),
    isDue: (now) => read(false, (table) => table.isDue(now)),
    hasOld: (now) => read(false, (table) => table.hasOld(now)),
    async change(change, by, now) {
      const { changed } = await import("./approval-changes.ts");
      return changed({ change, file: access.file, by, now });
    },
  };
}
