/** Many approvals at once, and approvals with large arguments: no process is blocked by them, and nothing of them stays. */
import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { storeFile } from "../../../src/config/locations.ts";
import { continuesElsewhere } from "../../../src/policy/approval-queue.ts";
import { verify } from "../../../src/store/audit/verify.ts";
import { openDatabase } from "../../../src/store/sqlite/database.ts";
import { asking } from "../../store/approvals.ts";
import { blockAudit, unblockAudit } from "../../support/audit.ts";
import { LongestTurn } from "../../support/longest-turn.ts";
import { inStore } from "../../support/stored.ts";
import { no, Waiting, yes } from "./waiting.ts";

setDefaultTimeout(60_000);

const waiting = new Waiting();
afterAll(() => waiting[Symbol.asyncDispose]());
beforeEach(async () => {
  await waiting.open({ confirm: "always" });
});

const file = () => storeFile(waiting.env);

/** A log of nearly four megabytes. */
async function longLog(): Promise<void> {
  const by = { user: "ada", pid: 1, terminal: false };
  const why = "x".repeat(400);
  await inStore(waiting.env, (store) => store.audit.add(Array(6_000).fill({ decision: "denied", why }), by));
}

/** Rows of other executions, which another process can continue. */
async function fill(count: number, expiresAt: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, call) => asking({ execution: "other", call, expiresAt }));
  await waiting.store("other");
  await waiting.fill(...rows);
}

/** The old code blocked for seconds with a long log, or with large arguments. A busy machine alone can take half a second. */
const boundMs = 1_000;

describe("five hundred approvals that expire together", () => {
  test("block no process that looks, and are recorded at once", async () => {
    await longLog();
    await fill(500, Date.now() + 200);
    const expired = Promise.withResolvers<void>();
    waiting.app.approvals.onChange(async () => {
      if ((await waiting.app.approvals.open()).length === 0) expired.resolve();
    });
    using longest = new LongestTurn();
    await expired.promise;
    expect(longest.ms).toBeLessThan(boundMs);
    const lines = waiting.audit().filter(({ decision }) => decision === "expired");
    expect(lines).toHaveLength(500);
    expect(new Set(lines.map(({ at }) => at)).size).toBe(1);
    const verified = await inStore(waiting.env, (store) => verify(store.audit));
    expect(verified).toMatchObject({ entries: 6_500, notes: [] });
    expect(verified).not.toHaveProperty("problem");
  });

  test("expire once if several processes look at the same moment", async () => {
    await fill(300, Date.now() - 1);
    const looks = [waiting.elsewhere, waiting.app.approvals, waiting.elsewhere];
    const seen = await Promise.all(looks.map((each) => each.open()));
    expect(seen).toEqual([[], [], []]);
    expect(waiting.audit().filter(({ decision }) => decision === "expired")).toHaveLength(300);
  });
});

test("the calls of a cancelled execution are withdrawn in one change", async () => {
  await longLog();
  const controller = new AbortController();
  const calls = Array.from({ length: 20 }, (_, call) => waiting.call({ call }, { call }, controller.signal));
  await waiting.rows(20);
  using longest = new LongestTurn();
  controller.abort();
  await Promise.all(calls);
  expect(new Set(await waiting.states())).toEqual(new Set(["withdrawn"]));
  const lines = waiting.audit().filter(({ decision }) => decision === "withdrawn");
  expect(lines).toHaveLength(20);
  // The first call may be withdrawn before the others know that they are cancelled.
  expect(new Set(lines.map(({ at }) => at)).size).toBeLessThan(4);
  expect(longest.ms).toBeLessThan(boundMs);
});

test("a denial of many calls is one change", async () => {
  await fill(500, Date.now() + 1e6);
  const [row] = await waiting.rows(500);
  using longest = new LongestTurn();
  expect(await waiting.elsewhere.decide(row!.id, no)).toHaveLength(500);
  expect(longest.ms).toBeLessThan(boundMs);
  expect(new Set(waiting.audit().map(({ at }) => at)).size).toBe(1);
});

test("a process that holds the database blocks no other one that asks, decides or looks", async () => {
  const holder = await openDatabase(storeFile(waiting.env));
  const row = await waiting.elsewhere.ask(asking({ expiresAt: Date.now() + 1e6 }));
  holder.run("BEGIN IMMEDIATE");
  using longest = new LongestTurn();
  const decided = waiting.elsewhere.decide(row.id, yes);
  const running = waiting.call({}, { call: 2 });
  expect(await waiting.elsewhere.isWaiting("e1")).toBe(true);
  expect(await waiting.elsewhere.open()).toHaveLength(1);
  await Bun.sleep(600);
  holder.run("ROLLBACK");
  holder.close();
  expect(await decided).toHaveLength(1);
  // The old code waited for the lock on this thread.
  expect(longest.ms).toBeLessThan(boundMs);
  await waiting.elsewhere.decide((await waiting.rows())[0]!.id, yes);
  expect(await running).toContain("did remove-it");
});

describe("large arguments of a call that waits", () => {
  const text = `BEGIN${"x y ".repeat(250_000)}END-OF-THE-TEXT`;
  const data = () =>
    ["", "-wal"].map((suffix) => readFileSync(`${storeFile(waiting.env)}${suffix}`, "latin1")).join("");

  test("block nobody while it is stored, found, asked for and approved, and are sent as they were shown", async () => {
    using longest = new LongestTurn();
    const calls = Array.from({ length: 20 }, (_, call) => waiting.call({ call, text }, { call }));
    const rows = await waiting.rows(20);
    expect(JSON.stringify(rows).length).toBeLessThan(100_000);
    for (let times = 0; times < 50; times++) await waiting.app.approvals.isWaiting("e1");
    for (const row of rows) expect(JSON.parse((await waiting.elsewhere.argumentsOf(row.id))!).text).toBe(text);
    for (const row of rows) await waiting.elsewhere.decide(row.id, yes);
    await Promise.all(calls);
    expect(waiting.got().map(({ args }) => args?.["text"] === text)).toEqual(Array(20).fill(true));
    expect(longest.ms).toBeLessThan(boundMs);
  });

  test("are kept for nobody after the decision: the beginning, the size and the digest stay", async () => {
    const running = waiting.call({ text });
    const [row] = await waiting.rows();
    await waiting.elsewhere.decide(row!.id, no);
    await running;
    const closed = await waiting.elsewhere.get(row!.id);
    expect(closed).toMatchObject({ state: "denied", bound: row!.bound, argsBytes: text.length + 11 });
    expect(closed!.excerpt).toBe(JSON.stringify({ text }, null, 2).slice(0, 2_000));
    expect(await waiting.elsewhere.argumentsOf(row!.id)).toBeUndefined();
  });

  test("are not needed by another process that makes the approved call", async () => {
    await waiting.store("e1");
    const controller = new AbortController();
    const running = waiting.call({ text }, {}, controller.signal);
    const [row] = await waiting.rows();
    controller.abort(continuesElsewhere);
    await running;
    await waiting.elsewhere.decide(row!.id, yes);
    expect(await waiting.elsewhere.argumentsOf(row!.id)).toBeUndefined();
    await waiting.reopen();
    expect(await waiting.call({ text })).toContain("did remove-it");
    expect(waiting.got()).toMatchObject([{ args: { text } }]);
    // Other arguments are another call.
    const other = waiting.call({ text: `${text}!` }, { call: 1 });
    const [again] = await waiting.rows();
    expect(again!.changed).toEqual(["the values of its arguments"]);
    await waiting.elsewhere.decide(again!.id, no);
    expect(await other).toContain("the person said no");
  });

  test("leave a small database after six cancelled executions", async () => {
    for (let execution = 0; execution < 6; execution++) {
      const controller = new AbortController();
      const calls = Array.from({ length: 10 }, (_, call) =>
        waiting.call({ call, text }, { execution: `e${execution}`, call }, controller.signal),
      );
      await waiting.rows(10);
      controller.abort();
      await Promise.all(calls);
    }
    expect(await waiting.states()).toHaveLength(60);
    // Sixty megabytes were written.
    expect(data().length).toBeLessThan(40_000_000);
    const startedAt = performance.now();
    expect(JSON.stringify(await waiting.elsewhere.list()).length).toBeLessThan(300_000);
    expect(performance.now() - startedAt).toBeLessThan(500);
  });
});

test("a log that cannot be written stops a decision, and the row stays open", async () => {
  const running = waiting.call({});
  const [row] = await waiting.rows();
  blockAudit(file());
  expect(waiting.elsewhere.decide(row!.id, yes)).rejects.toMatchObject({ code: "FILE_NOT_WRITABLE" });
  await waiting.elsewhere.decide(row!.id, yes).catch(() => {});
  expect(await waiting.states()).toEqual(["open"]);
  expect(waiting.got()).toEqual([]);
  unblockAudit(file());
  await waiting.elsewhere.decide(row!.id, yes);
  expect(await running).toContain("did remove-it");
});
