/** Servers that repeat their secrets everywhere: claudikins prints none of them in any command, log or file. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { claudikinsCommand } from "../support/command.ts";
import { runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

const token = 'tok"en/of 5+things';
const keys = ["argument-key-77", "query-key-88", "header-key-99", "pass-word-11"];
// Its beginning too, which a shortened text would still contain.
const secrets = [
  token,
  JSON.stringify(token).slice(1, -1),
  encodeURIComponent(token),
  "of 5+things",
  "token tok",
  ...keys,
];

let folder: TemporaryFolder;
let far: Bun.Server<undefined>;
beforeEach(() => {
  folder = temporaryFolder();
  // Repeats everything it receives.
  far = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => new Response(`no: ${request.url} ${JSON.stringify([...request.headers])}`, { status: 500 }),
  });
  const args = ["--api-key", keys[0]];
  const leaky = (mode: string) => {
    const { command, args: first } = fixture("leaky", mode);
    return { command, args: [...first, ...args], env: { TOKEN: "${A_TOKEN}" } };
  };
  folder.write("config/claudikins.json", {
    mcpServers: {
      leaky: leaky("starts"),
      dies: leaky("dies"),
      far: { url: `http://me:${keys[3]}@127.0.0.1:${far.port}/mcp?key=${keys[1]}`, headers: { "X-Key": keys[2] } },
      nowhere: { url: `http://me:${keys[3]}@127.0.0.1:9/mcp?key=${keys[1]}` },
      missing: { command: "no-such-${A_TOKEN}", args: [] },
    },
  });
});
afterEach(async () => {
  await far.stop(true);
  folder[Symbol.dispose]();
});

const surroundings = () => {
  const env = testEnvironment({ XDG_DATA_HOME: join(folder.path, "data"), A_TOKEN: token, CLAUDIKINS_LOG: "debug" });
  return { cwd: join(folder.path, "config"), env };
};

async function said(...args: string[]): Promise<string> {
  const { stdout, stderr } = await runProgram([...claudikinsCommand, ...args], surroundings());
  return `${stdout}\n${stderr}`;
}

function leaks(text: string): string[] {
  return secrets.filter((secret) => text.includes(secret));
}

function filesBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .map((name) => join(path, name))
    .filter((file) => statSync(file).isFile());
}

const failing = ["errs", "ends"].map((tool) => `leaky.${tool}()`).concat("dies.x()", "far.x()", "missing.x()");
const failingCode = `const fail = async (call) => { try { await call() } catch (error) { console.log(error, error.hint, error.stack) } };
${failing.map((call) => `await fail(() => ${call});`).join("\n")}
console.log(await tools.list(), await tools.search("token"));
return far.y()`;

test("gen, list, exec and search print and write no secrets", async () => {
  for (const args of [
    ["gen"],
    ["list", "--check"],
    ["list", "--check", "--json"],
    ["list"],
    ["search", "token"],
    ["exec", "-e", failingCode],
    ["exec", "--json", "-e", failingCode],
    ["exec", "--json", "-e", "return leaky.errs()"],
    ["exec", "-e", "return dies.anything()"],
    ["exec", "-e", "return leaky.ends()"],
  ]) {
    const text = await said(...args);
    expect([args, leaks(text)]).toEqual([args, []]);
    expect(text).toMatch(/leaky|dies/);
  }
  const files = filesBelow(folder.path).filter((file) => !file.endsWith("claudikins.json"));
  expect(files.length).toBeGreaterThan(3);
  expect(files.filter((file) => leaks(readFileSync(file, "utf8")).length > 0)).toEqual([]);
  expect(files.some((file) => readFileSync(file, "utf8").includes("token ${A_TOKEN}, as JSON"))).toBe(true);
});

test("serve has no secrets in searches, failures and its log", async () => {
  const client = new Client({ name: "test", version: "1" });
  const [command, ...args] = [...claudikinsCommand, "serve"];
  const transport = new StdioClientTransport({ command, args, stderr: "pipe", ...surroundings() });
  let log = "";
  transport.stderr?.on("data", (chunk) => {
    log += chunk;
  });
  await client.connect(transport);
  const search = await client.callTool({ name: "search_tools", arguments: { query: "tells token" } });
  const failed = await client.callTool({ name: "execute_code", arguments: { code: failingCode } });
  await client.close();
  expect(leaks(JSON.stringify([client.getInstructions(), search, failed]))).toEqual([]);
  expect(JSON.stringify(failed)).toContain("not with token");
  expect(log).toContain("not a JSON-RPC message: xxx");
  expect(log).toContain("starting with token ${A_TOKEN}");
  expect(leaks(log)).toEqual([]);
});

test("results of tools are unchanged, including errors that a tool returns", async () => {
  expect(await said("exec", "-e", "return leaky.tells()")).toContain(`token ${token}`);
  expect(await said("exec", "-e", "return leaky.refuses()")).toContain(`token ${token}`);
});
