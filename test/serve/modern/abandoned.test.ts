/** Hosts that answer late or never, and what ends with `serve`: programs, their calls, and the servers' processes. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { App } from "../../../src/app/app.ts";
import { silentLog } from "../../../src/base/log.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { ModernRequests } from "../../../src/serve/http/modern-requests.ts";
import { eventually } from "../../support/eventually.ts";
import { eventsOf } from "../../support/http-serve.ts";
import { envelope, modernVersion } from "../../support/modern-host.ts";
import { processesLeft } from "../../support/process.ts";
import { fixture } from "../../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/temporary.ts";

setDefaultTimeout(60_000);

let folder: TemporaryFolder;
let app: App;
let sandbox: Sandbox;
let requests: ModernRequests;
beforeEach(async () => {
  folder = temporaryFolder();
  folder.write("claudikins.json", { mcpServers: { newer: fixture("modern", "reject", folder.path) } });
  const env = { PATH: process.env["PATH"], HOME: folder.path, CI: "true" };
  const config = await loadConfig({ cwd: folder.path, env });
  sandbox = new Sandbox({ parkAfterMs: 0 });
  app = new App(config, sandbox, { env, cwd: folder.path, log: silentLog });
});

function open(answerMs: number): void {
  const limits = { maxSessions: 2, idleMs: 60_000, maxCalls: 4, maxRequests: 4, answerMs };
  requests = new ModernRequests(app, limits, silentLog, { isConnected: () => false, replicas: undefined });
}

afterEach(async () => {
  await requests.close();
  await app[Symbol.asyncDispose]();
  expect(await processesLeft(folder.path)).toEqual([]);
  folder[Symbol.dispose]();
});

/** The first part of an answer. */
async function answered(code: string, more: object = {}): Promise<Response> {
  const params = {
    name: "execute_code",
    arguments: { code },
    ...more,
    _meta: envelope({ elicitation: { form: {} } }),
  };
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": modernVersion,
    "mcp-method": "tools/call",
    "mcp-name": "execute_code",
  };
  const request = new Request("http://127.0.0.1/mcp", { method: "POST", headers });
  return requests.answer(request, { jsonrpc: "2.0", id: 1, method: "tools/call", params }, { address: "" });
}

async function execute(code: string, more: object = {}): Promise<string> {
  const response = await answered(code, more);
  if (response.headers.get("content-type") === "application/json") return response.text();
  for await (const { data, message } of eventsOf(response)) if (message?.id !== undefined) return data;
  throw new Error("no answer");
}

test("a late answer reaches the program, which has left its worker meanwhile", async () => {
  open(60_000);
  const code = "const list = [1]; list.push(await newer.greet({})); return list";
  const { result } = JSON.parse(await execute(code));
  await eventually(() => sandbox.parkedPrograms > 0);
  const [key = ""] = Object.keys(result.inputRequests);
  const inputResponses = { [key]: { action: "accept", content: { name: "Ada" } } };
  expect(await execute(code, { requestState: result.requestState, inputResponses })).toContain("hello Ada");
  expect(sandbox.parkedPrograms).toBe(0);
});

test("without an answer the program is cancelled, its servers are told, and its state is refused afterwards", async () => {
  open(200);
  const code = "return await Promise.all([newer.wait({}), newer.greet({})])";
  const first = await execute(code);
  const { result } = JSON.parse(first);
  expect(result.resultType).toBe("input_required");
  await eventually(async () => (await execute("return await newer.waiting({})")).includes('"0\\n'));
  const { requestState } = result;
  expect(await execute(code, { requestState })).toMatch(/the request that asked has ended|it has expired/);
});

test("closing ends parked programs", async () => {
  open(60_000);
  const code = "return await newer.greet({})";
  expect(await execute(code)).toContain("input_required");
  await requests.close();
  expect(requests.running).toBe(0);
});

test("a request that is not answered when claudikins ends gets a status and a sentence", async () => {
  open(60_000);
  const answering = answered("return await newer.wait({})");
  await eventually(() => requests.running > 0);
  await requests.close();
  const response = await answering;
  expect(response.status).toBe(502);
  expect(await response.text()).toContain("look before you send it again");
});
