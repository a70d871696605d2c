/** Changes of the config reach a `serve` that runs: over stdio and HTTP, in code mode and in direct mode. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { openHost, type TestHost } from "../support/host.ts";
import { httpServe } from "../support/http-serve.ts";
import { ownFolder } from "../support/own-folder.ts";
import { runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });

const kept = () => fixture("seen", folder.path);
const added = () => fixture("by-hand", "fine", folder.path);
const write = (mcpServers: object, more: object = {}) => folder.write("claudikins.json", { mcpServers, ...more });
const claudikins = (...args: string[]) =>
  runProgram([...claudikinsCommand, ...args], {
    cwd: folder.path,
    env: testEnvironment({ XDG_DATA_HOME: join(folder.path, "data") }),
  });

async function execute(host: TestHost, code: string): Promise<string> {
  const { content } = await host.call("execute_code", { code });
  return (content as { text: string }[]).map(({ text }) => text).join("\n");
}

const pidOf = async (host: TestHost) =>
  /"pid":(\d+)/.exec(await execute(host, "return JSON.stringify(await kept.seen())"))?.[1];

describe.each(["stdio", "HTTP"])("over %s, without a restart", (way) => {
  test("an added, changed or removed server takes effect with the next call, and other servers keep running", async () => {
    write({ kept: kept() });
    await using serve = way === "HTTP" ? await httpServe(folder) : undefined;
    await using host = await openHost(folder, serve ? { url: serve.url } : {});
    const pid = await pidOf(host);
    expect(pid).toBeDefined();
    expect(await execute(host, "return await more.hello({})")).toContain("more");

    expect(await claudikins("add", "more", "--no-check", "--", added().command, ...added().args)).toMatchObject({
      exitCode: 0,
    });
    expect(await execute(host, "return await more.hello({})")).toStartWith("hello");
    expect(JSON.stringify(await host.call("search_tools", { query: "hello", server: "more" }))).toContain("more.hello");

    write({ kept: kept(), more: { ...added(), deny: ["hello"] } });
    expect(await execute(host, "return await more.hello({})")).toContain("denied");

    expect(await claudikins("remove", "more")).toMatchObject({ exitCode: 0 });
    expect(await execute(host, "return await callTool('more', 'hello', {})")).toContain('No server is called "more"');
    expect(await pidOf(host)).toBe(pid!);
  });
});

test("a server that is added to the user's own config is used in a project with the next call", async () => {
  write({ kept: kept() });
  const env = { HOME: join(folder.path, "home"), XDG_CONFIG_HOME: join(folder.path, "home/.config") };
  await using host = await openHost(folder, { env });
  expect(await execute(host, "return Object.keys(servers)")).toContain('["kept"]');
  folder.write("home/.config/claudikins/claudikins.json", { mcpServers: { more: added() } });
  expect(await execute(host, "return await more.hello({})")).toStartWith("hello");
  expect(JSON.stringify(await host.call("search_tools", { query: "hello", server: "more" }))).toContain("more.hello");
});

test("a config that becomes invalid changes nothing, is reported once, and applies once it is valid again", async () => {
  write({ kept: kept() });
  await using host = await openHost(folder);
  expect(await pidOf(host)).toBeDefined();
  folder.write("claudikins.json", "{ not json");
  const first = await execute(host, "return 1");
  expect(first).toContain("Note: The changed config is not used");
  expect(await execute(host, "return 1")).not.toContain("Note:");
  expect(await pidOf(host)).toBeDefined();
  write({ more: added() });
  expect(await execute(host, "return await more.hello({})")).toStartWith("hello");
});

test("a call that is running when its server is removed finishes", async () => {
  write({ slow: fixture("protocol", "stdio", folder.path) });
  await using host = await openHost(folder);
  expect(await execute(host, "return await slow.wait({ ms: 1 })")).toStartWith("waited");
  // The server answers the second call when it has received the first one.
  const code = `const wait = slow.wait({ ms: 1500 }); await slow.seen(); fs.writeFileSync("./workspace/begun", ""); return await wait`;
  const running = execute(host, code);
  await eventually(() => existsSync(join(folder.path, ".claudikins", "workspace", "begun")));
  write({ more: added() });
  expect(await execute(host, "return await more.hello({})")).toStartWith("hello");
  expect(await running).toStartWith("waited");
});

test("an agent in direct mode is notified that the lists have changed, and gets the new ones", async () => {
  write({ kept: kept() }, { mode: "direct" });
  await using host = await openHost(folder);
  const names = async () => ((await host.request("tools/list"))["tools"] as { name: string }[]).map(({ name }) => name);
  expect(await names()).not.toContain("hello");
  write({ kept: kept(), more: added() }, { mode: "direct" });
  await host.hears("notifications/tools/list_changed");
  expect(await names()).toContain("hello");
  expect(await host.call("hello")).toMatchObject({ content: [{ text: "hello" }] });
});

test("a new session over HTTP has instructions that name the new server", async () => {
  write({ kept: kept() });
  await using serve = await httpServe(folder);
  await using before = await openHost(folder, { url: serve.url });
  expect(before.client.getInstructions()).not.toContain("more");
  write({ kept: kept(), more: added() });
  await using after = await openHost(folder, { url: serve.url });
  expect(after.client.getInstructions()).toContain("- more");
});
