/** Executions that outlive their process: who has one, how it ends, and what lists say. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { ExecutionWriter } from "../../../src/store/jobs.ts";
import type { Owner } from "../../../src/store/replicas.ts";
import { asking } from "../approvals.ts";
import type { Processes } from "../contract.ts";
import { rejection } from "./rejection.ts";
import { add, fresh, roomBytes, save } from "./stored.ts";

export function executionsContract(processes: Processes): void {
  let writer: ExecutionWriter;
  let otherWriter: ExecutionWriter;
  let owner: Owner;
  let otherOwner: Owner;
  beforeEach(async () => {
    const { one, other } = processes;
    [writer, otherWriter] = [one.executions.writer(), other.executions.writer()];
    [owner, otherOwner] = [await one.takeOwner(), await other.takeOwner()];
  });
  afterEach(async () => {
    for (const each of [writer, otherWriter]) await each.close();
    for (const each of [owner, otherOwner]) await each[Symbol.asyncDispose]();
  });
  const get = (id: string) => processes.other.executions.get(id);
  const rows = () => processes.other.executions;

  test("are stored with what is known of them", async () => {
    await add(writer, "e1", owner.name);
    const known = await get("e1");
    expect(known).toEqual({
      id: "e1",
      config: "/a.json",
      state: "open",
      owner: owner.name,
      startedAt: 1_000,
      changedAt: known!.changedAt,
      wakeAt: null,
      isCancelled: false,
      isWanted: true,
      engine: null,
      request: '{"source":"return 1"}',
      isSaved: false,
      unsaved: null,
      isOk: false,
      reason: undefined,
    });
    expect(Math.abs(known!.changedAt - Date.now())).toBeLessThan(60_000);
    expect(await get("e2")).toBeUndefined();
  });

  test("are not added twice with one id", async () => {
    await add(writer, "e1", owner.name);
    await rejection(add(otherWriter, "e1", otherOwner.name));
    expect((await get("e1"))?.owner).toBe(owner.name);
  });

  test("are listed newest first, by config or all", async () => {
    await add(writer, "e1", owner.name, { startedAt: 2_000 });
    await add(writer, "e2", owner.name, { startedAt: 1_000 });
    await add(writer, "e3", owner.name, { startedAt: 3_000, config: null });
    const ids = (all: readonly { id: string }[]) => all.map(({ id }) => id);
    expect(ids(await rows().list("/a.json"))).toEqual(["e1", "e2"]);
    expect(ids(await rows().list(null))).toEqual(["e3"]);
    expect(ids(await rows().list())).toEqual(["e3", "e1", "e2"]);
    expect(ids(await rows().newest("/a.json", 1))).toEqual(["e1"]);
    expect((await rows().newest("/a.json", 1))[0]).not.toHaveProperty("request");
    expect(ids(await rows().open("/a.json")).sort()).toEqual(["e1", "e2"]);
  });

  test("that have ended keep their outcome, a large value apart, and nothing else", async () => {
    for (const id of ["good", "large", "bad"]) await add(writer, id, owner.name);
    await save(writer, "good", { owner: owner.name }, { texts: { 0: "memory" }, open: [1] });
    await writer.do("ended", "good", { outcome: '{"ok":true,"logs":[]}', value: '{"a":1}', isOk: true });
    const value = JSON.stringify("x".repeat(1_000_000));
    await writer.do("ended", "large", { outcome: '{"ok":true,"logs":[]}', value, isOk: true });
    const failed = '{"ok":false,"reason":"threw","error":{"message":"no"},"logs":[]}';
    await writer.do("ended", "bad", { outcome: failed, value: undefined, isOk: false });
    expect(await get("good")).toMatchObject({
      state: "ended",
      isOk: true,
      owner: null,
      isSaved: false,
      engine: "engine 1",
    });
    expect(await get("bad")).toMatchObject({ state: "ended", isOk: false, reason: "threw" });
    const { outcome = "" } = await otherWriter.do("outcome", "good", {});
    expect(JSON.parse(outcome)).toEqual({ ok: true, logs: [], value: { a: 1 } });
    const large = await otherWriter.do("outcome", "large", {});
    expect([JSON.parse(large.outcome ?? ""), large.value]).toEqual([{ ok: true, logs: [] }, value]);
    expect((await otherWriter.do("outcome", "unknown", {})).outcome).toBeUndefined();
    expect([await rows().callPlaces("good"), await rows().program("good"), await rows().open("/a.json")]).toEqual([
      [],
      undefined,
      [],
    ]);
  });

  test("may be stored with their end", async () => {
    const ended = { outcome: '{"ok":true}', value: "1", isOk: true };
    await writer.do("ended", "e1", { ...fresh(owner.name), ...ended });
    expect(await get("e1")).toMatchObject({ state: "ended", isOk: true, isWanted: true, startedAt: 1_000 });
  });

  test("of a dead owner are taken by one of several processes", async () => {
    const dead = await processes.one.takeOwner();
    const ids = Array.from({ length: 20 }, (_, place) => `e${place}`);
    for (const id of ids) await add(writer, id, dead.name);
    await dead[Symbol.asyncDispose]();
    const claims = await Promise.all(
      ids.flatMap((id) => [
        writer.do("claim", id, { owner: owner.name, from: dead.name }),
        otherWriter.do("claim", id, { owner: otherOwner.name, from: dead.name }),
      ]),
    );
    expect(claims.filter((each) => each)).toHaveLength(20);
    for (const [place, id] of ids.entries()) {
      expect((await get(id))?.owner).toBe(claims[2 * place] ? owner.name : otherOwner.name);
    }
  });

  test("are claimed only from the owner that has them, and not after their end", async () => {
    await add(writer, "e1", owner.name);
    const claim = (from: string | null) => otherWriter.do("claim", "e1", { owner: otherOwner.name, from });
    expect([await claim(null), await claim("somebody")]).toEqual([false, false]);
    await writer.do("release", "e1", { owner: "somebody" });
    expect((await get("e1"))?.owner).toBe(owner.name);
    await writer.do("release", "e1", { owner: owner.name });
    expect((await get("e1"))?.owner).toBeNull();
    expect([await claim(null), await claim(null)]).toEqual([true, false]);
    await otherWriter.do("ended", "e1", { outcome: "{}", value: undefined, isOk: true });
    expect(await writer.do("claim", "e1", { owner: owner.name, from: null })).toBe(false);
    expect(await writer.do("claim", "unknown", { owner: owner.name, from: null })).toBe(false);
  });

  test("are cancelled by their owner when another process wants it", async () => {
    for (const id of ["e1", "e2", "e3"]) await add(writer, id, owner.name);
    await otherWriter.do("askToCancel", "e1", {});
    await otherWriter.do("askToCancel", "e3", {});
    await writer.do("ended", "e3", { outcome: "{}", value: undefined, isOk: true });
    expect(await rows().cancelled(owner.name)).toEqual(["e1"]);
    expect(await rows().cancelled(otherOwner.name)).toEqual([]);
    expect((await get("e1"))?.isCancelled).toBe(true);
  });

  test("are wanted from when a caller has their ids", async () => {
    await add(writer, "e1", owner.name, { isWanted: false });
    expect((await get("e1"))?.isWanted).toBe(false);
    await writer.do("want", "e1", {});
    expect((await get("e1"))?.isWanted).toBe(true);
  });

  test("are found by the client that has started them, until they end", async () => {
    const startedBy = (client: string) => ({ request: JSON.stringify({ source: "", starter: { client } }) });
    await add(writer, "e1", owner.name, startedBy("person a/1"));
    await add(writer, "e2", owner.name, { ...startedBy("person a/2"), config: "/b.json" });
    await add(writer, "e3", owner.name, startedBy("person b"));
    await add(writer, "e4", owner.name, startedBy("person a/3"));
    await add(writer, "e5", owner.name);
    await writer.do("ended", "e4", { outcome: "{}", value: undefined, isOk: true });
    const found = await rows().startedBy("person a/");
    expect(found.map(({ id, config }) => [id, config]).sort()).toEqual([
      ["e1", "/a.json"],
      ["e2", "/b.json"],
    ]);
    expect(found[0]).toMatchObject({ owner: owner.name, startedAt: 1_000 });
    expect(await rows().startedBy("person %")).toEqual([]);
    const all = await rows().startedBy("person a/", "all");
    expect(all.map(({ id }) => id).sort()).toEqual(["e1", "e2", "e4"]);
  });

  test("with saved programs are counted by config, build and whether they are wanted", async () => {
    const about = { owner: owner.name };
    for (const id of ["e1", "e2"]) await add(writer, id, owner.name);
    await save(writer, "e1", about, {});
    await save(writer, "e2", about, {});
    await save(writer, "e3", fresh(owner.name, { config: null, isWanted: false }), {});
    await add(writer, "unsaved", owner.name);
    const counts = await rows().waiting();
    expect(counts.sort((a, b) => b.count - a.count)).toEqual([
      { config: "/a.json", engine: "engine 1", isWanted: true, count: 2 },
      { config: null, engine: "engine 1", isWanted: false, count: 1 },
    ]);
  });

  test("are old if they have not changed, and wait neither for a timer nor for an approval", async () => {
    const { one } = processes;
    const later = Date.now() + 60_000;
    for (const id of ["e1", "e2", "e3"]) await add(writer, id, owner.name);
    const image = { unsaved: undefined, engine: "engine 1", version: 1, pages: undefined, program: new Uint8Array(1) };
    await writer.do("save", "e2", { owner: owner.name, ...image, open: [], wakeAt: later + 60_000 });
    const row = asking({ execution: "e3", askedAt: Date.now(), expiresAt: later + 60_000 });
    const by = { user: "ada", pid: 1, terminal: false };
    await one.approvals.change({ type: "ask", asking: row, tool: "shop.pay" }, by, Date.now());
    expect((await rows().old(later)).map(({ id }) => id)).toEqual(["e1"]);
    expect(await rows().old(1_000)).toEqual([]);
  });

  test("are refused when the programs that wait have filled their room", async () => {
    await add(writer, "e1", owner.name);
    const full = { code: "FILE_NOT_WRITABLE", message: expect.stringContaining("have filled the") };
    expect(await rejection(writer.do("add", "e2", { ...fresh(owner.name), roomBytes: -1 }))).toMatchObject(full);
    expect(await get("e2")).toBeUndefined();
    const page = { pages: Float64Array.of(0), sizes: Float64Array.of(1), bytes: new ArrayBuffer(1), version: 1 };
    expect(await rejection(writer.do("pages", "e1", { ...page, roomBytes: -1 }))).toMatchObject(full);
    const record = { record: 0, bytes: new Uint8Array(1) };
    expect(await rejection(writer.do("record", "e1", { ...record, roomBytes: -1 }))).toMatchObject(full);
  });

  test("are written until the writer is closed, and jobs after that are refused", async () => {
    const adding = Array.from({ length: 20 }, (_, place) => add(writer, `e${place}`, owner.name));
    await writer.close();
    await Promise.all(adding);
    expect(await rows().list()).toHaveLength(20);
    await rejection(add(writer, "late", owner.name));
  });

  test("that are removed are gone with everything that belongs to them", async () => {
    await add(writer, "e1", owner.name);
    await save(writer, "e1", { owner: owner.name }, { texts: { 0: "memory" }, open: [1] });
    await writer.do("remove", "e1", {});
    await writer.do("remove", "unknown", {});
    // It is marked at once, and deleted in steps.
    expect((await get("e1"))?.isSaved ?? false).toBe(false);
    await writer.close();
    expect([await get("e1"), await rows().callPlaces("e1"), await rows().list()]).toEqual([undefined, [], []]);
    const again = processes.one.executions.writer();
    await add(again, "e1", owner.name, { roomBytes });
    await again.close();
    expect(await rows().callPlaces("e1")).toEqual([]);
  });
}
