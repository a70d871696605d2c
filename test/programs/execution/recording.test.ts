/** A record of an execution has sizes, or contents without secrets. The config can turn records off. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { ExecutionRecord } from "../../../src/programs/trace/record.ts";
import { type CliOptions, cli } from "../../cli/in-memory.ts";
import { eventually } from "../../support/eventually.ts";
import { openHost } from "../../support/host.ts";
import { httpServe } from "../../support/http-serve.ts";
import { openModernHost } from "../../support/modern-host.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { fixture } from "../../support/servers.ts";
import { storedRecords, storedSummaries } from "../../support/stored.ts";

setDefaultTimeout(60_000);

const secret = "s3cr3t-t0k3n-0123456789";

const folder = ownFolder();

function config(more: object = {}): void {
  const shop = { ...fixture("chatty", folder.path), env: { API_TOKEN: secret }, deny: ["odd"] };
  folder.write("claudikins.json", { mcpServers: { shop }, ...more });
}

const code = `console.log("horse in a log");
const both = await Promise.all([shop.hold({ text: "horse", password: "battery" }), shop.env({ name: "API_TOKEN" })]);
await shop.odd({ text: "wagon" }).catch(() => {});
return { both, horse: "staple", apiKey: "correct" };`;

let lastStderr = "";

async function exec(flags: string[] = [], options: CliOptions = {}): Promise<ExecutionRecord[]> {
  const { exitCode, stderr } = await cli(["exec", "--check", "off", "-e", code, ...flags], {
    cwd: folder.path,
    ...options,
  });
  lastStderr = stderr;
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining("3 calls (1 failed")]);
  return records();
}

const records = () => storedRecords(folder.path);

test("a record has calls, times and sizes, but no contents", async () => {
  config();
  const [record] = await exec();
  expect(record).toMatchObject({ startedBy: "exec", ok: true, calls: 3, failures: 1, denied: 1, hasContents: false });
  expect(record!.config).toBe(join(folder.path, "claudikins.json"));
  expect(record!.code).toEqual({ chars: code.length, lines: 4 });
  expect(record!.logs).toEqual({ lines: 1, chars: expect.any(Number) });
  expect(record!.timeline.map(({ server, tool, line, outcome, code }) => [server, tool, line, outcome, code])).toEqual([
    ["shop", "hold", 2, "ok", undefined],
    ["shop", "env", 2, "ok", undefined],
    ["shop", "odd", 3, "failed", "POLICY_DENIED"],
  ]);
  const [first, second, third] = record!.timeline;
  expect(first!.argumentChars).toBe('{"text":"horse","password":"battery"}'.length);
  expect(second!.resultChars).toBe(secret.length);
  expect(second!.startMs).toBeLessThan(first!.endMs);
  expect(third!.startMs).toBeGreaterThanOrEqual(first!.endMs);
  expect(third!.endMs).toBeLessThanOrEqual(record!.durationMs);
  const text = JSON.stringify(record);
  for (const word of ["horse", "battery", "staple", "correct", secret, "wagon"]) {
    expect([word, text.includes(word)]).toEqual([word, false]);
  }
});

test("--record keeps contents, without secrets and values whose names suggest a secret", async () => {
  config();
  const [record] = await exec(["--record"]);
  expect(lastStderr).toEndWith(`[recorded: claudikins executions show ${record!.id}]\n`);
  expect(record!.hasContents).toBe(true);
  expect(record!.code.text).toContain("shop.hold");
  expect(record!.logs.entries![0]).toEqual({ level: "log", text: "horse in a log" });
  expect(record!.timeline[0]!.arguments).toEqual({ text: '{"text":"horse","password":"***"}', isWhole: true });
  expect(JSON.parse(record!.value!.text)).toMatchObject({ horse: "staple", apiKey: "***" });
  expect(record!.timeline[2]!.message).toContain("shop.odd");
  expect(JSON.stringify(record)).not.toContain(secret);
});

test("the config decides what is kept, and the flag has precedence", async () => {
  for (const [record, kept] of [
    [true, [true]],
    ["contents", [true, true]],
    ["sizes", [false, true, true]],
    [false, [false, true, true]],
  ] as const) {
    config({ record });
    expect((await exec()).map(({ hasContents }) => hasContents)).toEqual([...kept]);
  }
  expect((await exec(["--record"])).map(({ hasContents }) => hasContents)).toEqual([true, false, true, true]);
  config({ record: "all" });
  expect(await cli(["exec", "-e", "1"], { cwd: folder.path })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("record"),
  });
});

test("cutting a long text leaves no piece of a secret", async () => {
  config();
  const lengths = [19_990, 20_005, 24_090];
  const long = `const token = await shop.env({ name: "API_TOKEN" });
for (const n of [${lengths}]) console.log("x".repeat(n) + token);`;
  expect(await cli(["exec", "--record", "-e", long], { cwd: folder.path })).toMatchObject({ exitCode: 0 });
  const text = JSON.stringify((await records())[0]);
  expect(text).toContain("x".repeat(15_000));
  expect(text).not.toContain(secret.slice(0, 6));
});

test("a failure is recorded with its place, and with its message only with --record", async () => {
  config();
  const failing = ["exec", "-e", "\nthrow new TypeError('horse')"];
  await cli(failing, { cwd: folder.path });
  expect((await records())[0]).toMatchObject({ ok: false, reason: "threw", error: { line: 2 } });
  expect((await records())[0]!.error).toEqual({ line: 2 });
  await cli([...failing, "--record"], { cwd: folder.path });
  expect((await records())[0]!.error).toEqual({ line: 2, name: "TypeError", message: "horse" });
  await cli(["exec", "-e", "while (true);", "--cpu", "50ms"], { cwd: folder.path });
  expect((await records())[0]).toMatchObject({ ok: false, reason: "cpu" });
});

test("a folder that cannot be written does not affect the execution", async () => {
  config();
  folder.write(".local/share/claudikins/executions", "a file");
  const { exitCode, stdout, stderr } = await cli(["exec", "-e", "return 6 * 7"], { cwd: folder.path });
  expect([exitCode, stdout]).toEqual([0, "42\n"]);
  expect(stderr).not.toContain("executions");
});

test("executions of an agent are recorded, over stdio and HTTP", async () => {
  config({ record: "contents" });
  const served = { XDG_DATA_HOME: join(folder.path, "data") };
  const run = async (url?: string) => {
    await using host = await openHost(folder, url === undefined ? {} : { url });
    await host.call("execute_code", { code: "return (await shop.env({ name: 'NONE' })) ?? 'none'" });
    await host.call("execute_code", { code: "return 2" });
  };
  await run();
  {
    await using door = await httpServe(folder);
    await run(door.url);
    door.signal("SIGTERM");
    await door.exited;
  }
  const summaries = await storedSummaries(served);
  // Each session has a name of its own, newest first.
  const names = summaries.map(({ session }) => session);
  expect([names[0] === names[1], names[2] === names[3], new Set(names).size]).toEqual([true, true, 2]);
  expect(names.every((name) => /^[0-9a-f]{16}$/.test(name ?? ""))).toBe(true);
  const found = summaries.map(({ startedBy, calls, hasContents }) => [startedBy, calls, hasContents]);
  expect(found).toEqual([
    ["serve", 0, true],
    ["serve", 1, true],
    ["serve", 0, true],
    ["serve", 1, true],
  ]);
});

test("a record names the revisions of MCP that the agent and the called servers speak", async () => {
  const newer = fixture("modern", "reject", folder.path);
  const older = fixture("chatty", folder.path);
  folder.write("claudikins.json", { mcpServers: { newer, older, unused: older } });
  const served = { XDG_DATA_HOME: join(folder.path, "data") };
  const source = "return [await newer.era(), await older.env({ name: 'NONE' })]";
  await using door = await httpServe(folder);
  let calls = 0;
  const recorded = async (call: (given: { url?: string }) => Promise<unknown>, given: { url?: string }) => {
    await call(given);
    calls += 1;
    await eventually(async () => (await storedSummaries(served)).length >= calls);
    const { host, protocols } = (await storedRecords(served))[0]!;
    return { host, protocols };
  };
  const olderCall = async (given: { url?: string }) => {
    await using host = await openHost(folder, given);
    await host.call("execute_code", { code: source });
  };
  const newerCall = async (given: { url?: string }) => {
    await using host = await openModernHost(folder, given);
    await host.callTool({ name: "execute_code", arguments: { code: source } });
  };
  const protocols = { newer: "2026-07-28", older: "2025-11-25" };
  const test = { name: "test", version: "1" };
  for (const given of [{}, { url: door.url }]) {
    expect(await recorded(olderCall, given)).toEqual({ host: { ...test, protocol: "2025-11-25" }, protocols });
    expect(await recorded(newerCall, given)).toEqual({ host: { ...test, protocol: "2026-07-28" }, protocols });
  }
  const env = { XDG_DATA_HOME: join(folder.path, "data") };
  const { stdout } = await cli(["trace", "last"], { cwd: folder.path, env });
  expect(stdout).toContain("\nMCP 2025-11-25: older · MCP 2026-07-28: newer, the agent test 1\n");
});
