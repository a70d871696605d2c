/** The audit log: its chain of hashes, several writers, torn lines, and what a change of a file looks like. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { sha256 } from "../../../src/base/sha256.ts";
import { thisProcess } from "../../../src/policy/audit/decider.ts";
import type { AuditLine, Decider } from "../../../src/policy/audit/event.ts";
import { auditing } from "../../../src/policy/audit/log.ts";
import { verify } from "../../../src/policy/audit/verify.ts";
import { maxAuditFileBytes } from "../../../src/policy/limits.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const temporary = temporaryFolder();
afterAll(() => temporary[Symbol.dispose]());

const by: Decider = { place: "command", user: "ada", pid: 7, terminal: true, parent: "bash" };
let folder = "";
let count = 0;
beforeEach(() => {
  folder = join(temporary.path, `${++count}`);
});

const write = (tool: string, more: object = {}) =>
  auditing(folder, (each) => each({ decision: "approved", server: "github", tool, ...more }, by, 1_000));
async function three(): Promise<void> {
  for (const tool of ["one", "two", "three"]) await write(tool);
}
const file = (name = "000001.jsonl") => join(folder, name);
const texts = (name?: string) => readFileSync(file(name), "utf8").trimEnd().split("\n");
const lines = (name?: string) => texts(name).map((text) => JSON.parse(text) as AuditLine);
const rewrite = (change: (lines: string[]) => string[]) => writeFileSync(file(), `${change(texts()).join("\n")}\n`);

/** Four entries. The third has 3 MB. */
async function filled(): Promise<void> {
  await three();
  const padded = JSON.stringify({ ...lines()[2], padding: "z".repeat(3 * 1_048_576) });
  rewrite((all) => [...all.slice(0, -1), padded]);
  writeFileSync(file("head.json"), JSON.stringify({ entry: 3, sha256: sha256(padded) }));
  await write("four");
}

/** Bytes that this process has read and written. Zero where the system does not tell. */
function transferred(): number {
  if (process.platform !== "linux") return 0;
  const found = readFileSync("/proc/self/io", "utf8").matchAll(/^[rw]char: (\d+)$/gm);
  return [...found].reduce((sum, [, bytes]) => sum + Number(bytes), 0);
}

test("each line has its number and the hash of the line before it, in files for their user only", async () => {
  await three();
  const [first, second] = texts();
  expect(lines()[0]).toEqual({
    entry: 1,
    previous: "0".repeat(64),
    at: 1_000,
    decision: "approved",
    server: "github",
    tool: "one",
    by,
  });
  expect(lines().map(({ entry, previous }) => [entry, previous])).toEqual([
    [1, "0".repeat(64)],
    [2, sha256(first!)],
    [3, sha256(second!)],
  ]);
  if (process.platform !== "win32") {
    for (const name of ["000001.jsonl", "head.json"]) expect(statSync(file(name)).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  }
  expect(verify(folder)).toEqual({ entries: 3, sha256: sha256(texts()[2]!), notes: [] });
});

test("an empty log holds", () => {
  expect(verify(folder)).toEqual({ entries: 0, sha256: "0".repeat(64), notes: [] });
});

test("several processes write one chain", async () => {
  const script = join(import.meta.dir, "append.ts");
  const writers = ["a", "b", "c"].map((name) =>
    Bun.spawn([process.execPath, script, folder, name, "15"], { stderr: "inherit" }),
  );
  expect(await Promise.all(writers.map(({ exited }) => exited))).toEqual([0, 0, 0]);
  expect(verify(folder)).toMatchObject({ entries: 45, notes: [] });
  expect(verify(folder).problem).toBeUndefined();
  for (const name of ["a", "b", "c"]) {
    const calls = lines().flatMap(({ server, call }) => (server === name ? [call] : []));
    expect(calls).toEqual(Array.from({ length: 15 }, (_, at) => at + 1));
  }
});

test("an event that cannot be written fails the work, and nothing is decided", async () => {
  await write("one");
  rmSync(file());
  // A folder in the place of the file.
  temporary.write(`${count}/000001.jsonl/in-the-way`, "");
  expect(write("two")).rejects.toMatchObject({ code: "FILE_NOT_WRITABLE" });
});

test("long texts are shortened", async () => {
  await write("x".repeat(10_000));
  expect(lines()[0]?.tool).toHaveLength(501);
});

describe("a line that was not written completely", () => {
  test("is followed by an entry that says so, and the chain holds", async () => {
    await three();
    const whole = statSync(file()).size;
    await write("four");
    truncateSync(file(), whole + 30);
    writeFileSync(file("head.json"), JSON.stringify({ entry: 3, sha256: sha256(texts()[2]!) }));
    expect(verify(folder)).toMatchObject({ entries: 3, notes: [expect.stringContaining("not written completely")] });
    await write("five");
    expect(texts()).toHaveLength(6);
    expect([JSON.parse(texts()[4]!), JSON.parse(texts()[5]!)]).toMatchObject([
      { entry: 4, decision: "recovered", torn: sha256(texts()[3]!) },
      { entry: 5, tool: "five" },
    ]);
    expect(verify(folder)).toMatchObject({ entries: 5 });
    expect(verify(folder).problem).toBeUndefined();
  });

  test("does not hide a change of the line before it", async () => {
    await three();
    appendFileSync(file(), '{"entry":4,"prev');
    await write("five");
    rewrite((all) => all.map((text) => text.replace('"tool":"three"', '"tool":"other"')));
    expect(verify(folder).problem?.problem).toBe("entry 3 was changed, or entry 4 was");
  });
});

describe("verify finds", () => {
  test("a changed line", async () => {
    await three();
    rewrite((all) => all.map((text) => text.replace('"tool":"two"', '"tool":"six"')));
    expect(verify(folder)).toMatchObject({
      entries: 2,
      problem: { file: "000001.jsonl", problem: "entry 2 was changed, or entry 3 was" },
    });
  });

  test("a changed last line", async () => {
    await three();
    rewrite((all) => all.map((text) => text.replace('"tool":"three"', '"tool":"other"')));
    expect(verify(folder).problem?.problem).toContain("entry 3 was changed");
  });

  test("a removed, an inserted and an exchanged line", async () => {
    await three();
    const original = texts();
    rewrite(([one, , third]) => [one!, third!]);
    expect(verify(folder).problem?.problem).toBe("entry 2 is missing: entry 3 follows entry 1");
    rewrite(() => original.slice(1));
    expect(verify(folder).problem?.problem).toBe("entry 1 is missing: entry 2 follows entry 0");
    rewrite(() => [original[0]!, original[0]!, ...original.slice(1)]);
    expect(verify(folder)).toMatchObject({ entries: 1, problem: { file: "000001.jsonl" } });
    rewrite(() => [original[0]!, "no entry", ...original.slice(1)]);
    expect(verify(folder).problem?.problem).toBe("the line after entry 1 is not an entry");
  });

  test("lines that are missing at the end, also after the next entry", async () => {
    await three();
    rewrite((all) => all.slice(0, 1));
    expect(verify(folder)).toMatchObject({ entries: 1 });
    expect(verify(folder).problem?.problem).toContain("entries 2 to 3 are missing");
    await write("four");
    expect(lines().map(({ decision }) => decision)).toEqual(["approved", "broken", "approved"]);
    expect(verify(folder).problem?.problem).toContain("entry 2 records that entry 3 with the hash");
  });

  test("a missing file", async () => {
    await three();
    await Bun.write(file("000003.jsonl"), `${texts()[0]}\n`);
    expect(verify(folder).problem).toEqual({ file: "000003.jsonl", problem: "a file before it is missing" });
  });

  test("the hash that somebody noted earlier", async () => {
    await three();
    const noted = sha256(texts()[1]!);
    expect(verify(folder, noted).contains).toBe(true);
    expect(verify(folder, sha256("other")).contains).toBe(false);
  });
});

describe("a missing head", () => {
  test.each([
    ["missing", () => rmSync(file("head.json"))],
    ["empty", () => writeFileSync(file("head.json"), "")],
    ["no head", () => writeFileSync(file("head.json"), '{"entry":"2"}')],
  ])("is a problem, because entries at the end may have been removed with it: it is %s", async (_, damage) => {
    await three();
    damage();
    rewrite((all) => all.slice(0, 2));
    expect(verify(folder)).toMatchObject({
      entries: 2,
      problem: {
        file: "head.json",
        problem: "it is missing or damaged, so that entries after entry 2 may have been removed",
      },
    });
  });

  test("is recorded by the next entry, and stays a problem", async () => {
    await three();
    rmSync(file("head.json"));
    rewrite((all) => all.slice(0, 2));
    await write("four");
    await write("five");
    expect(lines().map(({ entry, decision }) => [entry, decision])).toEqual([
      [1, "approved"],
      [2, "approved"],
      [3, "broken"],
      [4, "approved"],
      [5, "approved"],
    ]);
    expect(verify(folder)).toMatchObject({
      entries: 2,
      problem: {
        problem:
          "entry 3 records that head.json was missing or damaged, so that entries after entry 2 may be missing too",
      },
    });
  });

  test("is recorded also if the last line was damaged with it", async () => {
    await three();
    rmSync(file("head.json"));
    rewrite((all) => [...all.slice(0, 2), "damaged"]);
    await write("four");
    expect(verify(folder).problem).toBeDefined();
    const added = texts().slice(3);
    expect(added.map((text) => JSON.parse(text))).toMatchObject([{ decision: "broken" }, { tool: "four" }]);
  });

  test("does not follow from the death of the process that wrote the first line: its head is there before the line", async () => {
    await write("one");
    const line = readFileSync(file());
    rmSync(folder, { recursive: true });
    // The first line cannot be written, as if the process had died before.
    mkdirSync(folder);
    symlinkSync("missing/file", file());
    expect(write("one")).rejects.toMatchObject({ code: "FILE_NOT_WRITABLE" });
    await write("one").catch(() => {});
    rmSync(file());
    expect(verify(folder)).toMatchObject({ entries: 0, notes: [] });
    writeFileSync(file(), line);
    expect(verify(folder)).toMatchObject({ entries: 1, notes: [] });
    expect(verify(folder).problem).toBeUndefined();
    await write("two");
    expect(lines().map(({ decision }) => decision)).toEqual(["approved", "approved"]);
    expect(verify(folder).problem).toBeUndefined();
  });
});

describe("many events at once", () => {
  const events = Array.from({ length: 500 }, (_, at) => ({ decision: "expired" as const, tool: `t${at}` }));

  test("are written with one look at the end of the log", async () => {
    await filled();
    const before = transferred();
    await auditing(folder, (each) => each(events, by));
    // The lines have about 200 KB, and 500 looks at the whole log would be 1.5 GB.
    expect(transferred() - before).toBeLessThan(2_000_000);
    expect(verify(folder)).toMatchObject({ entries: 504, notes: [] });
    expect(verify(folder).problem).toBeUndefined();
  });

  test("leave a log that holds if the process died before it wrote the head", async () => {
    await three();
    const head = readFileSync(file("head.json"));
    await auditing(folder, (each) => each(events, by));
    writeFileSync(file("head.json"), head);
    expect(verify(folder)).toMatchObject({ entries: 503, notes: [] });
    await write("last");
    expect(verify(folder)).toMatchObject({ entries: 504, notes: [] });
    expect(verify(folder).problem).toBeUndefined();
  });
});

test("an append reads the end of a large file only", async () => {
  await filled();
  const before = transferred();
  await write("five");
  expect(transferred() - before).toBeLessThan(200_000);
  expect(verify(folder)).toMatchObject({ entries: 5, notes: [] });
});

test("a last line that is longer than what is read at once is read whole", async () => {
  await three();
  await auditing(folder, (each) => each({ decision: "trusted", servers: Array(2_000).fill("é".repeat(100)) }, by));
  expect(texts()[3]!.length).toBeGreaterThan(200_000);
  await write("five");
  expect(verify(folder)).toMatchObject({ entries: 5, notes: [] });
  expect(verify(folder).problem).toBeUndefined();
});

test("a process that ended between the line and the head leaves a log that holds", async () => {
  await three();
  writeFileSync(file("head.json"), JSON.stringify({ entry: 2, sha256: sha256(texts()[1]!) }));
  expect(verify(folder).problem).toBeUndefined();
  await write("four");
  expect(verify(folder)).toMatchObject({ entries: 4, notes: [] });
});

test("a full file is followed by another one, and the chain continues in it", async () => {
  await three();
  await write("four");
  // The last line fills the file, as many lines would.
  const [last] = texts().slice(-1);
  const padded = JSON.stringify({ ...JSON.parse(last!), padding: "z".repeat(maxAuditFileBytes) });
  rewrite((all) => [...all.slice(0, -1), padded]);
  writeFileSync(file("head.json"), JSON.stringify({ entry: 4, sha256: sha256(padded) }));
  await write("five");
  expect(readdirSync(folder).filter((name) => name.endsWith(".jsonl"))).toEqual(["000001.jsonl", "000002.jsonl"]);
  expect(lines("000002.jsonl")).toMatchObject([{ entry: 5, previous: sha256(padded), tool: "five" }]);
  expect(verify(folder)).toMatchObject({ entries: 5, notes: [] });
  rewrite((all) => all.map((text) => text.replace('"tool":"two"', '"tool":"six"')));
  expect(verify(folder).problem?.file).toBe("000001.jsonl");
});

test("the decider is this process", () => {
  expect(thisProcess("terminal")).toMatchObject({ place: "terminal", pid: process.pid, terminal: expect.any(Boolean) });
  expect(thisProcess()).not.toHaveProperty("place");
  if (process.platform === "linux") expect(thisProcess().parent).toBeString();
});
