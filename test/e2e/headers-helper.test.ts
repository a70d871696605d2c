/** A server of Claude Code with a `headersHelper`, taken over by `init` and used with the executable: it works, and prints no secret. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { executable } from "../support/claudikins.ts";
import { runProgram } from "../support/process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

const tokens = ["first-token-11", "second-token-22"];

let folder: TemporaryFolder;
let token: string;
let far: Bun.Server<undefined>;
beforeEach(() => {
  folder = temporaryFolder();
  [token = ""] = tokens;
  far = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: repeatItsToken });
});
afterEach(async () => {
  await far.stop(true);
  folder[Symbol.dispose]();
});

/** An MCP server that says the token in its tools and its errors. */
async function repeatItsToken(request: Request): Promise<Response> {
  const sent = request.headers.get("authorization") ?? "nothing";
  if (sent !== `Bearer ${token}`) return new Response(`not ${sent}`, { status: 401 });
  if (request.method !== "POST") return new Response(null, { status: 405 });
  const { id, method, params } = (await request.json()) as { id?: number; method: string; params?: { name?: string } };
  if (id === undefined) return new Response(null, { status: 202 });
  const text = `You sent ${sent}`;
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: text, version: "1" },
    },
    "tools/list": {
      tools: ["who", "fail"].map((name) => ({ name, description: text, inputSchema: { type: "object" } })),
    },
    "tools/call": { content: [{ type: "text", text: "somebody" }] },
  };
  const result = params?.name === "fail" ? undefined : results[method];
  return Response.json({ jsonrpc: "2.0", id, ...(result ? { result } : { error: { code: -32_000, message: text } }) });
}

const claudikins = (...argv: string[]) => {
  const nowhere = { XDG_CONFIG_HOME: "", XDG_DATA_HOME: "", XDG_CACHE_HOME: "", XDG_STATE_HOME: "" };
  const env = { HOME: folder.path, ...nowhere, CLAUDIKINS_LOG: "debug", CLAUDIKINS_DAEMON: "off" };
  return runProgram([executable(), ...argv], { cwd: join(folder.path, "work"), env });
};

function filesWithTokens(): string[] {
  return readdirSync(folder.path, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder.path, name))
    .filter((file) => statSync(file).isFile() && tokens.some((each) => readFileSync(file, "latin1").includes(each)));
}

test("init takes it over, its calls work before and after a new token, and no command, log or file has a token", async () => {
  mkdirSync(join(folder.path, "work"));
  const tokenFile = folder.write("secrets/token", token);
  const url = `http://127.0.0.1:${far.port}/mcp`;
  const headersHelper = `printf '{"Authorization":"Bearer %s"}' "$(cat '${tokenFile}')"`;
  const settings = folder.write(".claude.json", { mcpServers: { far: { type: "http", url, headersHelper } } });
  folder.write(".config/claudikins/claudikins.json", { record: "contents", mcpServers: {} });

  const said: string[] = [];
  const run = async (...argv: string[]) => {
    const { exitCode, stdout, stderr } = await claudikins(...argv);
    said.push(`${argv.join(" ")}\n${stdout}\n${stderr}`);
    return { exitCode, stdout };
  };
  expect((await run("init", "--apply")).exitCode).toBe(0);
  expect(Object.keys(JSON.parse(readFileSync(settings, "utf8")).mcpServers)).toEqual(["claudikins"]);
  const config = JSON.parse(readFileSync(join(folder.path, ".config/claudikins/claudikins.json"), "utf8"));
  expect(config.mcpServers).toEqual({ far: { type: "http", url, headersHelper } });

  expect((await run("exec", "-e", "return far.who()")).stdout).toContain("somebody");
  token = tokens[1] ?? "";
  folder.write("secrets/token", token);
  expect(await run("call", "far.who")).toEqual({ exitCode: 0, stdout: "somebody\n" });

  for (const argv of [
    ["call", "far.fail"],
    ["exec", "-e", "return far.fail()"],
    ["gen"],
    ["list", "--check"],
    ["list", "--check", "--json"],
    ["list", "tools", "far"],
    ["search", "who"],
    ["doctor"],
    ["auth", "status"],
    ["trace"],
    ["logs"],
  ]) {
    await run(...argv);
  }
  folder.write("secrets/token", "third-token-33");
  expect((await run("call", "far.who")).exitCode).toBe(3);
  expect(said.filter((text) => /(?:first|second|third)-token/.test(text))).toEqual([]);
  expect(said.find((text) => text.startsWith("auth status"))).toMatch(/\nfar +headersHelper /);
  expect(filesWithTokens()).toEqual([]);
});
