/** The executable over HTTP: with the Inspector, at a port that is taken, and when it is ended. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { executable, root } from "../support/claudikins.ts";
import { executeRequest, type HttpServe, httpServe, rawSession, resultText } from "../support/http-serve.ts";
import { networkFixture } from "../support/network.ts";
import { processesLeft, runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

// The first test builds the executable.
setDefaultTimeout(120_000);

let folder: TemporaryFolder;
let door: HttpServe;
beforeEach(async () => {
  folder = temporaryFolder();
  folder.write("claudikins.json", { mcpServers: { asker: fixture("protocol", "stdio", folder.path) } });
  door = await httpServe(folder, [], { command: [executable()] });
});
afterEach(async () => {
  await door[Symbol.asyncDispose]();
  expect(await processesLeft(folder.path)).toEqual([]);
  folder[Symbol.dispose]();
});

test("the Inspector lists both tools and calls them", async () => {
  const inspector = join(root, "node_modules", ".bin", "mcp-inspector");
  const inspect = async (...args: string[]) => {
    const { stdout, stderr } = await runProgram(["node", inspector, "--cli", door.url, "--transport", "http", ...args]);
    if (stdout === "") throw new Error(stderr);
    return JSON.parse(stdout) as { tools: { name: string }[]; content: { text: string }[] };
  };
  const call = (tool: string, ...args: string[]) =>
    inspect("--method", "tools/call", "--tool-name", tool, ...args.flatMap((each) => ["--tool-arg", each]));
  const { tools } = await inspect("--method", "tools/list");
  expect(tools.map(({ name }) => name)).toEqual(["search_tools", "execute_code"]);
  expect((await call("search_tools", "query=wait")).content[0]!.text).toContain("asker.wait");
  expect((await call("execute_code", "code=return await asker.wait({ ms: 1 })")).content[0]!.text).toStartWith(
    "waited",
  );
});

test("serve can have more sessions with servers on the network than Bun's default limit of connections", async () => {
  await using server = await networkFixture("http", { program: "protocol", args: [folder.path] });
  folder.write("claudikins.json", { mcpServers: { far: { url: `http://127.0.0.1:${server.port}/` } } });
  await using many = await httpServe(folder, ["--max-sessions", "400"], { command: [executable()] });
  for (let count = 1; count <= 280; count++) {
    const session = await rawSession(many.url, "2025-11-25", { elicitation: {} });
    const text = await resultText(await session.post(executeRequest(1, "return await far.wait({ ms: 1 })")));
    expect([count, text]).toEqual([count, "waited"]);
  }
});

test("serve does not share a port with another process", async () => {
  const { port } = new URL(door.url);
  const env = testEnvironment({ NODE_ENV: "production" });
  const second = await runProgram([executable(), "serve", "--http", port], { cwd: folder.path, env });
  expect([second.exitCode, second.stdout]).toEqual([2, ""]);
  expect(second.stderr).toContain("in use by another program");
});

test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("%s ends serve and its servers", async (name) => {
  const session = await rawSession(door.url, "2025-11-25", { elicitation: {} });
  await (await session.post(executeRequest(1, "return await asker.wait({ ms: 1 })"))).text();
  const listening = await session.get();
  door.signal(name);
  expect(await door.exited).toBe(0);
  await listening.text();
  expect(await processesLeft(folder.path)).toEqual([]);
});
