/** The files in which version 0.1.0 kept the audit log are taken over once, with their hashes and their damage. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../../../src/base/sha256.ts";
import type { AuditLine, Decider } from "../../../src/store/audit/event.ts";
import { verify } from "../../../src/store/audit/verify.ts";
import { record } from "../../../src/store/sqlite/audit.ts";
import { auditLog } from "../../../src/store/sqlite/store.ts";
import { auditTexts } from "../../support/audit.ts";
import { ownFolder } from "../../support/own-folder.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
const file = () => join(folder.path, "executions.sqlite");
const texts = () => auditTexts(file());
const verified = (wanted?: string) => verify(auditLog({ file: file() }), wanted);
const moved = () =>
  readdirSync(folder.path)
    .filter((name) => name.startsWith("audit"))
    .sort();

const by: Decider = { place: "command", user: "ada", pid: 7, terminal: true };

/** The lines of an earlier log. */
function chain(...tools: string[]): string[] {
  let previous = "0".repeat(64);
  return tools.map((tool, at) => {
    const text = JSON.stringify({ entry: at + 1, previous, at: 1_000 + at, decision: "approved", tool, by });
    previous = sha256(text);
    return text;
  });
}

const three = chain("one", "two", "three");
const headOf = (lines: readonly string[]) => ({ entry: lines.length, sha256: sha256(lines.at(-1)!) });

interface Earlier {
  /** Null if there is none. */
  head?: object | string | null;
  /** The beginning of a line that was not written completely. */
  torn?: string;
}

/** Writes a log as version 0.1.0 did. */
function earlier(lines: readonly string[], { head = headOf(lines), torn = "" }: Earlier = {}): void {
  const whole = (some: readonly string[]) => some.map((line) => `${line}\n`).join("");
  folder.write("audit/000001.jsonl", whole(lines.slice(0, 2)));
  folder.write("audit/000002.jsonl", whole(lines.slice(2)) + torn);
  if (head !== null) folder.write("audit/head.json", typeof head === "string" ? head : JSON.stringify(head));
  folder.write("audit/.lock", "");
}

test("lines keep their hashes, new lines continue the chain, and the files stay under another name", async () => {
  earlier(three);
  await record(file(), [{ decision: "denied" }], by);
  expect(texts().slice(0, 3)).toEqual(three);
  expect(JSON.parse(texts()[3]!)).toMatchObject({ entry: 4, previous: sha256(three[2]!), decision: "denied" });
  expect(await verified(sha256(three[1]!))).toEqual({
    entries: 4,
    sha256: sha256(texts()[3]!),
    notes: [],
    contains: true,
  });
  expect(moved()).toEqual([expect.stringMatching(/^audit-[0-9a-f-]{36}$/)]);
  expect(readFileSync(join(folder.path, moved()[0]!, "000001.jsonl"), "utf8")).toContain(three[0]!);
});

test("a list reads an earlier log before anything new is recorded", async () => {
  earlier(three);
  expect(await verified()).toMatchObject({ entries: 3, notes: [] });
});

test("nothing is taken over twice, and a log that was moved aside by a process that died is taken over", async () => {
  earlier(three);
  const died = `audit-${crypto.randomUUID()}`;
  renameSync(join(folder.path, "audit"), join(folder.path, died));
  for (let time = 0; time < 3; time++) expect(await verified()).toMatchObject({ entries: 3 });
  expect(moved()).toEqual([died]);
});

test("processes that look at the same moment take it over once", async () => {
  earlier(three);
  const script = join(import.meta.dir, "append.ts");
  const writers = ["a", "b"].map((name) =>
    Bun.spawn([process.execPath, script, file(), name, "5"], { stderr: "inherit" }),
  );
  expect(await Promise.all(writers.map(({ exited }) => exited))).toEqual([0, 0]);
  expect(texts().slice(0, 3)).toEqual(three);
  expect(await verified()).toMatchObject({ entries: 13, notes: [] });
});

test("entries that a running process of the earlier version adds later are recorded again, at the end of the chain", async () => {
  earlier(three);
  await record(file(), [{ decision: "denied" }], by);
  earlier(chain("later"));
  expect(await verified()).toMatchObject({ entries: 5, notes: [] });
  expect(JSON.parse(texts()[4]!)).toMatchObject({ entry: 5, tool: "later", at: 1_000, by });
  expect((await verified()).problem).toBeUndefined();
  expect(moved()).toHaveLength(2);
});

test("an empty log leaves nothing", async () => {
  folder.write("audit/.lock", "");
  folder.write("audit/head.json", JSON.stringify({ entry: 0, sha256: "0".repeat(64) }));
  expect(await verified()).toEqual({ entries: 0, sha256: "0".repeat(64), notes: [] });
});

test("other files beside the database whose names begin with audit are left alone", async () => {
  folder.write("audit-2026.jsonl", three.join("\n"));
  folder.write("audit-copies/000001.jsonl", three.join("\n"));
  await record(file(), [{ decision: "denied" }], by);
  expect(await verified()).toMatchObject({ entries: 1 });
  expect(moved()).toEqual(["audit-2026.jsonl", "audit-copies"]);
});

test("a file with the name of the folder is left alone", async () => {
  folder.write("audit", "not a folder");
  await record(file(), [{ decision: "denied" }], by);
  expect(await verified()).toMatchObject({ entries: 1 });
  expect(existsSync(join(folder.path, "audit"))).toBe(true);
});

test("a line that was not written completely is named, and the chain holds", async () => {
  earlier(three, { torn: '{"entry":4,"prev' });
  expect(await verified()).toMatchObject({
    entries: 4,
    notes: ["the line before entry 4 was not written completely"],
  });
  expect((await verified()).problem).toBeUndefined();
  expect((JSON.parse(texts().at(-1)!) as AuditLine).decision).toBe("recovered");
});

test("an earlier line that was not written completely does not break the chain", async () => {
  const torn = '{"entry":4,"prev';
  const text = JSON.stringify({
    entry: 4,
    previous: sha256(three[2]!),
    at: 1,
    decision: "recovered",
    torn: sha256(torn),
    by,
  });
  earlier([...three, torn, text], { head: { entry: 4, sha256: sha256(text) } });
  expect(await verified()).toMatchObject({ entries: 4, notes: [expect.any(String)] });
  expect((await verified()).problem).toBeUndefined();
});

describe("a problem of the files stays one:", () => {
  test.each<[string, string[], Earlier, string]>([
    ["a missing head", three, { head: null }, "entry 4 records that head.json was missing"],
    ["a damaged head", three, { head: "" }, "entry 4 records that head.json was missing"],
    ["missing lines", three.slice(0, 2), { head: headOf(three) }, "entry 3 records that entry 3 with the hash"],
    [
      "a changed last line",
      [...three.slice(0, 2), three[2]!.replace("three", "other")],
      { head: headOf(three) },
      "entry 4 records that entry 3",
    ],
    ["a changed line", [three[0]!.replace("one", "six"), ...three.slice(1)], {}, "entry 1 was changed, or entry 2 was"],
    ["a removed line", [three[0]!, three[2]!], { head: headOf(three) }, "entry 2 is missing"],
    [
      "a line without an entry",
      [...three.slice(0, 1), "no entry", ...three.slice(1)],
      { head: headOf(three) },
      "the line after entry 1 is not an entry",
    ],
  ])("%s", async (_, lines, options, expected) => {
    earlier(lines, options);
    expect((await verified()).problem).toStartWith(expected);
    await record(file(), [{ decision: "denied" }], by);
    expect((await verified()).problem).toStartWith(expected);
  });

  test("a head that is one line behind comes from a process that died, and is none", async () => {
    earlier(three, { head: headOf(three.slice(0, 2)) });
    expect(await verified()).toMatchObject({ entries: 3, notes: [] });
    expect((await verified()).problem).toBeUndefined();
  });
});
