/** The file of a server's log: its lines, its size, concurrent writers, and a disk that cannot be written to. */
import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, truncateSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { silentLog } from "../../../src/base/log.ts";
import { shownLine } from "../../../src/base/visible-text.ts";
import { type LogLine, readLine, writtenLine } from "../../../src/servers/logs/line.ts";
import { LogFile } from "../../../src/servers/logs/log-file.ts";
import { configOwner, logFile } from "../../../src/servers/logs/place.ts";
import { findLogs, LogTail, logLines, readLog, removeLogs } from "../../../src/servers/logs/read-logs.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { runProgram } from "../../support/process.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
let logs: string;
beforeEach(() => {
  logs = join(folder.path, "data", "logs");
});

const owner = { server: "shop", config: null };
const line = (text: string, at = Date.now()): LogLine => ({ at, process: 42, kind: "stderr", text });
const open = (maxBytes?: number, log = silentLog) => new LogFile(owner, { folder: logs, log, maxBytes });
const texts = (path: string) => readLog(path).map(({ text }) => text);

test("a line of any kind is read as it was written", () => {
  for (const kind of ["start", "ready", "end", "failed", "stderr", "log", "error", "dropped"] as const) {
    const written = { at: 1_700_000_000_123, process: 4_711, kind, text: "  two  spaces, and: more" };
    expect(readLine(writtenLine(written).trimEnd())).toEqual(written);
  }
  for (const other of ["", "# {}", "2026", "never 1 stderr  x", "2026-11-21T11:00:00.000Z x stderr  x"])
    expect(readLine(other)).toBeUndefined();
});

test("a line contains no control characters", () => {
  expect(shownLine("\u001b[31mred\u001b[0m\tand\u0007\u001b]0;title\u0007 \u202Eevil\u2028x  \r\n")).toBe(
    "red\tand   evil x",
  );
  expect(shownLine("10 %\r50 %\r100 %\r\n")).toBe("100 %");
});

test("a log file and its folder are private, and the file names its server", async () => {
  const file = open();
  file.add(line("one"));
  file.add(line("two"));
  await file.end();
  file.add(line("after the end"));
  expect(statSync(logs).mode & 0o777).toBe(0o700);
  expect(statSync(file.path).mode & 0o777).toBe(0o600);
  expect(readFileSync(file.path, "utf8")).toStartWith('# {"server":"shop","config":null}\n');
  expect(texts(file.path)).toEqual(["one", "two", "after the end"]);
  expect(findLogs(logs)).toEqual([
    { ...owner, path: file.path, lastAt: statSync(file.path).mtimeMs, bytes: statSync(file.path).size },
  ]);
});

test("servers with any names have their own files in the folder", async () => {
  const servers = [
    "github",
    "GitHub",
    "../../../evil",
    "a/b",
    "a\\b",
    "a b",
    "CON",
    "",
    "x".repeat(5_000),
    "über",
    "__proto__",
    "a\nb",
  ];
  const owners = servers.flatMap((server) => [null, "/one.json", "/two.json"].map((config) => ({ server, config })));
  for (const each of owners) {
    const file = new LogFile(each, { folder: logs, log: silentLog });
    file.add(line(JSON.stringify(each)));
    await file.end();
    expect(file.path).toMatch(/[/\\]logs[/\\][a-z\d-]{1,60}\.log$/);
    expect(texts(file.path)).toEqual([JSON.stringify(each)]);
  }
  const found = findLogs(logs).map(({ server, config }) => JSON.stringify({ server, config }));
  expect(found.sort()).toEqual(owners.map((each) => JSON.stringify(each)).sort());
});

test("a config has the same logs through a link", () => {
  const file = folder.write("claudikins.json", {});
  symlinkSync(folder.path, `${folder.path}/link`);
  const named = (path: string) => configOwner({ kind: "project", file: path });
  expect(named(join(folder.path, "link", "claudikins.json"))).toBe(file);
  rmSync(file);
  expect(named(join(folder.path, "link", "claudikins.json"))).toBe(file);
  expect(named("/no/such/file.json")).toBe("/no/such/file.json");
  expect(configOwner({ kind: "demo" })).toBeNull();
});

test("a full file is moved aside, so that the last lines remain and the size is limited", async () => {
  const file = open(4_000);
  for (let number = 0; number < 500; number++) {
    file.add(line(`line ${number}`));
    if (number % 10 === 9) file.write();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await file.end();
  const [now, before] = [file.path, `${file.path}.1`].map((path) => statSync(path).size);
  expect(now).toBeLessThanOrEqual(4_000 + 1_000);
  expect(before).toBeLessThanOrEqual(4_000 + 1_000);
  const found = texts(file.path);
  expect(found.length).toBeGreaterThan(50);
  expect(found).toEqual(Array.from({ length: found.length }, (_, index) => `line ${500 - found.length + index}`));
});

test("a full file is moved aside once by several writers", async () => {
  const files = [open(4_000), open(4_000), open(4_000)];
  for (let number = 0; number < 50; number++) files[0]!.add(line(`line ${number}`));
  files[0]!.write();
  const before = texts(files[0]!.path);
  for (const [index, file] of files.entries()) {
    file.add(line(`${index} ${"-".repeat(1_000)}`));
    file.write();
  }
  await Promise.all(files.map((file) => file.end()));
  expect(texts(files[0]!.path).slice(0, 50)).toEqual(before);
  expect(texts(files[0]!.path)).toHaveLength(53);
});

test.each([[10_000_000], [200_000]])(
  "several processes write unbroken lines to one file of %d bytes",
  async (maxBytes) => {
    const marks = ["ann", "bob", "cid"];
    const count = 4_000;
    const program = join(import.meta.dir, "writer.ts");
    const command = (mark: string) => [process.execPath, program, logs, mark, `${count}`, `${maxBytes}`];
    const ended = await Promise.all(marks.map((mark) => runProgram(command(mark))));
    expect(ended).toEqual(marks.map(() => ({ exitCode: 0, stdout: "", stderr: "" })));
    const { path, bytes } = findLogs(logs)[0]!;
    const written = [`${path}.1`, path].map((each) => (existsSync(each) ? readFileSync(each, "utf8") : "")).join("");
    const all = written.split("\n").filter((each) => each !== "" && !each.startsWith("# "));
    expect(all.filter((each) => !/ stderr {2}(ann|bob|cid) \d+ -*$/.test(each))).toEqual([]);
    expect(all.every((each) => readLine(each) !== undefined)).toBe(true);
    if (maxBytes > 1_000_000) expect(all).toHaveLength(marks.length * count);
    else expect(bytes).toBeLessThan(3 * maxBytes);
    // The last lines of each process, in order and without gaps.
    for (const mark of marks) {
      const numbers = all.flatMap((each) =>
        / stderr {2}(\w+) (\d+) /.exec(each)?.[1] === mark ? Number(/ (\d+) -*$/.exec(each)?.[1]) : [],
      );
      expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => count - numbers.length + index));
    }
  },
);

test("a follower gets every line once, even if the file is renamed or removed", async () => {
  const file = open(4_000);
  const end = new LogTail(file.path);
  const heard: string[] = [];
  const listen = () => heard.push(...logLines(end.next()).map(({ text }) => text));
  expect(end.next()).toBe("");
  for (let number = 0; number < 300; number++) {
    file.add(line(`line ${number}`));
    if (number % 10 === 9) {
      file.write();
      await new Promise((resolve) => setImmediate(resolve));
      if (number % 20 === 19) listen();
    }
  }
  await file.end();
  listen();
  expect(heard).toEqual(Array.from({ length: 300 }, (_, index) => `line ${index}`));
  expect(existsSync(`${file.path}.1`)).toBe(true);
  // A new follower begins with everything in the file.
  expect(logLines(new LogTail(file.path).next()).map(({ text }) => text)).toEqual(texts(file.path));
  await removeLogs(logs, [file.path]);
  expect(findLogs(logs)).toEqual([]);
  listen();
  file.add(line("anew"));
  listen();
  expect(heard.at(-1)).toBe("anew");
  truncateSync(file.path);
  listen();
  file.add(line("once more"));
  listen();
  expect(heard.slice(300)).toEqual(["anew", "once more"]);
});

test("an incomplete line is read once it is complete", () => {
  const path = logFile(logs, owner);
  const whole = writtenLine(line("in two pieces"));
  folder.write("data/logs/x", "");
  Bun.spawnSync(["sh", "-c", 'printf %s "$1" > "$2"', "sh", whole.slice(0, 40), path]);
  const end = new LogTail(path);
  expect(end.next()).toBe("");
  Bun.spawnSync(["sh", "-c", 'printf %s "$1" >> "$2"', "sh", whole.slice(40), path]);
  expect(logLines(end.next())).toEqual(logLines(whole));
});

test("logs that were not written to for a month are removed when another one begins", async () => {
  const old = new LogFile({ server: "old", config: null }, { folder: logs, log: silentLog });
  old.add(line("long ago"));
  await old.end();
  const other = folder.write("data/logs/notes.txt", "not a log");
  const longAgo = new Date(Date.now() - 31 * 86_400_000);
  for (const path of [old.path, other]) utimesSync(path, longAgo, longAgo);
  const file = open();
  file.add(line("now"));
  await file.end();
  expect(findLogs(logs).map(({ server }) => server)).toEqual(["shop"]);
  expect(existsSync(other)).toBe(true);
});

test("a folder that cannot be written to is reported once, and logging continues when it can be", async () => {
  folder.write("data", "a file in the place of the folder");
  const told: string[] = [];
  const log = { ...silentLog, debug: (text: string) => void told.push(text) };
  const file = open(undefined, log);
  for (const text of ["one", "two", "three"]) {
    file.add(line(text));
    file.write();
  }
  expect(told).toHaveLength(1);
  expect(told[0]).toContain("cannot be written: ENOTDIR");
  rmSync(join(folder.path, "data"));
  file.add(line("four"));
  await file.end();
  expect(texts(file.path)).toEqual(["four"]);
});

test.skipIf(!existsSync("/dev/full"))("a full disk affects only the log", async () => {
  mkdirSync(logs, { recursive: true });
  const told: string[] = [];
  const file = open(undefined, { ...silentLog, debug: (text: string) => void told.push(text) });
  symlinkSync("/dev/full", file.path);
  for (const text of ["one", "two"]) {
    file.add(line(text));
    file.write();
  }
  await file.end();
  expect(told).toHaveLength(1);
  expect(told[0]).toContain("ENOSPC");
});
