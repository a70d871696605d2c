/** Doors over HTTP: each has an address of its own, and nothing passes from one to another. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { eventually } from "../support/eventually.ts";
import {
  executeRequest,
  type HttpServe,
  httpServe,
  json,
  rawSession,
  resultText,
  sdkHost,
} from "../support/http-serve.ts";
import { openModernHost } from "../support/modern-host.ts";
import { processesWith } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

let folder: TemporaryFolder;
let serving: HttpServe;
const at = (door: string) => new URL(`/${door}`, serving.url).href;

const config = (doors: object) => {
  const server = (name: string) => fixture("from-file", join(folder.path, `${name}.json`));
  return { mcpServers: { jira: server("jira"), vault: server("vault") }, doors };
};
const doors = {
  qa: { servers: ["jira"], tools: { deny: ["jira.purge"] }, instructions: "You test." },
  vaults: { servers: ["vault"] },
};

beforeAll(async () => {
  folder = temporaryFolder();
  const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
  folder.write("jira.json", [tool("get_issue"), tool("purge")]);
  folder.write("vault.json", [tool("open_safe")]);
  folder.write("claudikins.json", config(doors));
  serving = await httpServe(folder);
});
afterAll(async () => {
  serving.signal("SIGTERM");
  expect(await serving.exited).toBe(0);
  expect(processesWith(folder.path)).toEqual([]);
  folder[Symbol.dispose]();
});

const listAll = "return (await tools.list()).map(({ server, tools }) => [server, tools])";
const all = [
  ["jira", ["get_issue", "purge"]],
  ["vault", ["open_safe"]],
];

test.each(["2025", "2026"] as const)("each address has its servers and tools, for agents of %s", async (era) => {
  const found: Record<string, unknown> = {};
  for (const door of ["mcp", "qa", "vaults"]) {
    await using host = await openModernHost(folder, { url: at(door), isOlder: era === "2025" });
    const { content } = await host.callTool({ name: "execute_code", arguments: { code: listAll } });
    found[door] = JSON.parse((content as { text: string }[])[0]!.text.replace(/\n\n\[[^\n]*\]$/, ""));
    if (door === "qa") expect(host.getInstructions()).toStartWith("You test.\n");
  }
  expect(found).toEqual({ mcp: all, qa: [["jira", ["get_issue"]]], vaults: [["vault", ["open_safe"]]] });
});

test("all doors use the same process of a server", async () => {
  for (const door of ["mcp", "qa"]) {
    await using host = await sdkHost(at(door));
    expect(JSON.parse(await host.execute("return jira.get_issue({})"))).toMatchObject({ name: "get_issue" });
  }
  expect(processesWith(join(folder.path, "jira.json"))).toHaveLength(1);
});

test("files of one door are not seen at another", async () => {
  await using qa = await sdkHost(at("qa"));
  await using whole = await sdkHost(at("mcp"));
  await using vaults = await sdkHost(at("vaults"));
  await qa.execute("await fs.writeFile('./workspace/qa.txt', 'x')");
  const read = "return fs.readdir('./workspace')";
  expect(JSON.parse(await qa.execute(read))).toEqual(["qa.txt"]);
  for (const host of [whole, vaults]) expect(JSON.parse(await host.execute(read))).toEqual([]);
});

test("a session and an execution of one door do not exist at another", async () => {
  const session = await rawSession(at("qa"));
  const headers = { ...json, "mcp-session-id": session.id, "mcp-protocol-version": "2025-11-25" };
  const ask = (door: string, body: object) => fetch(at(door), { method: "POST", headers, body: JSON.stringify(body) });
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  expect([(await ask("qa", ping)).status, (await ask("vaults", ping)).status, (await ask("mcp", ping)).status]).toEqual(
    [200, 404, 404],
  );
  const background = executeRequest(2, "await new Promise((resolve) => setTimeout(resolve, 2_000)); return 'kept'");
  Object.assign((background as { params: { arguments: object } }).params.arguments, { background: true });
  const [id] = /[\da-z]{28}/.exec(await resultText(await ask("qa", background))) ?? [];
  expect(id).toBeDefined();
  await using same = await sdkHost(at("vaults"));
  await using whole = await sdkHost(at("mcp"));
  for (const { client } of [same, whole]) {
    const { content } = await client.callTool({ name: "execute_code", arguments: { resume: id } });
    expect(content).toMatchObject([{ text: expect.stringContaining(`There is no execution "${id}"`) }]);
  }
});

test("the address of an unknown door is as unknown as any other", async () => {
  const answers = await Promise.all(
    ["nope", "qa/x", "QA", "toString", "__proto__", "doors/qa"].map(async (door) => {
      const response = await fetch(at(door), { method: "POST", headers: json, body: "{}" });
      return [response.status, await response.text()];
    }),
  );
  expect(new Set(answers.map((each) => JSON.stringify(each))).size).toBe(1);
  expect(answers[0]).toMatchObject([404, expect.stringContaining("the MCP endpoint is /mcp")]);
});

test("a changed door counts from the next call on, and a removed door ends its sessions", async () => {
  const session = await rawSession(at("vaults"));
  const list = async () => resultText(await session.post(executeRequest(3, listAll)));
  expect(JSON.parse(await list())).toEqual([["vault", ["open_safe"]]]);
  folder.write("claudikins.json", config({ ...doors, vaults: { servers: ["jira", "vault"] } }));
  await eventually(async () => (await list()).includes("jira"));
  folder.write("claudikins.json", { ...config(doors), mcpServers: { jira: { command: 7 } } });
  const problem = async () => (await session.post(executeRequest(6, "return 1"))).text();
  await eventually(async () => (await problem()).includes("claudikins doctor"));
  expect(await problem()).not.toContain("jira.command");
  folder.write("claudikins.json", config({ qa: doors.qa }));
  await eventually(async () => (await session.post({ jsonrpc: "2.0", id: 4, method: "ping" })).status === 404);
  folder.write("claudikins.json", config(doors));
  await eventually(async () => (await session.post({ jsonrpc: "2.0", id: 5, method: "ping" })).status === 404);
  await using again = await sdkHost(at("vaults"));
  expect(JSON.parse(await again.execute(listAll))).toEqual([["vault", ["open_safe"]]]);
});
