/** What the call log keeps of calls, whoever makes them and however they end. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { silentLog } from "../../src/base/log.ts";
import { continuesElsewhere } from "../../src/policy/approval-queue.ts";
import { callOnce } from "../../src/programs/call.ts";
import { CallLog, type EndedCall } from "../../src/programs/call-log/call-log.ts";
import { endedCalls } from "../../src/programs/call-log/ended-calls.ts";
import { DryRun } from "../../src/programs/dry-run/dry-run.ts";
import { execute } from "../../src/programs/execute.ts";
import { call } from "../../src/programs/shell-call.ts";
import type { StoredCall } from "../../src/store/call-log.ts";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { Recorded } from "../policy/recorded.ts";
import { storedCall } from "../store/contract/call-log.ts";
import { eventually } from "../support/eventually.ts";

setDefaultTimeout(60_000);

const signal = new AbortController().signal;

describe("the log of an app", () => {
  let recorded: Recorded;
  beforeEach(() => {
    recorded = new Recorded();
  });
  afterEach(() => recorded[Symbol.asyncDispose]());

  /** The calls in the log once the app is closed, oldest first. */
  async function logged(): Promise<StoredCall[]> {
    const { env } = recorded.app;
    await recorded.close();
    await using store = openStore(env);
    return store.callLog.read({}, { order: "oldest first", limit: 100 });
  }

  test("keeps a call of a program with its place, its sizes and its labels, and without contents", async () => {
    await recorded.open({ labels: { "read-it": ["private", "untrusted"] } });
    await recorded.run('await rec["read-it"]({ secretly: "é" });\nawait rec.resources.read("it://a");');
    const [first, second, ...others] = await logged();
    expect(others).toEqual([]);
    expect(first).toEqual({
      ...storedCall(first!.id, first!.at),
      config: join(recorded.project.path, "claudikins.json"),
      startedBy: "exec",
      execution: first!.execution,
      call: 1,
      server: "rec",
      tool: "read-it",
      durationMs: first!.durationMs,
      argumentBytes: Buffer.byteLength('{"secretly":"é"}'),
      resultBytes: "did read-it".length,
      labels: "private untrusted",
    });
    expect(Math.abs(Date.now() - first!.at)).toBeLessThan(60_000);
    expect(first!.execution).toMatch(/^[\da-z]{28}$/);
    expect(second).toMatchObject({
      execution: first!.execution,
      call: 2,
      tool: "resources.read",
      outcome: "ok",
      sent: 1,
    });
    expect(JSON.stringify([first, second])).not.toContain("secretly");
  });

  test("has the outcome of each call, and whether it left for its server", async () => {
    const tools = [
      { name: "read-it", annotations: { readOnlyHint: true } },
      { name: "fails", fails: true, answers: "no" },
      { name: "denied" },
    ];
    await recorded.open({ deny: ["denied"] }, undefined, tools);
    await recorded.run(`
      for (const name of ["read-it", "fails", "denied", "unknown"])
        await callTool("rec", name, {}).catch(() => {});`);
    const calls = await logged();
    expect(calls.map(({ server, tool, outcome, code, sent }) => [server, tool, outcome, code, sent])).toEqual([
      ["rec", "read-it", "ok", null, 1],
      ["rec", "fails", "tool_error", "TOOL_FAILED", 1],
      ["rec", "denied", "denied", "POLICY_DENIED", 0],
      ["rec", "(unknown)", "failed", "TOOL_NOT_FOUND", 0],
    ]);
    expect(recorded.got().map(({ name }) => name)).toEqual(["read-it", "fails"]);
  });

  test("has the decision of a person", async () => {
    const answers = [
      { state: "approved", scope: "once" },
      { state: "denied" },
      { state: "approved", scope: "session" },
    ] as const;
    let asked = 0;
    recorded.atTerminal = { capabilities: {}, ask: async () => answers[asked++] };
    await recorded.open({ confirm: { "remove-it": "always", "plain-it": "always", odd: "always" } });
    await recorded.run(`
      await rec["remove-it"]({}); await rec["plain-it"]({}).catch(() => {});
      await rec.odd({ a: 1 }); await rec.odd({ a: 2 });`);
    const calls = await logged();
    expect(calls.map(({ tool, approval, outcome }) => [tool, approval, outcome])).toEqual([
      ["remove-it", "once", "ok"],
      ["plain-it", "denied", "denied"],
      ["odd", "session", "ok"],
      ["odd", "session", "ok"],
    ]);
  });

  test("names the question of the database that a person has answered", async () => {
    recorded.waits = true;
    await recorded.open({ confirm: { "remove-it": "always" } });
    const { store } = recorded.app;
    const running = recorded.run('await rec["remove-it"]({})');
    const [open] = await eventually(async () => {
      const all = await store.approvals.list({ state: "open" });
      return all.length > 0 ? all : undefined;
    });
    const decision = { state: "approved", scope: "once", by: "command" } as const;
    const by = { user: "ada", pid: 1, terminal: false };
    await store.approvals.change({ type: "decide", id: open!.id, decision }, by, Date.now());
    await running;
    const [call] = await logged();
    expect(call).toMatchObject({ approval: "once", approvalId: open!.id, outcome: "ok", sent: 1 });
    expect(call!.waitedMs).toBeGreaterThan(0);
  });

  test("has each call once when another process continues its program", async () => {
    const app = await recorded.open({});
    const request = { namespace: "rec", group: "tools", name: "read-it", raw: false, args: "{}" } as const;
    const error = (code: string) =>
      ({ type: "settle", call: 1, error: { name: "ToolError", code, message: "m" } }) as const;
    const left = { type: "cancelled", request, reason: continuesElsewhere, waitedMs: 0, durationMs: 1 } as const;
    const hear = (execution: string) => endedCalls(app, { startedBy: "exec", execution });
    const first = hear("first");
    for (const call of [1, 2, 3]) void first({ type: "called", call, request });
    void first({ type: "sent", call: 2, repeatable: true });
    void first({ type: "sent", call: 3, repeatable: false });
    for (const call of [1, 2, 3]) void first({ ...left, call });
    const next = hear("next");
    void next({ type: "restored", call: 3, request, answer: error("CALL_OUTCOME_UNKNOWN") });
    void next({ type: "restored", call: 4, request, answer: error("TOOL_FAILED") });
    void next({ type: "restored", call: 5, request, answer: { type: "settle", call: 5, text: "t" } as never });
    const calls = await logged();
    expect(calls.map(({ execution, call, outcome, code, sent }) => [execution, call, outcome, code, sent])).toEqual([
      ["first", 2, "cancelled", null, 1],
      ["next", 3, "failed", "CALL_OUTCOME_UNKNOWN", 1],
    ]);
  });

  test("keeps a call of a command under the tool's own name", async () => {
    recorded.edits = { "rec.read-it": { name: "look" } };
    await recorded.open({});
    await callOnce({ server: "rec", tool: "add-it", args: { a: 1 } }, recorded.app, signal);
    await call({ target: "rec.look", given: [] }, recorded.app, { signal });
    const calls = await logged();
    expect(
      calls.map(({ tool, startedBy, execution, call, agent }) => [tool, startedBy, execution, call, agent]),
    ).toEqual([
      ["add-it", "call", null, null, null],
      ["read-it", "call", null, null, null],
    ]);
  });

  test("does not keep calls of a dry run that no server gets", async () => {
    const app = await recorded.open({});
    const source = 'await rec["read-it"]({}); await rec["remove-it"]({});';
    await execute({ source, check: "off", dryRun: new DryRun() }, app);
    expect((await logged()).map(({ tool }) => tool)).toEqual(["read-it"]);
    expect(recorded.got().map(({ name }) => name)).toEqual(["read-it"]);
  });
});

describe("the log", () => {
  const { id: _, config: __, ...ended } = storedCall("", 0);
  const at = (time: number): EndedCall => ({ ...ended, at: time });

  /** A store whose database is away until it is opened. */
  function storeOf(added: StoredCall[][], isAway: () => boolean): Store {
    const callLog = {
      async add(calls: StoredCall[]) {
        if (isAway()) throw new Error("away");
        added.push(calls);
      },
      tidy: async () => {},
    };
    return { callLog, mayTidy: async () => true } as unknown as Store;
  }

  test("keeps calls while the database is away, in their order, and says when some are missing", async () => {
    const added: StoredCall[][] = [];
    const warnings: string[] = [];
    let isAway = true;
    const log = { ...silentLog, warn: (text: string) => void warnings.push(text) };
    const store = storeOf(added, () => isAway);
    const callLog = new CallLog({ store, config: "/a.json", keepDays: 1, send: undefined, log });
    for (let time = 1; time <= 20_003; time++) callLog.add(at(time));
    await callLog.end();
    await callLog.end();
    expect(added).toEqual([]);
    isAway = false;
    await callLog.end();
    expect(added.flat().map((call) => call.at)).toEqual(Array.from({ length: 20_000 }, (_, place) => place + 1));
    expect(new Set(added.flat().map(({ id }) => id)).size).toBe(20_000);
    expect(warnings).toEqual([
      "Cannot write the call log: away",
      "3 calls are missing in the call log: the database was away for too long",
    ]);
    callLog.add(at(5));
    await eventually(() => added.flat().length === 20_001);
  });

  test("is sent and not stored with keepDays 0, and nobody hears of calls without both", async () => {
    const sent: StoredCall[] = [];
    const options = { store: undefined, config: null, keepDays: 0, log: silentLog };
    const callLog = new CallLog({ ...options, send: (each) => void sent.push(each) });
    callLog.add(at(7));
    await callLog.end();
    expect(sent.map(({ at, config }) => [at, config])).toEqual([[7, null]]);
    expect([callLog.isOn, new CallLog({ ...options, send: undefined }).isOn]).toEqual([true, false]);
  });
});
