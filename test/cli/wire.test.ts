/** `--wire` and `--wire-file`: the messages to and from servers, without any change to the command's own output. */
import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { claudikinsCommand } from "../support/command.ts";
import { ownFolder } from "../support/own-folder.ts";
import { processesLeft, runProgram } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const secret = "s3cr3t-t0k3n-0123456789";

const folder = ownFolder();
beforeEach(() => {
  folder.write("claudikins.json", {
    mcpServers: { shop: { ...fixture("chatty", folder.path), env: { API_TOKEN: secret } } },
  });
});

const code = `await shop.write({ text: "x", password: "horse" }); return shop.env({ name: "API_TOKEN" })`;

const exec = (flags: string[], options: { terminal?: boolean; env?: Record<string, string> } = {}) =>
  cli(["exec", "-e", code, ...flags], { cwd: folder.path, ...options });

/** Times, sizes and the numbers of calls as N, without the list of tools, which comes before the first call. */
const lines = (text: string) =>
  text
    .split("\n")
    .filter((line) => line.startsWith("+") && !line.includes("tools/list"))
    .map((line) =>
      line
        .replace(/^\+ *\d+ ms/, "+ N ms")
        .replace(/tools\/call #\d/, "tools/call #N")
        .replace(/"progressToken": \d/, '"progressToken": N')
        .replace(/after [\d.]+ m?s/, "after N ms")
        .replace(/\(\d+ bytes\)/, "(N bytes)"),
    );

test("--wire writes each message on one line of stderr, without secrets, and leaves stdout unchanged", async () => {
  await exec([]);
  const { exitCode, stdout, stderr } = await exec(["--wire"]);
  expect([exitCode, stdout]).toEqual([0, `${secret}\n`]);
  expect(stderr).not.toContain(secret);
  expect(stderr).not.toContain("horse");
  expect(lines(stderr)).toEqual([
    expect.stringMatching(
      /^\+ N ms {2}shop → initialize #0 \(N bytes\) \{.*"clientInfo": \{"name": "claudikins", "version": ".*"\}\}$/,
    ),
    '+ N ms  shop ← result of initialize #0 after N ms (N bytes) {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "logging": {}}, "serverInfo": {"name": "chatty", "version": "1.2.3"}}',
    "+ N ms  shop → notifications/initialized (N bytes)",
    '+ N ms  shop → tools/call #N (N bytes) {"name": "write", "arguments": {"text": "x", "password": "***"}, "_meta": {"progressToken": N}}',
    '+ N ms  shop ← result of tools/call #N after N ms (N bytes) {"content": [{"type": "text", "text": "done"}]}',
    expect.stringMatching(
      /^\+ N ms {2}shop → tools\/call #N \(N bytes\) \{"name": "env", "arguments": \{"name": "API_TOKEN"\}, "_meta": \{"progressToken": N\}\}$/,
    ),
    expect.stringMatching(
      /^\+ N ms {2}shop ← result of tools\/call #N after N ms \(N bytes\) \{"content": \[\{"type": "text", "text": "\*\*\*"\}\]\}$/,
    ),
  ]);
});

test("call has both flags, even for calls that the daemon could answer", async () => {
  mkdirSync(join(folder.path, "run"), { mode: 0o700 });
  const env = { XDG_RUNTIME_DIR: join(folder.path, "run"), HOME: folder.path, CLAUDIKINS_DAEMON: "on" };
  const claudikins = (...argv: string[]) => runProgram([...claudikinsCommand, ...argv], { cwd: folder.path, env });
  try {
    for (const flags of [[], ["--no-daemon"]]) {
      const call = ["call", "shop.write", "text=x", "password=horse", "--wire", "--wire-file", "wire.ndjson", ...flags];
      const { exitCode, stdout, stderr } = await claudikins(...call);
      expect([exitCode, stdout]).toEqual([0, "done\n"]);
      const [asked, answered] = lines(stderr).filter((line) => line.includes("tools/call"));
      expect(asked).toContain(
        '(N bytes) {"name": "write", "arguments": {"text": "x", "password": "***"}, "_meta": {"progressToken": N}}',
      );
      expect(answered).toContain("← result of tools/call");
      expect(readFileSync(join(folder.path, "wire.ndjson"), "utf8")).toContain('"method":"tools/call"');
    }
  } finally {
    await claudikins("daemon", "stop");
  }
  expect(await processesLeft(folder.path)).toEqual([]);
});

test("a large message stays on one line and contains no control characters", async () => {
  const evil = `return shop.env({ name: "\\u001b[31m\\u009b31m\\u202e" + "x".repeat(200_000) + "\\n" })`;
  const { stderr } = await cli(["exec", "-e", evil, "--wire"], { cwd: folder.path });
  expect(stderr).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
  expect(Math.max(...stderr.split("\n").map((line) => line.length))).toBeLessThan(1_300);
  expect(stderr).toContain("more characters of 200,0");
});

test("--wire-file contains complete messages and is readable by the user only", async () => {
  const { exitCode, stdout, stderr } = await exec(["--wire-file", "wire.ndjson", "--json"]);
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(JSON.parse(stdout).value).toBe(secret);
  const file = join(folder.path, "wire.ndjson");
  const text = readFileSync(file, "utf8");
  expect(text).not.toContain(secret);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const entries = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const call = entries.find(({ message }) => message.params?.name === "env");
  expect(call).toEqual({
    time: expect.stringMatching(/^\d{4}-/),
    at: expect.any(Number),
    server: "shop",
    direction: "sent",
    kind: "request",
    method: "tools/call",
    id: expect.any(Number),
    bytes: JSON.stringify(call.message).length,
    message: {
      jsonrpc: "2.0",
      id: call.id,
      method: "tools/call",
      params: {
        name: "env",
        arguments: { name: "API_TOKEN" },
        _meta: { progressToken: expect.any(Number) },
      },
    },
  });
  expect(entries.find(({ id, kind }) => kind === "result" && id === call.id)).toMatchObject({
    direction: "received",
    ms: expect.any(Number),
  });
});

test("call --wire hides secrets and shows the call", async () => {
  const call = () => cli(["call", "shop.env", "name=API_TOKEN", "--wire"], { cwd: folder.path });
  await call();
  const { exitCode, stdout, stderr } = await call();
  expect([exitCode, stdout]).toEqual([0, `${secret}\n`]);
  expect(stderr).not.toContain(secret);
  expect(lines(stderr).find((line) => line.includes("tools/call"))).toContain("shop → tools/call #");
});

test("a file that cannot be written is an error before any code runs", async () => {
  const { exitCode, stdout, stderr } = await exec(["--wire-file", "no/such/folder/wire.ndjson"]);
  expect([exitCode, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/^error: Cannot write the wire file: ENOENT/);
});

test.skipIf(!existsSync("/dev/full"))("a full disk ends the file with a warning, but not the call", async () => {
  const { exitCode, stdout, stderr } = await exec(["--wire-file", "/dev/full"]);
  expect([exitCode, stdout]).toEqual([0, `${secret}\n`]);
  expect(stderr.match(/warning: the wire file is no longer written: ENOSPC/g)).toHaveLength(1);
});

test("the former names --trace and --trace-file still work, but help and completions do not show them", async () => {
  const { stdout, stderr } = await exec(["--trace", "--trace-file", "former.ndjson"]);
  expect(stdout).toBe(`${secret}\n`);
  expect(stderr).toContain("shop → tools/call");
  expect(readFileSync(join(folder.path, "former.ndjson"), "utf8")).toContain('"method":"tools/call"');
  expect((await exec(["--wire", "--trace"])).stderr).toStartWith("error: --trace is given twice");
  for (const argv of [
    ["exec", "--help"],
    ["call", "--help", "--json"],
    ["complete", "fish", "--", "exec", "--"],
  ]) {
    const shown = (await cli(argv)).stdout;
    expect(shown).toContain("--wire-file");
    expect(shown).not.toContain("--trace");
  }
  const offered = await cli(["complete", "fish", "--", "exec", "--trace-file", ""]);
  expect(offered.stdout).toBe("\tfiles\n");
});

test("messages are coloured on a terminal unless NO_COLOR is set", async () => {
  expect((await exec(["--wire"], { terminal: true })).stderr).toContain("\u001b[36mshop → initialize");
  expect((await exec(["--wire"], { terminal: true, env: { NO_COLOR: "1" } })).stderr).not.toContain("\u001b[3");
});
