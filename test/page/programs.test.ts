/** Saved programs on the page: its answers about them, and what it does with them. A daemon runs them in `daemon.test.ts`. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { PageState } from "../../src/page/contract.ts";
import type { PageSaving } from "../../src/page/programs-contract.ts";
import { Page } from "../support/page.ts";
import { Scene } from "./scene.ts";

setDefaultTimeout(60_000);

const github = {
  entry: { command: "github-mcp" },
  tools: [
    {
      name: "list_issues",
      inputSchema: { type: "object", properties: { month: { type: "string", description: "YYYY-MM" } } },
    },
    { name: "merge" },
  ],
};
const config = { mcpServers: { github: github.entry }, doors: { qa: { servers: ["github"] } } };

let scene: Scene;
let page: Page;
beforeEach(async () => {
  scene = await Scene.open({ github }, JSON.stringify(config));
  page = await Page.open(scene.url);
});
afterEach(() => scene[Symbol.asyncDispose]());

const state = async () => (await (await page.get("api/state")).json()) as PageState;

/** The status and the answer. */
async function post(path: string, body: unknown): Promise<[number, Record<string, unknown>]> {
  const answer = await page.post(`api/${path}`, body);
  return [answer.status, (await answer.json()) as Record<string, unknown>];
}

const code = 'const all = await github.list_issues({ month: "2026-10" });\nreturn all.length;\n';

/** An execution that was recorded with its contents, behind the door if one is given. */
const recorded = (door?: string) =>
  scene.record({ hasContents: true, code: { chars: code.length, lines: 2, text: code }, timeline: [], door });

describe("the state", () => {
  test("has no programs and looks for none until one is saved", async () => {
    expect(await state()).toMatchObject({ programs: [], schedules: [], programProblems: [] });
  });

  test("has the programs of the config and of its doors, each with its own runs", async () => {
    await scene.program({ name: "count", number: 2, changes: ["month is new"] });
    await scene.program({ name: "count", description: "Counts behind the door.", savedBy: "agent" }, "qa");
    const [own, behind] = [
      await scene.record({ program: "count" }),
      await scene.record({ program: "count", door: "qa" }),
    ];
    await scene.record({ program: "count", config: "/other/claudikins.json" });
    const { programs, executions } = await state();
    expect(programs.map(({ door, runs }) => [door, runs.map(({ id }) => id)])).toEqual([
      [undefined, [own]],
      ["qa", [behind]],
    ]);
    expect(programs[0]).toMatchObject({
      call: "programs.count({ month })",
      calls: ["github.list_issues"],
      savedBy: "user",
      inputs: [{ name: "month", type: "text", isRequired: true, example: "2026-10" }],
      changed: expect.stringContaining("month is new"),
      runs: [{ stateText: "done", isOver: true, isRecorded: true }],
    });
    expect(executions.map(({ door, canBeSaved }) => [door, canBeSaved])).toEqual([
      ["qa", false],
      [undefined, false],
    ]);
  });

  test("has the schedules with their last runs, also after a run has changed nothing else", async () => {
    await scene.program({ name: "count" });
    await scene.schedule({ id: "daily", program: "count", input: { month: "2026-10" } });
    const [before] = (await state()).schedules;
    expect(before).toMatchObject({
      id: "daily",
      program: "count",
      input: '{"month":"2026-10"}',
      cron: "0 8 * * *",
      times: "at 08:00",
    });
    expect(before?.next).toBeGreaterThan(Date.now());
    const run = { due: 1, startedAt: 2, missed: 3, end: { at: 4, ok: false, message: "it failed" } };
    await scene.schedules().note("daily", (now) => ({ ...now, lastRun: run }));
    expect((await state()).schedules[0]?.lastRun).toEqual({
      startedAt: 2,
      missed: 3,
      ok: false,
      message: "it failed",
    });
  });

  test("names files that cannot be read, and has the others", async () => {
    await scene.program({ name: "count" });
    await scene.program({ name: "damaged", version: 99 as 1 });
    const { programs, programProblems } = await state();
    expect(programs.map(({ name }) => name)).toEqual(["count"]);
    expect(programProblems).toEqual([expect.stringContaining('"damaged"')]);
  });
});

describe("an execution", () => {
  const body = (execution: string, changes: object = {}) => {
    return { execution, name: "count", values: { month: "2026-10" }, ...changes };
  };

  test("is saved as it was shown: the code with its inputs, and its calls", async () => {
    const id = await recorded();
    expect((await state()).executions[0]?.canBeSaved).toBe(true);
    expect(await (await page.get(`api/executions/${id}/code`)).json()).toEqual({ code, calls: [] });
    const [, shown] = (await post("programs/preview", body(id))) as unknown as [number, PageSaving];
    expect(shown).toMatchObject({
      call: "programs.count({ month })",
      code: code.replace('"2026-10"', "input.month"),
      calls: ["github.list_issues"],
      inputs: [{ name: "month", type: "text", description: "YYYY-MM" }],
      replaced: [{ input: "month", places: 1 }],
      before: null,
      changes: [],
    });
    expect(scene.programs().names()).toEqual([]);
    expect(await post("programs/save", body(id, { before: shown.before }))).toEqual([200, { call: shown.call }]);
    expect(scene.programs().get("count")).toMatchObject({ code: shown.code, calls: shown.calls, savedBy: "user" });
  });

  test("behind a door is saved for the door", async () => {
    const id = await recorded("qa");
    expect((await post("programs/save", body(id, { door: "qa", before: null })))[0]).toBe(200);
    expect([scene.programs().names(), scene.programs("qa").names()]).toEqual([[], ["count"]]);
    expect(await post("programs/save", body(id, { door: "nobody", before: null }))).toMatchObject([422, {}]);
  });

  test("replaces another program only if that one was shown", async () => {
    const id = await recorded();
    await scene.program({ name: "count" });
    const { before, changes } = (await post("programs/preview", body(id)))[1] as unknown as PageSaving;
    expect(changes).toContain("its code is another");
    const [status, refusal] = await post("programs/save", body(id, { before: null }));
    expect([status, refusal["error"]]).toEqual([409, 'The program "count" was changed meanwhile. Nothing was saved']);
    expect((await post("programs/save", body(id, { before })))[0]).toBe(200);
    expect(scene.programs().get("count").code).toContain("return all.length");
  });

  test("is not saved if its code is not kept, if the name is not valid, or if a value is not in the code", async () => {
    const sizesOnly = await scene.record();
    const id = await recorded();
    const refused = async (path: string, asked: object) => {
      const [status, { error }] = await post(path, asked);
      return [status, error];
    };
    expect(await refused("programs/preview", body(sizesOnly))).toEqual([
      422,
      `The code of the execution "${sizesOnly}" is not stored`,
    ]);
    expect(await refused("programs/preview", body(id, { name: "../x" }))).toMatchObject([
      422,
      expect.stringContaining("../x"),
    ]);
    expect(await refused("programs/preview", body(id, { values: { month: "1999" } }))).toEqual([
      422,
      "The code has no value 1999 that could become input.month",
    ]);
    expect(scene.programs().names()).toEqual([]);
  });
});

describe("a program", () => {
  beforeEach(() => scene.program({ name: "count", code: "return 1;\n" }));

  test("shows its code on demand", async () => {
    expect(await (await page.get("api/programs/code?name=count")).json()).toEqual({ code: "return 1;\n" });
    expect((await page.get("api/programs/code?name=count&door=qa")).status).toBe(422);
    expect((await page.get("api/programs/code?name=..%2F..%2Fx")).status).toBe(422);
  });

  test("is scheduled with checked input and time, and unscheduled", async () => {
    const asked = { name: "count", input: { month: "2026-10" }, cron: "0 8 * * 1-5", zone: "Asia/Tokyo" };
    expect(await post("programs/schedule", { ...asked, input: {} })).toMatchObject([
      422,
      { error: expect.stringContaining("month") },
    ]);
    expect(await post("programs/schedule", { ...asked, cron: "soon" })).toMatchObject([422, {}]);
    expect(scene.schedules().ids()).toEqual([]);
    const [status, { next, isWatched }] = await post("programs/schedule", asked);
    // No daemon can run in this test.
    expect([status, isWatched]).toEqual([200, false]);
    expect(next).toBeGreaterThan(Date.now());
    expect(scene.schedules().all()).toMatchObject([{ id: "count", input: { month: "2026-10" }, zone: "Asia/Tokyo" }]);
    expect(await post("programs/schedule", asked)).toMatchObject([422, { error: expect.stringContaining("exists") }]);
    expect(await post("programs/unschedule", { name: "count" })).toEqual([200, {}]);
    expect(scene.schedules().ids()).toEqual([]);
  });

  test("shows the version that its schedules run, and runs the newest one there once it was seen", async () => {
    await scene.program({ name: "count", accepted: 1 });
    await scene.program({ name: "count", number: 2, accepted: 1 });
    const shown = async () => (await state()).programs.map(({ version, accepted }) => [version, accepted]);
    expect(await shown()).toEqual([[2, 1]]);
    expect(await post("programs/accept", { name: "count", version: 1 })).toMatchObject([422, {}]);
    expect(await post("programs/accept", { name: "count", version: "2" })).toMatchObject([400, {}]);
    expect(await post("programs/accept", { name: "count", version: 2 })).toEqual([200, {}]);
    expect(await shown()).toEqual([[2, undefined]]);
  });

  test("is named with the reasons if it would break", async () => {
    const drift = async () => (await page.get("api/programs/drift")).json();
    expect(await drift()).toEqual({ text: "", broken: [] });
    await scene.program({ name: "gone", code: "await shop.list({});", calls: ["shop.list"] }, "qa");
    expect(await drift()).toEqual({
      text: "1 of 2 saved programs would break",
      broken: [{ name: "gone", door: "qa", reasons: ['The config has no server "shop" any more'] }],
    });
  });

  test("is removed with its schedules, and not with those of a door", async () => {
    await scene.program({ name: "count" }, "qa");
    await scene.schedule({ id: "count" });
    await scene.schedule({ id: "count" }, "qa");
    expect(await post("programs/remove", { name: "count" })).toEqual([200, {}]);
    expect([scene.programs().names(), scene.schedules().ids()]).toEqual([[], []]);
    expect([scene.programs("qa").names(), scene.schedules("qa").ids()]).toEqual([["count"], ["count"]]);
    expect(await post("programs/remove", { name: "count" })).toMatchObject([
      422,
      { error: expect.stringContaining("count") },
    ]);
  });

  test("is run only with an input that fits", async () => {
    await scene.program({ name: "count", input: { type: "object", properties: { limit: { type: "integer" } } } });
    expect(await post("programs/run", { name: "count", input: { limit: "many" } })).toMatchObject([
      422,
      { error: expect.stringContaining('"limit" takes a whole number, got "many"') },
    ]);
    expect(await post("programs/run", { name: "count", input: { limit: "3" } })).toMatchObject([
      422,
      { hint: "Run it in a shell: claudikins programs run count" },
    ]);
  });

  test("is not touched by bodies that are not as expected", async () => {
    const wrong: [string, unknown][] = [
      ["run", { name: "count" }],
      ["run", { name: "count", input: { month: 1 } }],
      ["remove", { name: ["count"] }],
      ["remove", { name: "count", door: 1 }],
      ["remove", { name: "count", more: 1 }],
      ["unschedule", {}],
      ["schedule", { name: "count", input: {} }],
      ["save", { execution: "x", name: "count", values: {} }],
    ];
    for (const [action, body] of wrong)
      expect([action, (await post(`programs/${action}`, body))[0]]).toEqual([action, 400]);
    expect((await post("programs/nothing", {}))[0]).toBe(404);
    expect(scene.programs().names()).toEqual(["count"]);
  });
});

test("executions behind a door can be cancelled", async () => {
  const id = "0tqbch4mza";
  await scene.keep(id, "await sleep('6h')", { door: "qa" });
  expect((await state()).executions).toMatchObject([{ id, door: "qa", stateText: "running" }]);
  expect((await post(`executions/${id}/cancel`, {}))[0]).toBe(422);
  expect((await post(`executions/${id}/cancel`, { door: "qa" }))[0]).toBe(200);
  expect(scene.executions!.get(id)?.isCancelled).toBe(true);
});
