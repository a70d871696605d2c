/** The programs of stored executions: their images, their records, and the calls that they wait for. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { ExecutionWriter } from "../../../src/store/jobs.ts";
import type { Owner } from "../../../src/store/replicas.ts";
import { eventually } from "../../support/eventually.ts";
import type { Processes } from "../contract.ts";
import { rejection } from "./rejection.ts";
import { batchOf, fresh, imageOf, roomBytes, save, textsOf } from "./stored.ts";

export function programsContract(processes: Processes): void {
  let writer: ExecutionWriter;
  let reader: ExecutionWriter;
  let owner: Owner;
  beforeEach(async () => {
    const { one, other } = processes;
    [writer, reader] = [one.executions.writer(), other.executions.writer()];
    owner = await one.takeOwner();
  });
  afterEach(async () => {
    for (const each of [writer, reader]) await each.close();
    await owner[Symbol.asyncDispose]();
  });
  const get = (id: string) => processes.other.executions.get(id);
  const places = async (id: string) =>
    (await processes.other.executions.callPlaces(id)).map(({ call, state }) => [call, state]);
  const image = async (versions: Record<number, number>) => textsOf(await reader.do("image", "e1", imageOf(versions)));

  test("are stored with their execution, and another process reads their pages, records and calls", async () => {
    const records = ["first record", "second record"];
    const texts = { 0: "page zero", 7: "page seven" };
    await save(writer, "e1", fresh(owner.name), { texts, records, open: [2, 1] });
    expect(await get("e1")).toMatchObject({ isSaved: true, engine: "engine 1", unsaved: null, isWanted: true });
    expect(Buffer.from((await processes.other.executions.program("e1")) ?? []).toString()).toBe("program 1");
    // A page of version 0 has no bytes.
    expect(await image({ 0: 1, 3: 0, 7: 1 })).toEqual(texts);
    const read = textsOf(await reader.do("records", "e1", { ...imageOf({ 0: 1, 7: 1 }), records: 2 }));
    expect(Object.values(read)).toEqual(records);
    expect(await processes.other.executions.callPlaces("e1")).toEqual(
      [1, 2].map((call) => {
        return { call, state: "made", namespace: "shop", group: "tools", name: `call_${call}`, line: call };
      }),
    );
    expect(await reader.do("message", "e1", { call: 2 })).toMatchObject({ call: 2, name: "call_2", args: '{"a":1}' });
  });

  test("are replaced page by page: pages that did not change stay, and older versions are deleted", async () => {
    await save(writer, "e1", fresh(owner.name), { texts: { 0: "zero", 1: "one" } });
    const again = { texts: { 1: "one again" }, version: 2, isWhole: false };
    await save(writer, "e1", { owner: owner.name }, again);
    expect(await image({ 0: 1, 1: 2 })).toEqual({ 0: "zero", 1: "one again" });
    await eventually(async () => !(await image({ 1: 1 }).catch(() => undefined)));
    await save(writer, "e1", { owner: owner.name }, { texts: { 0: "whole" }, version: 3 });
    expect(await image({ 0: 3 })).toEqual({ 0: "whole" });
    await eventually(async () => !(await image({ 1: 2 }).catch(() => undefined)));
  });

  test("are lost if one of their pages is missing", async () => {
    await save(writer, "e1", fresh(owner.name), { texts: { 0: "zero" } });
    expect((await rejection(image({ 0: 1, 5: 1 }))).message).toBe("a page of the program is missing");
  });

  test("that could not be saved have a reason instead, and their execution is not open any more", async () => {
    await save(writer, "e1", fresh(owner.name), { texts: { 0: "zero" } });
    const unsaved = { program: undefined, unsaved: "it is too large", wakeAt: undefined, engine: "engine 1" };
    await writer.do("save", "e1", { owner: owner.name, ...unsaved, open: [], version: 0, pages: undefined });
    expect(await get("e1")).toMatchObject({ isSaved: false, unsaved: "it is too large" });
    expect(await processes.other.executions.open("/a.json")).toEqual([]);
    await eventually(async () => !(await image({ 0: 1 }).catch(() => undefined)));
  });

  test("that sleep say until when", async () => {
    const asleep = { program: new Uint8Array(1), unsaved: undefined, engine: "engine 1", version: 1, pages: undefined };
    await writer.do("save", "e1", { ...fresh(owner.name), ...asleep, open: [], wakeAt: 5_000 });
    expect((await get("e1"))?.wakeAt).toBe(5_000);
  });

  test("keep the calls that they wait for, with what became of them, and no others", async () => {
    await save(writer, "e1", fresh(owner.name), { open: [1, 2, 3] });
    await writer.do("sent", "e1", { call: 1, repeatable: true });
    await writer.do("sent", "e1", { call: 2, repeatable: false });
    await writer.do("answered", "e1", { call: 2, roomBytes, ...{ type: "settle", json: '"two"' } });
    expect(await places("e1")).toEqual([
      [1, "sent"],
      [2, "answered"],
      [3, "made"],
    ]);
    await save(writer, "e1", { owner: owner.name }, { open: [1, 2, 4], made: [4], version: 2 });
    expect(await reader.do("calls", "e1", {})).toEqual([
      { call: 1, isSent: true, repeatable: true, isAnswered: false },
      { call: 2, isSent: false, repeatable: false, isAnswered: true },
      { call: 4, isSent: false, repeatable: false, isAnswered: false },
    ]);
    expect(await reader.do("answer", "e1", { call: 2 })).toEqual({ call: 2, type: "settle", json: '"two"' });
  });

  test("have a call that left before it was stored", async () => {
    const call = writer.do("call", "e1", { call: 1, isSent: true, repeatable: true, ...{ name: "pay" } });
    const rest = { program: new Uint8Array(1), unsaved: undefined, wakeAt: undefined, engine: "e", version: 1 };
    await Promise.all([call, writer.do("save", "e1", { ...fresh(owner.name), ...rest, pages: undefined, open: [1] })]);
    expect(await reader.do("calls", "e1", {})).toEqual([
      { call: 1, isSent: true, repeatable: true, isAnswered: false },
    ]);
  });

  test("have large answers as they were, and not if there is no room for them", async () => {
    await save(writer, "e1", fresh(owner.name), { open: [1, 2] });
    const answer = { type: "settle", json: JSON.stringify("é".repeat(1_500_000)) };
    await writer.do("answered", "e1", { call: 1, roomBytes, ...answer });
    await writer.do("answered", "e1", { call: 2, roomBytes: -1, ...answer });
    expect(await reader.do("answer", "e1", { call: 1 })).toEqual({ call: 1, ...answer });
    expect((await places("e1")).map(([, state]) => state)).toEqual(["answered", "made"]);
    // A call that is not open any more takes its answer along.
    await save(writer, "e1", { owner: owner.name }, { open: [2], made: [], version: 2 });
    await save(writer, "e1", { owner: owner.name }, { open: [1, 2], made: [1], version: 3 });
    expect(await places("e1")).toEqual([
      [1, "made"],
      [2, "made"],
    ]);
  });

  test("have many pages in batches, in the order in which they were asked for", async () => {
    const texts = Object.fromEntries(Array.from({ length: 60 }, (_, page) => [page, `${page} `.repeat(20_000)]));
    await save(writer, "e1", fresh(owner.name), { texts });
    const versions = Object.fromEntries(Object.keys(texts).map((page) => [page, 1]));
    const batches = await reader.do("image", "e1", imageOf(versions));
    expect(batches.length).toBeGreaterThan(1);
    expect(batches.flatMap(({ pages }) => [...pages])).toEqual(Object.keys(texts).map(Number));
    expect(textsOf(batches)).toEqual(texts);
  });

  test("whose first save was interrupted are deleted when their process has died, and not before", async () => {
    const begin = async (id: string) => {
      await writer.do("begin", id, { owner: owner.name });
      await writer.do("pages", id, { ...batchOf({ 0: "zero" }), version: 1, roomBytes });
    };
    await begin("e1");
    await reader.deleteOrphans((name) => processes.other.isAlive(name));
    expect(await image({ 0: 1 })).toEqual({ 0: "zero" });
    await reader.deleteOrphans(async () => false);
    await eventually(async () => !(await image({ 0: 1 }).catch(() => undefined)));
    await save(writer, "e1", fresh(owner.name), { texts: { 0: "zero" } });
    await reader.deleteOrphans(async () => false);
    expect(await image({ 0: 1 })).toEqual({ 0: "zero" });
  });
}
