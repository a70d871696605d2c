/** Decisions of other processes are noticed even if the database cannot be read just after they are made. */
import { afterAll, expect, test } from "bun:test";
import { Approvals } from "../../../src/policy/approvals/approvals.ts";
import type { ApprovalRows } from "../../../src/store/approval.ts";
import { openStore } from "../../../src/store/open.ts";
import { asking } from "../../store/approvals.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

/** The object with other values of some properties. */
function changed<T extends object>(object: T, values: Partial<T>): T {
  return new Proxy(object, {
    get: (_, name) => {
      const value = Reflect.get(values, name) ?? Reflect.get(object, name);
      return typeof value === "function" ? value.bind(object) : value;
    },
  });
}

test("a later look notices a decision if the first one fails", async () => {
  const env = { HOME: folder.path };
  await using store = openStore(env);
  let failures = 0;
  const openAmong: ApprovalRows["openAmong"] = async (ids) => {
    const open = await store.approvals.openAmong(ids);
    if (open.size > 0 || failures > 0) return open;
    failures += 1;
    throw new Error("the connection has ended");
  };
  const flaky = changed(store, { approvals: changed(store.approvals, { openAmong }) });
  await using approvals = new Approvals({ store: flaky });
  await using elsewhere = new Approvals({ env });
  const row = await approvals.ask(asking({ expiresAt: Date.now() + 60_000 }));
  const closed = Promise.withResolvers<string>();
  approvals.watch(row, ({ state }) => closed.resolve(state));
  await elsewhere.decide(row.id, { state: "approved", scope: "once", by: "command" });
  expect(await closed.promise).toBe("approved");
  expect(failures).toBe(1);
});
