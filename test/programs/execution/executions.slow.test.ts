/** Executions that are kept: their outcome can be asked for later, and another process continues them when theirs has died. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { App } from "../../../src/app/app.ts";
import { storeFile } from "../../../src/config/locations.ts";
import type { Outcome } from "../../../src/sandbox/contract.ts";
import { openDatabase } from "../../../src/store/sqlite/database.ts";
import { ExecutionRows } from "../../store/sqlite/rows.ts";
import { eventually } from "../../support/eventually.ts";
import { fixture } from "../../support/servers.ts";
import { inStore } from "../../support/stored.ts";
import { type Project, project } from "../../tools/generation/project.ts";
import { callsIn, killed as runKilled } from "../stored/killed.ts";

// Many processes run at once on a small machine.
setDefaultTimeout(120_000);

let folder: Project;
let counts: string;
beforeEach(() => {
  folder = project();
  counts = join(folder.path, "counts");
  folder.configure({ counting: fixture("counting", counts) });
});
afterEach(() => folder[Symbol.dispose]());

const env = () => ({ PATH: process.env["PATH"], HOME: folder.path, CI: "true" });

/** The calls that the server has received: tool and name. */
const called = () => callsIn(counts);

async function untilCalled(count: number): Promise<void> {
  await eventually(() => called().length >= count);
}

async function stored(id: string) {
  const database = await openDatabase(storeFile(env()));
  try {
    const store = new ExecutionRows(database);
    return { row: store.get(id), calls: store.calls(id) };
  } finally {
    database.close();
  }
}

function valueIn(outcome: Outcome): unknown {
  if (!outcome.ok) throw new Error(`${outcome.reason}: ${outcome.error.message}`);
  return outcome.value;
}

const killed = (code: string, ready: () => Promise<unknown>) =>
  runKilled(code, { cwd: folder.path, env: env() }, ready);

async function continued(id: string, app: App): Promise<Outcome> {
  return (await (await app.executions()).follow(id, app)).outcome;
}

describe("in the same process", () => {
  test("the outcome of a program in the background stays", async () => {
    await using app = await folder.open();
    const executions = await app.executions();
    const { id, outcome } = executions.start({ source: "return 6 * 7" }, app, { isBackground: true });
    expect(valueIn(await outcome)).toBe(42);
    expect(valueIn(await continued(id, app))).toBe(42);
    expect((await stored(id)).row).toMatchObject({ state: "ended", owner: null, isSaved: false });
  });

  test("nothing is stored of a program whose id nobody has", async () => {
    await using app = await folder.open();
    const executions = await app.executions();
    const { id, outcome } = executions.start({ source: "return (await counting.act()).count" }, app);
    expect(valueIn(await outcome)).toBe(1);
    expect(existsSync(storeFile(env()))).toBe(false);
    await expect(executions.follow(id, app)).rejects.toMatchObject({ code: "EXECUTION_NOT_FOUND" });
  });

  test("a program that runs already is kept once its id is handed out", async () => {
    await using app = await folder.open();
    const executions = await app.executions();
    const until = join(folder.path, "go");
    const source = `const a = await counting.wait({ until: ${JSON.stringify(until)} }); return [a, await counting.act()]`;
    const execution = executions.start({ source }, app);
    await untilCalled(1);
    await execution.handOut();
    expect((await stored(execution.id)).calls).toMatchObject([{ call: 1, state: "sent", isRepeatable: false }]);
    await Bun.write(until, "");
    expect(valueIn(await execution.outcome)).toEqual([{ count: 1 }, { count: 2 }]);
  });

  test("a cancelled program is not left to another process, even if its own ends at the same moment", async () => {
    await using app = await folder.open();
    const executions = await app.executions();
    const running = executions.start({ source: "await sleep(60_000)" }, app, { isBackground: true });
    await running.stored();
    running.cancel();
    await executions.endOf(app);
    expect(await running.outcome).toMatchObject({ ok: false, reason: "cancelled" });
    expect([executions.left, (await stored(running.id)).row?.state]).toEqual([[], "ended"]);
  });

  test("another process's wish to cancel is heard", async () => {
    await using app = await folder.open();
    const executions = await app.executions();
    const source = 'await sleep("3h")';
    const { id, outcome } = executions.start({ source }, app, { isBackground: true });
    await eventually(async () => (await stored(id)).row?.wakeAt != null);
    await inStore(env(), async ({ executions }) => {
      const writer = executions.writer();
      await writer.do("askToCancel", id, {});
      await writer.close();
    });
    expect(await outcome).toMatchObject({ ok: false, reason: "cancelled" });
  });
});

describe("after the process was killed", () => {
  test("a call that may be repeated is made again, and the program continues where it was", async () => {
    const until = join(folder.path, "go");
    const code = `let sum = 0; const box = new Map([["a", [1, 2]]]); console.log("before");
      sum += (await counting.act({ name: "first" })).count;
      sum += (await counting.read_wait({ name: "second", until: ${JSON.stringify(until)} })).count;
      sum += (await counting.act({ name: "third" })).count;
      return { sum, box: box.get("a") };`;
    const id = await killed(code, () => untilCalled(2));
    await Bun.write(until, "");
    await using app = await folder.open();
    const outcome = await continued(id, app);
    expect(valueIn(outcome)).toEqual({ sum: 1 + 3 + 4, box: [1, 2] });
    expect(outcome.logs).toEqual([{ level: "log", text: "before" }]);
    expect(outcome.receipt).toMatchObject({ id, calls: 3, failures: 0 });
    expect(called()).toEqual(["act first", "read_wait second", "read_wait second", "act third"]);
  });

  test("a call that may have taken effect is not repeated: the program is told, and may catch it", async () => {
    const code = `const error = await counting.wait({ until: "/nowhere/at-all" }).catch((e) => e);
      return [error.name, error.code, (await counting.act({ name: "after" })).count];`;
    const id = await killed(code, () => untilCalled(1));
    await using app = await folder.open();
    const outcome = await continued(id, app);
    expect(valueIn(outcome)).toEqual(["ToolError", "CALL_OUTCOME_UNKNOWN", 2]);
    expect(outcome.receipt).toMatchObject({ calls: 2, failures: 1 });
    expect(called()).toEqual(["wait ", "act after"]);
  });

  test("a program that sleeps sleeps on until the same time", async () => {
    const code = 'await sleep("2h")';
    const id = await killed(code, () => untilStored(({ wakeAt }) => wakeAt !== null));
    await using app = await folder.open();
    const execution = await (await app.executions()).follow(id, app);
    let progress = await execution.progress();
    for (; progress.state !== "asleep"; progress = await execution.progress()) await Bun.sleep(10);
    expect(progress.until).toBe((await stored(id)).row?.wakeAt ?? 0);
    expect(progress.until).toBeGreaterThan(Date.now() + 7_000_000);
    execution.cancel();
    expect(await execution.outcome).toMatchObject({ ok: false, reason: "cancelled" });
  });

  test("a program that has not started yet starts", async () => {
    folder.configure({ counting: fixture("never-starts") });
    const id = await killed("return await counting.act()", () => Bun.sleep(0));
    folder.configure({ counting: fixture("counting", counts) });
    await using app = await folder.open();
    expect(valueIn(await continued(id, app))).toEqual({ count: 1 });
  });

  test("a program of another build is refused, and stays", async () => {
    const id = await killed("await counting.read_wait({ until: '/nowhere' })", () => untilCalled(1));
    const database = await openDatabase(storeFile(env()));
    database.run("UPDATE executions SET engine = '0.0.1 another'");
    database.close();
    await using app = await folder.open();
    await expect(continued(id, app)).rejects.toMatchObject({
      code: "EXECUTION_LOST",
      hint: "Continue it with that build, of version 0.0.1.",
    });
    expect((await stored(id)).row).toMatchObject({ state: "open", isSaved: true });
  });

  test("a program of another config is refused", async () => {
    const id = await killed("await counting.read_wait({ until: '/nowhere' })", () => untilCalled(1));
    const database = await openDatabase(storeFile(env()));
    database.run("UPDATE executions SET config = '/elsewhere/claudikins.json'");
    database.close();
    await using app = await folder.open();
    await expect(continued(id, app)).rejects.toMatchObject({
      code: "EXECUTION_NOT_FOUND",
      hint: "Add --config /elsewhere/claudikins.json",
    });
  });

  test("only one of two processes continues a program", async () => {
    const until = join(folder.path, "go");
    const code = `await counting.read_wait({ until: ${JSON.stringify(until)} }); return (await counting.act()).count`;
    const id = await killed(code, () => untilCalled(1));
    await using one = await folder.open();
    await using other = await folder.open();
    const outcomes = Promise.all([continued(id, one), continued(id, other)]);
    await Bun.write(until, "");
    expect((await outcomes).map(valueIn)).toEqual([3, 3]);
    expect(called()).toEqual(["read_wait ", "read_wait ", "act "]);
  });
});

async function untilStored(isReady: (row: { wakeAt: number | null }) => boolean): Promise<void> {
  for (;;) {
    const rows = await inStore(env(), ({ executions }) => executions.list());
    if (rows.some(isReady)) return;
    await Bun.sleep(20);
  }
}
