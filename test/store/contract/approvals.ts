/** Approvals: a row is open once, leaves this state once, and each decision has its line in the audit log. */

import { describe, expect, test } from "bun:test";
import { type Approval, type ApprovalChange, argumentsPart, maxExcerptChars } from "../../../src/store/approval.ts";
import type { AuditLine, Decider } from "../../../src/store/audit/event.ts";
import { approvalKeptDays } from "../../../src/store/limits.ts";
import type { Store } from "../../../src/store/store.ts";
import { type AskingChanges, asking } from "../approvals.ts";
import type { Processes } from "../contract.ts";
import { rejection } from "./rejection.ts";
import { add, fresh, save } from "./stored.ts";

const by: Decider = { place: "command", user: "ada", pid: 7, terminal: true };
const yes = { state: "approved", scope: "once", by: "command" } as const;
const no = { state: "denied", by: "page" } as const;

export function approvalsContract(processes: Processes): void {
  const change = (what: ApprovalChange, now = 1_500, store: Store = processes.one) =>
    store.approvals.change(what, by, now);
  async function ask(changes: AskingChanges = {}): Promise<Approval> {
    const [row] = await change({ type: "ask", asking: asking(changes), tool: "github.merge" }, 1_000);
    return row!;
  }
  const decide = (id: string, decision: Extract<ApprovalChange, { type: "decide" }>["decision"], now?: number) =>
    change({ type: "decide", id, decision }, now);
  const withdraw = (...ids: string[]) => change({ type: "withdraw", ids });
  const rows = () => processes.other.approvals;
  const lines = async () =>
    (await Array.fromAsync(processes.other.audit.lines())).map(({ line }) => JSON.parse(line) as AuditLine);
  const ids = (all: readonly { id: string }[]) => all.map(({ id }) => id);

  test("are as they were asked, with the beginning of their arguments", async () => {
    const { args, ...rest } = asking({ changed: ["its description"], door: "qa", person: "p1", personName: "Ann" });
    const row = await ask({ ...rest, args: JSON.parse(args) });
    expect(row).toEqual({
      ...rest,
      id: expect.stringMatching(/^[0-9a-z]{8}$/),
      excerpt: JSON.stringify(JSON.parse(args), null, 2),
      argsChars: JSON.stringify(JSON.parse(args), null, 2).length,
      argsBytes: Buffer.byteLength(args),
      state: "open",
      scope: null,
      decidedAt: null,
      decidedBy: null,
      reason: null,
    });
    expect([await rows().get(row.id), await rows().argumentsOf(row.id)]).toEqual([row, args]);
    expect(await rows().get("unknown0")).toBeUndefined();
    // Only decisions are recorded.
    expect(await lines()).toEqual([]);
  });

  test("are listed oldest first, by state, config, execution and decision", async () => {
    const second = await ask({ call: 2, askedAt: 1_200 });
    const first = await ask({ call: 1 });
    const demo = await ask({ config: null, execution: "e2", askedAt: 1_300 });
    const within = await ask({ execution: "e1-4", askedAt: 1_400 });
    const beside = await ask({ execution: "e10", askedAt: 1_500, expiresAt: 9_000 });
    const list = async (filter: Parameters<ReturnType<typeof rows>["list"]>[0]) => ids(await rows().list(filter));
    expect(await list({})).toEqual(ids([first, second, demo, within, beside]));
    expect(await list({ config: null })).toEqual([demo.id]);
    expect(await list({ execution: "e1" })).toEqual(ids([first, second, within]));
    await decide(first.id, yes, 1_600);
    expect(await list({ state: "open", config: "/shop/claudikins.json" })).toEqual(ids([second, within, beside]));
    const decided = async (after: number, count = 10) => ids(await rows().decided(after, count));
    expect(await decided(1_599)).toEqual([first.id]);
    expect(await decided(1_600)).toEqual([]);
    expect(await rows().openAmong([first.id, second.id, "unknown0"])).toEqual(new Set([second.id]));
    const waiting = await Promise.all(["e1", "e2", "e1-4", "e3", "e"].map((each) => rows().isWaiting(each)));
    expect(waiting).toEqual([true, true, true, false, false]);
    await decide(demo.id, yes, 1_700);
    await withdraw(within.id);
    expect(await decided(0)).toEqual([demo.id, first.id]);
    expect(await decided(0, 1)).toEqual([demo.id]);
  });

  describe("that are decided", () => {
    test("are decided once, and the log says how", async () => {
      const row = await ask({ bound: { [argumentsPart]: "digest" }, person: "p1", personName: "Ann" });
      const [decided] = await decide(row.id, yes);
      expect(decided).toEqual({ ...row, state: "approved", scope: "once", decidedAt: 1_500, decidedBy: "command" });
      expect(await decide(row.id, no, 1_600)).toEqual([]);
      expect(await rows().get(row.id)).toEqual(decided);
      const [line, ...others] = await lines();
      expect(line).toMatchObject({
        decision: "approved",
        approval: row.id,
        config: row.config,
        person: { id: "p1", name: "Ann" },
        execution: "e1",
        call: 1,
        line: 3,
        server: "github",
        tool: "merge",
        arguments: { sha256: "digest", bytes: row.argsBytes },
        scope: "once",
        by,
      });
      expect(others).toEqual([]);
    });

    test("keep the reason of a no, for all calls that it decides, until they are removed", async () => {
      const [first, second] = [await ask(), await ask({ call: 2 })];
      const other = await ask({ execution: "e2" });
      const reason = "use the test branch";
      const decided = await decide(first.id, { ...no, reason });
      expect(decided.map((row) => [row.id, row.reason])).toEqual([
        [first.id, reason],
        [second.id, reason],
      ]);
      await decide(other.id, no);
      const reasons = async () => (await rows().list({})).map((row) => row.reason);
      expect(await reasons()).toEqual([reason, reason, null]);
      await change({ type: "remove", ids: [first.id] });
      expect(await reasons()).toEqual([reason, null]);
      expect(await rows().get(second.id)).toEqual(decided[1]);
    });

    test("too late or without a row change nothing", async () => {
      const { id } = await ask();
      expect([await decide("unknown0", yes), await decide(id, yes, 2_000)]).toEqual([[], []]);
      expect((await rows().get(id))?.state).toBe("open");
    });

    test("by a no are decided with the other calls of the tool, or with everything", async () => {
      const first = await ask();
      const second = await ask({ call: 2 });
      const tool = await ask({ call: 3, tool: "close" });
      const server = await ask({ call: 4, server: "gitlab" });
      const elsewhere = await ask({ execution: "e2" });
      const states = async () =>
        (await Promise.all([first, second, tool, server, elsewhere].map(({ id }) => rows().get(id)))).map(
          (row) => row?.state,
        );
      expect(ids(await decide(second.id, no))).toEqual([second.id, first.id]);
      expect(await states()).toEqual(["denied", "denied", "open", "open", "open"]);
      expect(ids(await decide(server.id, { ...no, all: true }))).toEqual([server.id, tool.id]);
      expect(await states()).toEqual(["denied", "denied", "denied", "denied", "open"]);
      expect((await lines()).map(({ approval }) => approval)).toEqual(ids([second, first, server, tool]));
    });

    test("at the same moment by several processes are decided by one", async () => {
      const asked = [];
      for (let call = 0; call < 10; call++) asked.push(await ask({ call, execution: `e${call}` }));
      const decided = await Promise.all(
        asked.flatMap(({ id }) => [
          change({ type: "decide", id, decision: yes }, 1_500, processes.one),
          change({ type: "decide", id, decision: no }, 1_500, processes.other),
        ]),
      );
      expect(ids(decided.flat()).sort()).toEqual(ids(asked).sort());
      const kept = new Map((await rows().list()).map(({ id, state }) => [id, state]));
      for (const { id, state } of decided.flat()) expect(kept.get(id)).toBe(state);
      expect(await lines()).toHaveLength(10);
    });
  });

  test("expire when their time is over, once", async () => {
    const early = await ask();
    const late = await ask({ expiresAt: 3_000 });
    expect([await rows().isDue(1_999), await rows().isDue(2_000)]).toEqual([false, true]);
    expect(await change({ type: "expire" }, 1_999)).toEqual([]);
    expect(await change({ type: "expire" }, 2_000)).toEqual([
      { ...early, state: "expired", decidedAt: 2_000, decidedBy: null },
    ]);
    expect(await change({ type: "expire" }, 2_500)).toEqual([]);
    expect((await rows().get(late.id))?.state).toBe("open");
    expect((await lines()).map(({ decision, approval }) => [decision, approval])).toEqual([["expired", early.id]]);
  });

  test("are withdrawn if they are open or approved", async () => {
    const open = await ask({ execution: "e1" });
    const approved = await ask({ execution: "e2" });
    const denied = await ask({ execution: "e3" });
    await decide(approved.id, yes);
    await decide(denied.id, no);
    const withdrawn = await withdraw(open.id, approved.id, denied.id, "unknown0");
    expect(withdrawn.map(({ id, state, decidedAt }) => [id, state, decidedAt])).toEqual([
      [open.id, "withdrawn", 1_500],
      [approved.id, "withdrawn", 1_500],
    ]);
    expect(await decide(open.id, yes, 1_700)).toEqual([]);
    expect((await lines()).map(({ decision }) => decision)).toEqual(["approved", "denied", "withdrawn", "withdrawn"]);
  });

  test("are found by their call, and a permission for a session by its tool", async () => {
    const first = await ask();
    await withdraw(first.id);
    const second = await ask();
    expect((await rows().ofCall("e1", 1))?.id).toBe(second.id);
    expect(await rows().ofCall("e1", 2)).toBeUndefined();
    expect(await rows().sessionApproval("e1", "github", "merge")).toBeUndefined();
    await decide(second.id, { ...yes, scope: "session" });
    expect((await rows().sessionApproval("e1", "github", "merge"))?.id).toBe(second.id);
    expect(await rows().sessionApproval("e2", "github", "merge")).toBeUndefined();
    expect(await rows().sessionApproval("e1", "github", "close")).toBeUndefined();
    await withdraw(second.id);
    expect(await rows().sessionApproval("e1", "github", "merge")).toBeUndefined();
  });

  test.each<[string, (id: string) => Promise<Approval[]>]>([
    ["approved", (id) => decide(id, yes)],
    ["denied", (id) => decide(id, no)],
    ["expired", () => change({ type: "expire" }, 2_000)],
    ["withdrawn", (id) => withdraw(id)],
  ])("have their arguments as long as they are open, and their beginning when they are %s", async (state, close) => {
    const args = { text: "é".repeat(100_000), end: "the end" };
    const row = await ask({ args });
    expect(await rows().argumentsOf(row.id)).toBe(JSON.stringify(args));
    expect(await close(row.id)).toMatchObject([{ id: row.id, state }]);
    expect(await rows().argumentsOf(row.id)).toBeUndefined();
    const { excerpt, argsChars, argsBytes } = (await rows().get(row.id))!;
    const indented = JSON.stringify(args, null, 2);
    expect([excerpt, argsChars]).toEqual([indented.slice(0, maxExcerptChars), indented.length]);
    expect(argsBytes).toBe(Buffer.byteLength(JSON.stringify(args)));
  });

  test("are refused when too many arguments wait, of the config or of all, and nothing is stored", async () => {
    const args = { text: "x".repeat(30_000_000) };
    for (const call of [1, 2]) await ask({ call, args });
    expect(await rejection(ask({ call: 3, args }))).toMatchObject({
      code: "POLICY_DENIED",
      message:
        "github.merge was not called: the calls that already wait for approval have 60 MB of arguments, and 64 MB is the limit",
      hint: "Decide about these first: claudikins approvals --all",
    });
    expect(await rows().list()).toHaveLength(2);
    expect((await ask({ config: null, args })).state).toBe("open");
  });

  test("belong to the process that waits for them", async () => {
    const row = await ask();
    expect(await change({ type: "adopt", id: row.id, owner: "process-2" })).toEqual([]);
    expect(await rows().get(row.id)).toEqual({ ...row, owner: "process-2" });
    expect(await lines()).toEqual([]);
  });

  test("are unsaved if no process could continue their executions", async () => {
    const { one } = processes;
    await using owner = await one.takeOwner();
    const writer = one.executions.writer();
    await save(writer, "saved", fresh(owner.name), {});
    await add(writer, "added", owner.name);
    await writer.close();
    const asked: Approval[] = [];
    for (const execution of ["saved", "added", "unknown"]) asked.push(await ask({ execution }));
    const [, added, unknown] = asked;
    expect(ids(await rows().unsaved())).toEqual(ids([added!, unknown!]));
    expect(ids(await rows().unsaved({ execution: "added" }))).toEqual([added!.id]);
    expect(await rows().unsaved({ config: null })).toEqual([]);
    await decide(unknown!.id, yes);
    expect(ids(await rows().unsaved())).toEqual([added!.id]);
  });

  test("that were decided long ago are deleted, and open ones stay", async () => {
    const open = await ask({ execution: "e2" });
    const decided = await ask();
    await decide(decided.id, yes, 1_500);
    const kept = 1_500 + approvalKeptDays * 86_400_000;
    expect([await rows().hasOld(kept), await rows().hasOld(kept + 1)]).toEqual([false, true]);
    expect(await change({ type: "prune" }, kept)).toEqual([]);
    expect(await rows().list()).toHaveLength(2);
    await change({ type: "prune" }, kept + 1);
    expect(ids(await rows().list())).toEqual([open.id]);
  });

  test("are removed by their ids, unless they are open", async () => {
    const [open, decided, other] = [await ask(), await ask({ call: 2 }), await ask({ call: 3 })];
    await decide(decided.id, yes);
    await decide(other.id, yes);
    const before = (await lines()).length;
    expect(await change({ type: "remove", ids: [open.id, decided.id, "unknown"] })).toEqual([]);
    expect(ids(await rows().list())).toEqual([open.id, other.id]);
    expect(await lines()).toHaveLength(before);
  });

  test("may have a decision without a row: it is only in the log", async () => {
    const event = { decision: "denied", server: "github", tool: "merge" } as const;
    expect(await change({ type: "note", event })).toEqual([]);
    expect(await lines()).toMatchObject([{ ...event, by }]);
    expect(await rows().list()).toEqual([]);
  });
}
