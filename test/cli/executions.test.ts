/** `claudikins executions`, and `trace`, its former name, on records made by hand: the list, the waterfall at every width, what is found by which name, and what is refused. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { barOf } from "../../src/cli/output/waterfall-text.ts";
import { newId } from "../../src/programs/trace/id.ts";
import type { ExecutionRecord } from "../../src/programs/trace/record.ts";
import { callOf, recordOf } from "../programs/trace/records.ts";
import { ownFolder } from "../support/own-folder.ts";
import { storedSummaries, storeRecord } from "../support/stored.ts";
import { type CliOptions, cli, page } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
beforeEach(() => {
  folder.write("claudikins.json", { mcpServers: {} });
});

const run = (argv: string[], options: CliOptions = {}) => cli(["trace", ...argv], { cwd: folder.path, ...options });

async function write(given: Partial<ExecutionRecord>): Promise<ExecutionRecord> {
  const record = recordOf({ config: join(folder.path, "claudikins.json"), ...given });
  await storeRecord(folder.path, record);
  return record;
}

/** Records that are older than the maximum age would be deleted. */
const at = Date.now() - 2.5 * 3_600_000;
const idAt = (moment: number, end: string) => `${newId(moment).slice(0, -end.length)}${end}`;
const knownId = idAt(at, "74");
const otherId = idAt(at + 5_000, "84");

/** Two concurrent calls, then one that failed, and one that was cancelled. */
const known: Partial<ExecutionRecord> = {
  id: knownId,
  durationMs: 1_000,
  calls: 4,
  failures: 1,
  timeline: [
    callOf({ startMs: 0, endMs: 500, line: 2 }),
    callOf({ server: "files", tool: "read", startMs: 250, endMs: 500, line: 3, resultChars: 1_234_567 }),
    callOf({ startMs: 500, endMs: 750, line: 12, outcome: "failed", code: "TOOL_FAILED", resultChars: 0 }),
    callOf({ startMs: 750, endMs: 1_000, outcome: "cancelled", resultChars: 0 }),
  ],
  at,
};

/** Without times and folders; known ids are shortened to their last letters. */
async function shown(argv: string[], options: CliOptions = {}): Promise<string> {
  return page(["trace", ...argv], await run(argv, options), folder.path)
    .replace(/[^/\s]+\/claudikins\.json/g, "FOLDER/claudikins.json")
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/g, "TIME")
    .replaceAll(knownId, "ID------74")
    .replaceAll(otherId, "ID------84");
}

describe("the waterfall", () => {
  beforeEach(() => write(known));

  test("uses plain characters in a pipe", async () => {
    expect(await shown(["last"])).toMatchSnapshot();
  });

  test("uses blocks and colours at a terminal, and its full width", async () => {
    expect(await shown(["last"], { terminal: true, columns: 100 })).toMatchSnapshot();
    expect(await shown(["last"], { terminal: true, columns: 100, env: { NO_COLOR: "1" } })).toMatchSnapshot();
  });

  test.each([60, 80, 132, 200])("has no line longer than a terminal of %d columns", async (columns) => {
    const { stdout } = await run(["last"], { terminal: true, columns });
    const rows = Bun.stripANSI(stdout).split("\n").slice(3);
    expect(rows.length).toBeGreaterThan(4);
    for (const row of rows) expect([row, Bun.stringWidth(row) <= columns]).toEqual([row, true]);
  });

  test("shows the longest calls up to --limit, failed ones first, and counts the others", async () => {
    const { stdout } = await run(["last", "--limit", "2"]);
    expect(stdout).toContain("TOOL_FAILED");
    expect(stdout).toContain("cancelled");
    expect(stdout).toContain("… 2 more calls that took less time: 750 ms in total");
  });

  test("is the record with --json", async () => {
    const { stdout } = await run(["last", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject(known);
  });
});

test("a bar has the position and length of its time, and is visible even for no time", () => {
  const bar = (startMs: number, endMs: number, outcome: "ok" | "failed" | "cancelled" = "ok") =>
    barOf({ startMs, endMs, outcome }, 100, 10, true);
  expect(bar(0, 100)).toBe("██████████");
  expect(bar(50, 75)).toBe("     ██▌");
  expect(bar(0, 0)).toBe("▏");
  expect(bar(100, 100)).toBe("         ▐");
  expect(bar(25, 60)).toBe("  ▐███");
  expect(bar(20, 40, "cancelled")).toBe("  ░░");
  expect(barOf({ startMs: 20, endMs: 40, outcome: "failed" }, 100, 10, false)).toBe("  xx");
  expect(barOf({ startMs: 20, endMs: 21, outcome: "ok" }, 100, 10, false)).toBe("  #");
});

test("control characters in tool names are replaced", async () => {
  await write({ timeline: [callOf({ tool: "a\u001b[2J\nb\u202e" })] });
  const { stdout } = await run(["last"]);
  expect(stdout).toContain("shop.a [2J b");
  expect(stdout).not.toMatch(/[^\P{C}\n]/u);
});

describe("the list", () => {
  test("has the executions of this config, or of all with --all, newest first", async () => {
    expect(await shown([])).toMatchSnapshot();
    await write({ at: at + 1, charsOut: 20_000 });
    await write({ at: at + 2, ok: false, reason: "timeout", error: { code: "X" }, failures: 1, calls: 3 });
    await write({ at: at + 3, config: null, startedBy: "serve", durationMs: 61_000 });
    const ids = (await storedSummaries(folder.path)).map(({ id }) => id);
    const named = (text: string) =>
      ids.reduce((known, id, place) => known.replaceAll(id.slice(0, 8), `id-${place}   `), text);
    expect(named(await shown([]))).toMatchSnapshot();
    expect(named(await shown(["--all"]))).toMatchSnapshot();
    expect(JSON.parse((await run(["--all", "--json", "--limit", "2"])).stdout).executions).toMatchObject([
      { id: ids[0] },
      { id: ids[1] },
    ]);
  });
});

test("the list has a span of time with --since and --until, and the executions of a person with --user", async () => {
  const old = await write({ at: Date.now() - 3 * 86_400_000, person: { id: "p1", name: "Ann" } });
  const recent = await write({ at: Date.now() - 3_600_000 });
  const ids = async (...argv: string[]) => {
    const { stdout } = await cli(["executions", "list", "--json", ...argv], { cwd: folder.path });
    return (JSON.parse(stdout) as { executions: { id: string }[] }).executions.map(({ id }) => id);
  };
  expect(await ids("--since", "4d")).toEqual([recent.id, old.id]);
  expect(await ids("--since", "4d", "--until", "2d")).toEqual([old.id]);
  expect(await ids("--until", "4d")).toEqual([]);
  for (const user of ["Ann", "p1"]) expect(await ids("--user", user)).toEqual([old.id]);
  expect(await ids("--user", "Bob")).toEqual([]);
});

test('an execution is found by its id, the beginning or the end of its id, the id of its receipt, or "last"', async () => {
  await write(known);
  const other = await write({ id: otherId, at: at + 5, receipt: "feedfeedfeed", config: null });
  const found = async (word: string) => JSON.parse((await run([word, "--json"])).stdout).id;
  expect(await found(knownId)).toBe(knownId);
  expect(await found("74")).toBe(knownId);
  // Ids begin with the time, so the first letters of both are the same.
  expect(await found(knownId.slice(0, 12))).toBe(knownId);
  expect(await found(knownId.slice(0, -1))).toBe(knownId);
  expect((await run([knownId.slice(0, 3)])).stderr).toBe(
    `error: Several executions begin or end with "${knownId.slice(0, 3)}"\n\nhint: One of: ${otherId}, ${knownId}\n`,
  );
  expect(await found("feedfeedfeed")).toBe(other.id);
  expect(await found("last")).toBe(knownId);
  expect(JSON.parse((await run(["last", "--all", "--json"])).stdout).id).toBe(other.id);
  for (const word of ["4", "nope", "../../claudikins", ""]) {
    expect([word, await shown([word])]).toMatchSnapshot();
  }
});

test("flags that exclude each other are refused", async () => {
  for (const argv of [
    ["--html", "x.html"],
    ["last", "--html", ""],
    ["last", "--html", "x.html", "--limit", "3"],
    ["--clear", "--limit", "3"],
    ["74", "--all"],
    ["--limit", "0"],
  ]) {
    const { exitCode, stdout, stderr } = await run(argv);
    expect([argv, exitCode, stdout]).toEqual([argv, 2, ""]);
    expect(stderr).toStartWith("error: ");
  }
});

describe("executions and trace", () => {
  const executions = (...argv: string[]) => cli(["executions", ...argv], { cwd: folder.path });

  test("are one list and one view", async () => {
    await write(known);
    await write({ id: otherId, at: at + 5 });
    expect((await executions()).stdout).toBe((await run([])).stdout);
    expect((await executions("show", "last")).stdout).toBe((await run(["last"])).stdout);
    expect(JSON.parse((await executions("--json")).stdout).executions).toMatchObject([
      { id: otherId, state: "ended", ok: true, record: { calls: expect.any(Number) } },
      { id: knownId, state: "ended", record: { failures: 1 } },
    ]);
    await executions("show", "last", "--html", "out.html");
    expect(readFileSync(join(folder.path, "out.html"), "utf8")).toStartWith("<!doctype html>");
    expect(await executions("clear", "74")).toMatchObject({ stderr: "Deleted: 1 execution.\n" });
    expect((await storedSummaries(folder.path)).map(({ id }) => id)).toEqual([otherId]);
  });

  test("show as much of an id as no other id has, and find the execution by it", async () => {
    const ids = ["0t80fs9gjc4vk2q7xh9mzc3wd8rn", "0t80fs9gjd4vk2q7xh9mzc3wd8rp", "0t90fs9gjc4vk2q7xh9mzc3wd8rq"];
    for (const [place, id] of ids.entries()) await write({ id, at: at + place });
    const shown = (await executions()).stdout
      .split("\n")
      .slice(1, 4)
      .map((line) => line.split(" ", 1)[0]!);
    expect(shown).toEqual(["0t90fs9g", "0t80fs9gjd", "0t80fs9gjc"]);
    for (const [place, short] of shown.entries()) {
      expect(JSON.parse((await executions("show", short, "--json")).stdout).id).toBe(ids[2 - place]!);
    }
  });

  test('name scheduled runs so, and "last" is the last execution that was not scheduled', async () => {
    await write({ ...known, startedBy: "serve" });
    await write({ id: otherId, at: at + 5, startedBy: "schedule" });
    expect((await executions()).stdout).toMatch(/ {2}schedule {2}.*\n.* {2}serve {2}.*\n$/);
    expect((await executions("show", "84")).stdout).toContain("  schedule · ok · ");
    for (const show of [await executions("show", "last", "--json"), await run(["last", "--json"])]) {
      expect(JSON.parse(show.stdout)).toMatchObject({ id: knownId, startedBy: "serve" });
    }
    await executions("clear", "last");
    expect((await executions("show", "last")).stderr).toBe(
      "error: Only schedules have run programs with this config\n\nhint: To list the executions of all configs: claudikins executions --all\n",
    );
  });
});

test("--html writes or replaces the page and prints its path, or says why it cannot", async () => {
  await write(known);
  folder.write("out.html", "old");
  const { exitCode, stdout, stderr } = await run(["last", "--html", "out.html"]);
  expect([exitCode, stdout, stderr]).toEqual([0, "", `Wrote ${join(folder.path, "out.html")}\n`]);
  expect(readFileSync(join(folder.path, "out.html"), "utf8")).toStartWith("<!doctype html>");
  expect(await run(["last", "--html", "claudikins.json/x.html"])).toMatchObject({ exitCode: 2, stdout: "" });
});

test("--clear deletes the executions of this config, or a single one", async () => {
  await write(known);
  const [one, other] = [await write({ at }), await write({ config: null })];
  expect(await run(["--clear", one.id, "--json"])).toMatchObject({ stdout: `{"cleared":["${one.id}"]}\n` });
  expect(await run(["--clear"])).toMatchObject({ exitCode: 0, stderr: "Deleted: 1 execution.\n" });
  expect((await storedSummaries(folder.path)).map(({ id }) => id)).toEqual([other.id]);
  expect(await run(["--clear"])).toMatchObject({ exitCode: 0, stderr: "There was nothing to delete.\n" });
});

test("completions offer ids", async () => {
  await write(known);
  const { stdout } = await cli(["complete", "fish", "--", "trace", ""], { cwd: folder.path });
  expect(stdout).toContain("last\t");
  expect(stdout).toContain(`${knownId}\t2 h ago, exec, ok, 1 s`);
});

test("--sort has the longest first, or the executions of one session after each other", async () => {
  const now = Date.now();
  const runs: [string, Partial<ExecutionRecord>][] = [
    ["first", { durationMs: 20, session: "s1" }],
    ["other session", { durationMs: 9_000, session: "s2" }],
    ["second", { durationMs: 400, session: "s1" }],
    ["from a shell", { durationMs: 400 }],
  ];
  for (const [place, [comment, facts]] of runs.entries()) {
    await write({ id: newId(now + place), at: now + place, comment, ...facts });
  }
  const run = (...argv: string[]) => cli(["executions", "list", ...argv], { cwd: folder.path });
  const listed = async (...argv: string[]) => {
    const { stdout } = await run("--json", ...argv);
    return JSON.parse(stdout).executions.map(({ comment }: { comment: string }) => comment);
  };
  expect(await listed()).toEqual(["from a shell", "second", "other session", "first"]);
  expect(await listed("--sort", "longest")).toEqual(["other session", "from a shell", "second", "first"]);
  expect(await listed("--sort", "session")).toEqual(["from a shell", "second", "first", "other session"]);
  const { stderr } = await run("--sort", "oldest");
  expect(stderr).toContain("--sort takes newest, longest or session");
});
