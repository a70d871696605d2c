/** A program that schedules and events start is checked before, by the version that its user has accepted. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { App } from "../../../src/app/app.ts";
import { toClaudikinsError } from "../../../src/base/errors.ts";
import type { Log } from "../../../src/base/log.ts";
import { silentLog } from "../../../src/base/log.ts";
import { ProgramLibrary } from "../../../src/programs/saved/library.ts";
import { Scheduler } from "../../../src/programs/saved/scheduler.ts";
import { Schedules } from "../../../src/programs/saved/schedules.ts";
import { unattendedProgram } from "../../../src/programs/saved/unattended.ts";
import { cli } from "../../cli/in-memory.ts";
import { eventually } from "../../support/eventually.ts";
import { type Project, project } from "../../tools/generation/project.ts";

setDefaultTimeout(60_000);

let folder: Project;
beforeEach(() => {
  folder = project();
});
afterEach(() => folder[Symbol.dispose]());

const order = (field: string) => ({
  type: "object",
  properties: { [field]: { type: "number" } },
  required: [field],
});

/** The server offers the tool `list`, whose orders have this field. */
function offer(field: string, more: object = {}): void {
  const outputSchema = { type: "object", properties: { orders: { type: "array", items: order(field) } } };
  const answer = { content: [], structuredContent: { orders: [{ cents: 100 }] } };
  const tool = { inputSchema: { type: "object", ...more }, outputSchema, _results: { NaN: answer } };
  folder.configure({ shop: { ...folder.offering("shop", { list: tool }), labels: { "*": [] } } });
}

async function done(...argv: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await cli(argv, { cwd: folder.path, env: { CLAUDIKINS_DAEMON: "off" } });
  expect([argv, exitCode, exitCode === 0 ? "" : stderr]).toEqual([argv, 0, ""]);
  return stdout;
}

const code = "const { orders } = await shop.list({});\nreturn orders[0].cents + 1;";

async function kept(): Promise<void> {
  offer("cents");
  folder.write("total.ts", code);
  await done("programs", "save", "total.ts", "--name", "total");
  await done("programs", "record", "total");
  await done("programs", "schedule", "total", "--cron", "* * * * *");
}

/** Undefined if the program may start. */
async function refusal(app: App): Promise<{ code: string; message: string; hint?: string | undefined } | undefined> {
  try {
    await unattendedProgram("total", app.config.savedPrograms, app);
    return undefined;
  } catch (error) {
    const { code, message, hint } = toClaudikinsError(error);
    return { code, message, hint };
  }
}

async function refusedNow() {
  await using app = await folder.open();
  return await refusal(app);
}

const gone =
  'line 1: shop.list: orders[*].cents is gone; it may be "amount" now. output is a text ("NaN"); it was a number (101)';

test("a program whose check fails is not started, unless its user says so for the same reasons", async () => {
  await kept();
  expect(await refusedNow()).toBeUndefined();
  offer("amount");
  expect(await refusedNow()).toEqual({
    code: "DEFINITION_CHANGED",
    message: `The saved program "total" was not started, because it would break: ${gone}`,
    hint: "To see why: claudikins programs check total. To let it run anyway: claudikins programs accept total --anyway",
  });
  expect(await done("programs", "accept", "total", "--anyway")).toBe(
    `total runs as version 1, with the programs that it calls as they are now\nSchedules and events start it although its check fails:\n  ${gone}\n`,
  );
  expect(await refusedNow()).toBeUndefined();
  offer("amount", { properties: { shop: { type: "string" } }, required: ["shop"] });
  expect((await refusedNow())?.message).toEndWith("(and 1 more reason)");
  await done("programs", "accept", "total");
  offer("amount");
  expect((await refusedNow())?.code).toBe("DEFINITION_CHANGED");
});

test("a schedule keeps why the program was not started", async () => {
  await kept();
  offer("amount");
  await using app = await folder.open();
  const schedules = new Schedules(app.config.savedPrograms);
  const place = {
    place: app.config.savedPrograms,
    open: async () => ({ executions: await app.executions(), parts: app }),
  };
  const scheduler = new Scheduler([place], silentLog, () => Date.now() + 120_000);
  await scheduler.look();
  expect(schedules.find("total")?.lastRun?.end).toMatchObject({ ok: false, message: expect.stringContaining(gone) });
  await scheduler.close();
});

test("the accepted version starts, and recordings of a newer one say nothing about it", async () => {
  await kept();
  folder.write("total.ts", code.replace("+ 1", "+ 2"));
  await done("programs", "save", "total.ts", "--name", "total", "--replace");
  await done("programs", "record", "total", "--as", "newer");
  await done("programs", "record", "total");
  await using app = await folder.open();
  const place = app.config.savedPrograms;
  expect((await unattendedProgram("total", place, app)).code).toBe(code);
  await done("programs", "accept", "total", "--yes");
  // The first recording is of the version before.
  expect((await refusal(app))?.message).toContain("Its test total.recording.json fails: output is 102; it was 101");
  expect(new ProgramLibrary(place).get("total").accepted).toBe(2);
});

test("a server that lists other tools is judged at once, in the log", async () => {
  await kept();
  const lines: string[] = [];
  const log: Log = { ...silentLog, warn: (line) => lines.push(line) };
  await using app = await folder.open({ log, watchesPrograms: true });
  await app.catalog.list("shop");
  offer("cents", { properties: { more: { type: "string" } } });
  await app.catalog.list("shop");
  offer("amount");
  await app.catalog.list("shop");
  await eventually(() => lines.some((line) => line.includes("would break")));
  expect(lines.filter((line) => line.includes("would break"))).toEqual([
    `shop changed: 1 of 1 saved program would break: total, because ${gone}. To see all: claudikins programs check --all`,
  ]);
});
