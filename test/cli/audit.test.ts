/** `claudikins audit`: the list and its filters, the check of the chain, and exports. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../../src/base/sha256.ts";
import { storeFile } from "../../src/config/locations.ts";
import type { AuditEvent, Decider } from "../../src/store/audit/event.ts";
import { auditTexts, tamper } from "../support/audit.ts";
import { storeEvent } from "../support/stored.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const log = storeFile({ HOME: folder.path });
const run = (...argv: string[]) => cli(["audit", ...argv], { cwd: folder.path });
const entries = async (...argv: string[]) => {
  const { entries: found } = JSON.parse((await run(...argv, "--json")).stdout) as { entries: { entry: number }[] };
  return found.map(({ entry }) => entry);
};

const by: Decider = { place: "terminal", user: "ada", pid: 7, terminal: true, parent: "bash" };
const now = Date.now();
const events: [AuditEvent, number][] = [
  [
    { decision: "approved", server: "github", tool: "merge", execution: "e1", call: 1, scope: "session" },
    now - 3 * 86_400_000,
  ],
  [{ decision: "denied", server: "github", tool: "close", execution: "e2" }, now - 7_200_000],
  [{ decision: "expired", server: "files", tool: '=cmd|"x"', execution: "e2" }, now - 60_000],
  [
    { decision: "policy", config: "/shop/claudikins.json", changes: [{ at: "mcpServers.a.deny", after: '["x"]' }] },
    now,
  ],
];

beforeAll(async () => {
  for (const [event, at] of events) await storeEvent({ HOME: folder.path }, event, by, at);
});

describe("the list", () => {
  test("has the latest entries first, for people and for programs", async () => {
    expect(await entries()).toEqual([4, 3, 2, 1]);
    expect(await entries("list", "-n", "2")).toEqual([4, 3]);
    const { stdout } = await run();
    expect(stdout.split("\n")[4]).toMatch(
      /^1 +\d{4}-\d\d-\d\d \d\d:\d\d {2}approved for the session +github\.merge +ada, from bash +terminal$/,
    );
    expect(stdout).toContain("/shop/claudikins.json: mcpServers.a.deny");
  });

  test("can be filtered", async () => {
    expect(await entries("--server", "github")).toEqual([2, 1]);
    expect(await entries("--tool", "github.close")).toEqual([2]);
    expect(await entries("--execution", "e2")).toEqual([3, 2]);
    expect(await entries("--decision", "policy")).toEqual([4]);
    expect(await entries("--config", "/shop/claudikins.json")).toEqual([4]);
    expect(await entries("--config", "/shop/other/../claudikins.json")).toEqual([4]);
    expect(await entries("--config", "claudikins.json")).toEqual([]);
    expect(await entries("--since", "1h")).toEqual([4, 3]);
    expect(await entries("--since", "1d", "--server", "github")).toEqual([2]);
    expect(await entries("--since", new Date(now + 86_400_000).toISOString().slice(0, 10))).toEqual([]);
    expect((await run("--since", "yesterday")).exitCode).toBe(2);
  });
});

describe("export", () => {
  test("prints the lines of the log as they are", async () => {
    expect((await run("export")).stdout).toBe(
      auditTexts(log)
        .map((text) => `${text}\n`)
        .join(""),
    );
  });

  test("prints CSV in which no name becomes a formula", async () => {
    const { stdout } = await run("export", "--format", "csv", "--server", "files");
    const [head, row, end] = stdout.split("\r\n");
    expect(head).toStartWith("entry,time,decision,scope,server,tool,execution");
    expect(row).toBe(
      `3,${new Date(now - 60_000).toISOString()},expired,,files,"'=cmd|""x""",e2,,,,,,,,terminal,ada,bash,true,,`,
    );
    expect(end).toBe("");
  });
});

describe("verify", () => {
  test("says that the log holds, and knows earlier hashes", async () => {
    const lines = auditTexts(log);
    const { stdout, exitCode } = await run("verify", "--contains", sha256(lines[1]!));
    expect(stdout).toBe(
      `The log holds: 4 entries\nThe last hash is ${sha256(lines[3]!)}\nThe log contains ${sha256(lines[1]!)}\n`,
    );
    expect(exitCode).toBe(0);
    expect((await run("verify", "--contains", sha256("other"))).exitCode).toBe(1);
    expect((await run("verify", "--contains", "abc")).exitCode).toBe(2);
  });

  test("keeps hashes in a file, and notices a log that lacks the last one", async () => {
    const lines = auditTexts(log);
    const file = join(folder.path, "anchors");
    const anchors = () => readFileSync(file, "utf8").trimEnd().split("\n");
    const last = sha256(lines[3]!);
    expect((await run("verify", "--anchor", "anchors")).stdout).toBe(
      `The log holds: 4 entries\nThe last hash is ${last}\n`,
    );
    expect(anchors()).toEqual([expect.stringMatching(new RegExp(`^\\d{4}-\\S+Z 4 ${last}$`))]);
    const again = await run("verify", "--anchor", "anchors");
    expect([again.exitCode, again.stdout]).toEqual([0, expect.stringContaining(`The log contains ${last}\n`)]);
    expect(anchors()).toHaveLength(1);

    // A new log holds too.
    using other = temporaryFolder();
    await storeEvent({ HOME: other.path }, { decision: "denied", server: "github", tool: "merge" }, by, now);
    const anew = await cli(["audit", "verify", "--anchor", file], { cwd: other.path });
    expect([anew.exitCode, anew.stdout]).toEqual([1, expect.stringContaining(`The log does not contain ${last}\n`)]);
    expect(anchors()).toHaveLength(1);
    await storeEvent({ HOME: folder.path }, { decision: "denied", server: "github", tool: "merge" }, by, now);
    await run("verify", "--anchor", "anchors");
    expect(anchors()).toEqual([anchors()[0]!, expect.stringContaining(" 5 ")]);

    folder.write("letter", "Dear Ada\n");
    const wrong = await run("verify", "--anchor", "letter");
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining("is not an anchor")]);
    expect((await run("verify", "--anchor", "no/such/folder")).stderr).toContain("Cannot write");
    expect((await run("verify", "--anchor", "anchors", "--contains", last)).exitCode).toBe(2);
  });

  test("ends with exit code 1 after a change, and says where", async () => {
    tamper(log, `UPDATE audit SET line = replace(line, '"tool":"close"', '"tool":"other"') WHERE place = 2`);
    const { stdout, exitCode } = await run("verify");
    expect(stdout).toStartWith("The log holds up to entry 1: entry 2 was changed: it was stored with another hash\n");
    expect(exitCode).toBe(1);
    expect(JSON.parse((await run("verify", "--json")).stdout)).toMatchObject({
      entries: 1,
      problem: expect.any(String),
    });
    tamper(log, `UPDATE audit SET line = replace(line, '"tool":"other"', '"tool":"close"') WHERE place = 2`);
  });
});

test("an empty log is listed, exported and verified", async () => {
  using other = temporaryFolder();
  const inOther = (...argv: string[]) => cli(["audit", ...argv], { cwd: other.path });
  expect((await inOther()).stderr).toBe("The audit log has no such entries.\n");
  expect((await inOther("export")).stdout).toBe("");
  expect((await inOther("verify")).stdout).toStartWith("The log holds: 0 entries\n");
});
