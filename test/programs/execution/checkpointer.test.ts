/** The store at each moment of an execution: no crash may make a call twice. */
import type { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { silentLog } from "../../../src/base/log.ts";
import { ExecutionCheckpointer, type StoreAccess } from "../../../src/programs/execution/checkpointer.ts";
import { CopyTurns } from "../../../src/programs/execution/copy-turns.ts";
import type { OpenCall, SavedRun } from "../../../src/sandbox/checkpoint-contract.ts";
import type { Outcome } from "../../../src/sandbox/contract.ts";
import { Pages } from "../../../src/sandbox/program-image.ts";
import { openDatabase } from "../../../src/store/sqlite/database.ts";
import { StoreWriter } from "../../../src/store/sqlite/writer.ts";
import { ExecutionRows } from "../../store/sqlite/rows.ts";
import { eventually } from "../../support/eventually.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/temporary.ts";

let folder: TemporaryFolder;
let database: Database;
let store: ExecutionRows;
let writer: StoreWriter;
let opened: PromiseWithResolvers<StoreAccess>;
beforeEach(async () => {
  folder = temporaryFolder();
  const file = join(folder.path, "store.sqlite");
  database = await openDatabase(file);
  store = new ExecutionRows(database);
  writer = new StoreWriter(file);
  opened = Promise.withResolvers();
});
afterEach(async () => {
  await writer.close();
  database.close();
  folder[Symbol.dispose]();
});

const access = () => ({ writer, owner: "owner" });

function checkpointerOf({
  fromStart = false,
  maxBytes = 1e6,
  roomBytes = 1e9,
  keep = async (): Promise<string[]> => [],
} = {}): ExecutionCheckpointer {
  const told = { id: "one", config: null, startedAt: 1, request: "{}", maxBytes, roomBytes };
  const around = { log: silentLog, turns: new CopyTurns(), open: () => opened.promise };
  const workspace = async () => ({ keep, refresh: async () => {} });
  return new ExecutionCheckpointer({ ...told, ...around, fromStart, workspace });
}

/** A program that waits, whose memory has these pages. */
function savedOf(pages: Pages, contents: Record<number, string>, isWhole = true): SavedRun {
  const next = pages.next(isWhole);
  for (const [page, text] of Object.entries(contents))
    next.add(Number(page), Buffer.from(text), () => Buffer.from(text));
  const image = { ...next.end(), isWhole, now: 1, at: 1, isAsleep: false };
  const recorder = {
    startedAt: 1,
    tools: new Map(),
    open: new Set<number>(),
    failures: new Map(),
    registry: undefined,
    exact: undefined,
    charsIn: 0,
  };
  return { image, recorder, recorded: [], restMs: 1, wakeAt: undefined };
}

const saved = () => savedOf(new Pages(), { 0: "memory" });
const callOf = (call: number): OpenCall => ({ message: { type: "call", call } as OpenCall["message"] });
const answer = { type: "settle", call: 1, json: "1" } as const;

/** Makes this change fail, as if the process had been killed before it. */
function killBefore(change: "UPDATE OF program" | "UPDATE OF outcome"): void {
  for (const [name, each] of Object.entries({ change, removal: "DELETE" })) {
    database.run(`CREATE TRIGGER ${name} BEFORE ${each} ON executions BEGIN SELECT RAISE(ABORT, 'killed'); END`);
  }
}

async function nextIsWhole(checkpointer: ExecutionCheckpointer): Promise<boolean> {
  const turn = await checkpointer.turn(1);
  turn.end();
  return turn.isWhole;
}

const pageCount = () => database.query<{ count: number }, []>("SELECT count(*) AS count FROM pages").get()?.count;

/** Waits until the store's thread has deleted what nobody needs. */
async function untilPages(count: number): Promise<void> {
  await eventually(() => pageCount() === count, { everyMs: 1 });
}

test("an answer that comes while the store is opened is stored with its call", async () => {
  const checkpointer = checkpointerOf();
  const call = callOf(1);
  await checkpointer.sending(1, false);
  const saving = checkpointer.save(saved(), [call]);
  call.answer = answer;
  await checkpointer.answered(answer);
  opened.resolve(access());
  expect(await saving).toBe(true);
  expect(store.calls("one")).toMatchObject([{ call: 1, state: "answered", answer: JSON.stringify(answer) }]);
});

test("an answered call whose answer nobody has any more counts as sent", async () => {
  const checkpointer = checkpointerOf();
  await checkpointer.sending(1, false);
  await checkpointer.answered(answer);
  opened.resolve(access());
  await checkpointer.save(saved(), [callOf(1)]);
  expect(store.calls("one")).toMatchObject([{ call: 1, state: "sent", isRepeatable: false }]);
});

test("an execution that has begun is stored with its program, or not at all", async () => {
  const checkpointer = checkpointerOf();
  opened.resolve(access());
  await checkpointer.sending(1, false);
  killBefore("UPDATE OF program");
  expect(await checkpointer.save(saved(), [callOf(1)])).toBe(false);
  expect(store.get("one")).toBeUndefined();
});

test("an execution that has ended is stored with its outcome, or not at all", async () => {
  const checkpointer = checkpointerOf();
  opened.resolve(access());
  void checkpointer.want();
  killBefore("UPDATE OF outcome");
  await checkpointer.ended({ ok: true, logs: [], display: [] } as unknown as Outcome);
  expect(store.get("one")).toBeUndefined();
});

test("an execution that ends while its files are stored is not stored as one that waits", async () => {
  const storing = Promise.withResolvers<string[]>();
  let isStoring = false;
  const keep = () => {
    isStoring = true;
    return storing.promise;
  };
  const checkpointer = checkpointerOf({ keep });
  opened.resolve(access());
  const saving = checkpointer.save(saved(), []);
  await eventually(() => isStoring, { everyMs: 1 });
  await checkpointer.ended({ ok: true, value: 1 } as Outcome);
  storing.resolve([]);
  expect(await saving).toBe(false);
  expect(store.get("one")).toBe(undefined);
  await untilPages(0);
});

test("an execution that a caller asks for keeps its outcome, if it ends while it is saved for the first time", async () => {
  const storing = Promise.withResolvers<string[]>();
  let isStoring = false;
  const keep = () => {
    isStoring = true;
    return storing.promise;
  };
  const checkpointer = checkpointerOf({ keep });
  opened.resolve(access());
  const saving = checkpointer.save(saved(), []);
  await eventually(() => isStoring, { everyMs: 1 });
  void checkpointer.want();
  await checkpointer.ended({ ok: true, value: 1, logs: [], display: [] } as unknown as Outcome);
  storing.resolve([]);
  expect(await saving).toBe(false);
  expect(store.get("one")).toMatchObject({ state: "ended", isOk: true });
  await untilPages(0);
});

test("an execution whose program cannot be written is stored without one, so that a caller learns why it is lost", async () => {
  const checkpointer = checkpointerOf({ fromStart: true });
  opened.resolve(access());
  await checkpointer.begun;
  await checkpointer.save(saved(), [callOf(1)]);
  database.run("CREATE TRIGGER noRecord BEFORE INSERT ON pages BEGIN SELECT RAISE(ABORT, 'broken'); END");
  expect(await checkpointer.save(savedOf(new Pages(), { 0: "later" }), [callOf(2)])).toBe(false);
  expect(store.get("one")).toMatchObject({ isSaved: false, unsaved: "the database could not be written" });
  expect(store.calls("one")).toMatchObject([{ call: 2 }]);
});

test("no call leaves after the execution was given up", async () => {
  const checkpointer = checkpointerOf({ fromStart: true });
  opened.resolve(access());
  await checkpointer.begun;
  await checkpointer.save(saved(), [callOf(1)]);
  checkpointer.release();
  await expect(checkpointer.sending(1, false)).rejects.toThrow("The call was not made");
  expect(store.calls("one")).toMatchObject([{ call: 1, state: "made" }]);
});

test("a call does not leave if it cannot be noted", async () => {
  const checkpointer = checkpointerOf({ fromStart: true });
  opened.resolve(access());
  await checkpointer.begun;
  await checkpointer.save(saved(), [callOf(1)]);
  database.run("CREATE TRIGGER noRoom BEFORE UPDATE OF state ON calls BEGIN SELECT RAISE(ABORT, 'disk full'); END");
  const error = await checkpointer.sending(1, false).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "FILE_NOT_WRITABLE" });
});

test("only pages that have changed are written again, and earlier ones are deleted", async () => {
  const checkpointer = checkpointerOf();
  opened.resolve(access());
  const pages = new Pages();
  expect(await nextIsWhole(checkpointer)).toBe(true);
  await checkpointer.save(savedOf(pages, { 0: "same", 1: "first" }), [callOf(1)]);
  expect(await nextIsWhole(checkpointer)).toBe(false);
  const second = savedOf(pages, { 0: "same", 1: "second" }, false);
  expect(second.image.batches.flatMap((batch) => [...batch.pages])).toEqual([1]);
  await checkpointer.save(second, [callOf(2)]);
  await untilPages(2);
  const { batches, manifest } = await checkpointer.load();
  expect(batches.flatMap((batch) => [...batch.pages])).toEqual([0, 1]);
  expect([...manifest.versions]).toEqual([1, 2]);
});

test("a program that is too large is not saved, and after it became smaller, all of it is", async () => {
  const checkpointer = checkpointerOf({ maxBytes: 60 });
  opened.resolve(access());
  const pages = new Pages();
  await checkpointer.save(savedOf(pages, { 0: "small" }), [callOf(1)]);
  const large = { 0: "small", 1: crypto.randomUUID().repeat(3), 2: crypto.randomUUID() };
  expect(await checkpointer.save(savedOf(pages, large, false), [callOf(2)])).toBe(false);
  expect(store.get("one")).toMatchObject({ isSaved: false, unsaved: "it is too large" });
  await untilPages(0);
  expect(await nextIsWhole(checkpointer)).toBe(true);
  expect(await checkpointer.save(savedOf(pages, { 0: "small" }), [callOf(3)])).toBe(true);
  expect(store.get("one")).toMatchObject({ isSaved: true, unsaved: null });
  expect((await checkpointer.load()).batches).toHaveLength(1);
});

test("a program for which the store has no room is not saved, and says so; what others have stored stays", async () => {
  const checkpointer = checkpointerOf({ roomBytes: 1_000 });
  opened.resolve(access());
  store.add("other", "other", { config: null, startedAt: 1, request: "{}" });
  expect(await checkpointer.save(saved(), [callOf(1)])).toBe(false);
  expect(store.get("one")?.unsaved).toContain("executions.totalMb");
  expect(store.get("other")).toBeDefined();
});

test("an execution in the background does not begin if the store has no room", async () => {
  const checkpointer = checkpointerOf({ fromStart: true, roomBytes: 1_000 });
  opened.resolve(access());
  await expect(checkpointer.begun).rejects.toMatchObject({
    code: "FILE_NOT_WRITABLE",
    hint: expect.stringContaining("claudikins executions list"),
  });
  expect(store.get("one")).toBeUndefined();
});

test("pages of a first save that was interrupted are deleted once their process has ended", async () => {
  await writer.do("begin", "one", { owner: "alive" });
  await writer.do("begin", "two", { owner: "dead" });
  for (const id of ["one", "two"]) {
    const batch = { pages: Float64Array.of(1), sizes: Float64Array.of(1), bytes: new ArrayBuffer(1) };
    await writer.do("pages", id, { ...batch, version: 1, roomBytes: 1e9 });
  }
  await writer.deleteOrphans(async (owner) => owner === "alive");
  await untilPages(1);
  expect(database.query("SELECT execution FROM pages").all()).toEqual([{ execution: "one" }]);
});

test("an execution that ended before its id could be handed out is not kept, and says so", async () => {
  opened.resolve(access());
  const checkpointer = checkpointerOf();
  const pages = new Pages();
  await checkpointer.save(savedOf(pages, { 0: "a" }), []);
  expect(checkpointer.isStored).toBe(true);
  await checkpointer.ended({ ok: true } as Outcome);
  await checkpointer.want();
  expect(checkpointer.isWanted).toBe(false);
  await eventually(() => store.get("one") === undefined);
});
