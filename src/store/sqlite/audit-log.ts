/** The audit log of the store. What writes and reads it is loaded with the first use. */

import { audited } from "../audit/heard.ts";
import type { AuditLog } from "../audit/log.ts";
import type { Access } from "./access.ts";

export function auditLog({ file }: Pick<Access, "file">): AuditLog {
  return {
    async add(events, by, at = Date.now()) {
      const { record } = await import("./audit.ts");
      await record(file, events, by, at);
      audited(events, by, at);
    },
    async requireWritable() {
      const { requireLog } = await import("./audit.ts");
      await requireLog(file);
    },
    async cut(before, by, why) {
      const { cut } = await import("./audit.ts");
      const end = await cut(file, before, by, why);
      if (end) audited([end.event], by, Date.now());
      return end;
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
