/** The audit log of the store. What writes and reads it is loaded with the first use. */
import type { AuditLog } from "../audit/log.ts";
import type { Access } from "./access.ts";

export function auditLog({ file }: Pick<Access, "file">): AuditLog {
  return {
    async add(events, by, at) {
      const { record } = await import("./audit.ts");
      await record(file, events, by, at);
    },
    async requireWritable() {
      const { requireLog } = await import("./audit.ts");
      await requireLog(file);
    },
    async cut(before, by, why) {
      const { cut } = await import("./audit.ts");
      return cut(file, before, by, why);
    },
    async *lines(order) {
      const { linesOf } = await import("./audit.ts");
      yield* linesOf(file, order);
    },
    async lastPlace() {
      const { lastPlaceOf } = await import("./audit.ts");
      return lastPlaceOf(file);
    },
  };
}
