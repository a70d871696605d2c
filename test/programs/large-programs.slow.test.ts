/** Programs with large memories and large answers: what is written for them is limited, they block nothing, and nothing of them is lost. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { storeFile } from "../../src/config/locations.ts";
import type { Outcome } from "../../src/sandbox/contract.ts";
import { openDatabase } from "../../src/store/sqlite/database.ts";
import { eventually } from "../support/eventually.ts";
import { fixture } from "../support/servers.ts";
import { inStore } from "../support/stored.ts";
import { type Project, project } from "../tools/generation/project.ts";

setDefaultTimeout(240_000);

const megabyte = 1_048_576;

let folder: Project;
let counts: string;
beforeEach(() => {
  folder = project();
  counts = join(folder.path, "counts");
  folder.configure({ counting: fixture("counting", counts) });
});
afterEach(() => folder[Symbol.dispose]());

const env = () => ({ PATH: process.env["PATH"], HOME: folder.path, CI: "true" });
const calls = () => (existsSync(counts) ? readFileSync(counts, "utf8").split("\n").length - 1 : 0);

/** Code that fills the memory with bytes that hardly become smaller. `sum()` tells whether they are still the same. */
const fill = (mb: number) => `const block = crypto.getRandomValues(new Uint8Array(65536));
  const rows = Array.from({ length: ${mb * 16} }, (_, n) => { const row = new Uint8Array(65536); row.set(block); row[n % 65536] = n; return row; });
  const sum = () => rows.reduce((all, row, n) => all + (row[n % 65536] === n % 256 ? 1 : 0), 0);`;

function valueIn(outcome: Outcome): unknown {
  if (!outcome.ok) throw new Error(`${outcome.reason}: ${outcome.error.message}`);
  return outcome.value;
}

/** Bytes that this process has written, to files and pipes. */
const written = () => Number(/wchar: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);

/** Measures the longest time in which no timer fired, until `work` is done. */
async function longestBlock(work: () => Promise<unknown>): Promise<number> {
  let [last, longest] = [performance.now(), 0];
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  await work();
  clearInterval(timer);
  return Math.max(longest, performance.now() - last);
}

/** Runs a program in another process, kills that process once `ready` resolves, and returns the id. */
async function killed(code: string, ready: () => Promise<unknown>): Promise<string> {
  const script = join(import.meta.dir, "stored", "run.ts");
  const child = Bun.spawn([process.execPath, script, code], { cwd: folder.path, env: env(), stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  await ready();
  child.kill("SIGKILL");
  await child.exited;
  return Buffer.from(value ?? [])
    .toString()
    .trim();
}

describe.if(process.platform === "linux")("the data written", () => {
  test("is what changes between the calls of a program with a memory of 40 MB, not its whole memory each time", async () => {
    await using app = await folder.open();
    const executions = await app.executions();
    const source = `${fill(40)} for (let n = 0; n < 20; n++) await counting.act({}); return sum()`;
    const before = written();
    const { outcome } = executions.start({ source }, app, { isBackground: true });
    expect(valueIn(await outcome)).toBe(640);
    expect(written() - before).toBeLessThan(500 * megabyte);
  });

  test("stays limited for a program that changes all of its memory between its calls", async () => {
    await using app = await folder.open();
    const executions = await app.executions();
    const source = `${fill(40)}
      for (let n = 0; n < 200; n++) { await counting.act({}); for (const row of rows) for (let at = 0; at < 65536; at += 4096) row[at] += 1; }
      return "all"`;
    const before = written();
    const request = { source, limits: { timeoutMs: 12_000 } };
    const { outcome } = executions.start(request, app, { isBackground: true });
    // It waits before its calls, and its time limit goes on.
    expect(await outcome).toMatchObject({ ok: false, reason: "timeout" });
    expect(written() - before).toBeLessThan(1_500 * megabyte);
  });

  test("is not the log and the displayed values again with each call", async () => {
    await using app = await folder.open();
    const executions = await app.executions();
    const source = `for (let n = 0; n < 40_000; n++) console.log("line " + n, crypto.randomUUID());
      display("shown ".repeat(1_000_000));
      for (let n = 0; n < 60; n++) await counting.act({}); return 1`;
    const before = written();
    const { outcome } = executions.start({ source }, app, { isBackground: true });
    const ended = await outcome;
    expect(valueIn(ended)).toBe(1);
    expect(ended.logs).toHaveLength(40_000);
    expect(written() - before).toBeLessThan(200 * megabyte);
  });
});

test("six programs with memories of 40 MB that are saved together block the thread of their process for no second", async () => {
  await using app = await folder.open();
  const executions = await app.executions();
  const source = `${fill(40)} await counting.act({}); await counting.act({}); return sum()`;
  const longest = await longestBlock(async () => {
    // All of them share two cores.
    const limits = { timeoutMs: 300_000 };
    const start = () => executions.start({ source, limits }, app, { isBackground: true }).outcome;
    const all = Array.from({ length: 6 }, start);
    expect((await Promise.all(all)).map(valueIn)).toEqual(all.map(() => 640));
  });
  expect(longest).toBeLessThan(1_000);
});

describe("after the process was killed", () => {
  test("while it saved a large program, the program continues from the save before, and no call is made twice", async () => {
    const until = join(folder.path, "go");
    // The second save has everything again. The process is killed at some moment of it.
    const code = `${fill(30)} await counting.act({ name: "first" });
      for (const row of rows) row[60_000] = 1;
      const { count } = await counting.act({ name: "second" });
      await counting.read_wait({ until: ${JSON.stringify(until)} });
      return [sum(), rows.every((row) => row[60_000] === 1), count]`;
    for (const delayMs of [0, 150]) {
      const already = calls();
      const id = await killed(code, async () => {
        await eventually(() => calls() >= already + 1, { everyMs: 1 });
        await Bun.sleep(delayMs);
      });
      await Bun.write(until, "");
      await using app = await folder.open();
      const outcome = await (await (await app.executions()).follow(id, app)).outcome;
      if (outcome.ok) expect((outcome.value as unknown[]).slice(0, 2)).toEqual([480, true]);
      else expect(outcome.error.code).toBe("CALL_OUTCOME_UNKNOWN");
      const acts = readFileSync(counts, "utf8")
        .split("\n")
        .slice(already, -1)
        .map((line) => JSON.parse(line) as string[]);
      const named = (name: string) => acts.filter((words) => words.includes(name)).length;
      expect([named("first"), named("second")]).toEqual(outcome.ok ? [1, 1] : [1, named("second")]);
      expect(named("second")).toBeLessThanOrEqual(1);
    }
  });

  test("the program has its logs, displayed values and large texts", async () => {
    const until = join(folder.path, "go");
    const code = `const text = "0123456789".repeat(500_000) + crypto.randomUUID();
      for (let n = 0; n < 3_000; n++) console.log("line", n);
      display({ shown: "x".repeat(700_000) });
      await counting.act({});
      console.log("after");
      await counting.read_wait({ until: ${JSON.stringify(until)} });
      return text.length`;
    const id = await killed(code, async () => {
      await eventually(() => calls() >= 2);
    });
    await Bun.write(until, "");
    await using app = await folder.open();
    const outcome = await (await (await app.executions()).follow(id, app)).outcome;
    expect(valueIn(outcome)).toBe(5_000_036);
    expect(outcome.logs.map(({ text }) => text)).toEqual([
      ...Array.from({ length: 3_000 }, (_, n) => `line ${n}`),
      "after",
    ]);
    // A large value without blocks is displayed as its text.
    expect(outcome.display).toEqual([{ type: "text", text: JSON.stringify({ shown: "x".repeat(700_000) }) }]);
  });
});

describe("when the store has no room", () => {
  const narrow = () =>
    folder.write("claudikins.json", {
      mcpServers: { counting: fixture("counting", counts) },
      executions: { totalMb: 16 },
    });
  const code = (until: string) => `${fill(30)} await counting.act({});
    await counting.wait({ until: ${JSON.stringify(until)} }); return sum()`;

  test("a program continues without being saved, and others can start when it has ended", async () => {
    narrow();
    const until = join(folder.path, "go");
    await using app = await folder.open();
    const executions = await app.executions();
    const first = executions.start({ source: code(until) }, app, { isBackground: true });
    await eventually(() => calls() >= 2);
    const row = await inStore(env(), ({ executions }) => executions.get(first.id));
    expect(row).toMatchObject({ isSaved: false, state: "open" });
    expect(row?.unsaved).toContain("executions.totalMb");
    await Bun.write(until, "");
    expect(valueIn(await first.outcome)).toBe(480);
    const second = executions.start({ source: "return 1" }, app, { isBackground: true });
    expect(valueIn(await second.outcome)).toBe(1);
  });

  test("a killed program that was not saved is lost, and the error says why", async () => {
    narrow();
    const id = await killed(code("/nowhere/at-all"), async () => {
      await eventually(() => calls() >= 2);
    });
    await using app = await folder.open();
    const error = await (await app.executions()).follow(id, app).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "EXECUTION_LOST",
      message: expect.stringContaining("its program was not saved: the programs that wait have filled the room"),
    });
  });

  test("a program does not start in the background, and the error says how to make room", async () => {
    narrow();
    await using app = await folder.open();
    const executions = await app.executions();
    valueIn(await executions.start({ source: "return 1" }, app, { isBackground: true }).outcome);
    const database = await openDatabase(storeFile(env()));
    database.run("UPDATE executions SET value = ?", [JSON.stringify("x".repeat(20 * megabyte))]);
    database.close();
    const { outcome } = executions.start({ source: "return await counting.act()" }, app, { isBackground: true });
    expect(await outcome.catch((thrown: unknown) => thrown)).toMatchObject({
      code: "FILE_NOT_WRITABLE",
      hint: expect.stringContaining("claudikins executions cancel"),
    });
    expect(calls()).toBe(0);
  });
});
