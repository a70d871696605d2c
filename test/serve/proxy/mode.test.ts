/** How a host is served: by the config, by flags, and by `auto`, which decides from what is known at the start. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { definitionTokens } from "../../../src/serve/proxy/mode.ts";
import { claudikinsCommand } from "../../support/command.ts";
import { type HostOptions, openHost } from "../../support/host.ts";
import { httpServe } from "../../support/http-serve.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { openPool, surroundings } from "../../support/pool.ts";
import { runProgram, testEnvironment } from "../../support/process.ts";
import { everything, filesystem, fixture, memory } from "../../support/servers.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();

/** A tool of about 220 tokens. */
const tool = { name: "find", description: "find ".repeat(200), inputSchema: { type: "object" } };
const server = () => fixture("from-file", folder.write("tools.json", [tool]));

async function names(flags: string[] = [], url?: string, more: HostOptions = {}): Promise<string[]> {
  await using host = await openHost(folder, { ...more, flags, ...(url === undefined ? {} : { url }) });
  return (await host.client.listTools()).tools.map(({ name }) => name);
}

const two = ["search_tools", "execute_code"];
const learn = () =>
  runProgram([...claudikinsCommand, "gen"], { cwd: folder.path, env: { XDG_DATA_HOME: `${folder.path}/data` } });

describe("the mode", () => {
  test.each([
    [{}, [], two],
    [{ mode: "direct" }, [], ["find"]],
    [{ mode: "direct" }, ["--mode", "code"], two],
    [{ mode: "code" }, ["--mode", "direct"], ["find"]],
  ])("is chosen by %j %j", async (config, flags, expected) => {
    folder.write("claudikins.json", { ...config, mcpServers: { one: server() } });
    expect(await names(flags)).toEqual(expected);
  });

  test("auto means direct mode if all definitions fit, and code mode if they do not or if a server is unknown", async () => {
    const config = { mode: "auto", mcpServers: { one: server() } };
    folder.write("claudikins.json", config);
    expect(await names()).toEqual(two);
    expect((await learn()).exitCode).toBe(0);
    expect(await names()).toEqual(["find"]);
    folder.write("claudikins.json", { ...config, directTokens: 100 });
    expect(await names()).toEqual(two);
    folder.write("claudikins.json", { ...config, directTokens: 300 });
    expect(await names()).toEqual(["find"]);
    // A server that cannot be started is not awaited.
    const lacking = { ...server(), env: { KEY: "${NO_SUCH_VARIABLE}" } };
    folder.write("claudikins.json", { ...config, mcpServers: { ...config.mcpServers, lacking } });
    expect(await names()).toEqual(["find"]);
    folder.write("claudikins.json", { ...config, mcpServers: { ...config.mcpServers, more: fixture("odd") } });
    expect(await names()).toEqual(two);
  });

  // As these hosts sent it on 28 November 2026, whether their own code mode was on or off.
  test.each<[string, HostOptions]>([
    [
      "Claude Code",
      {
        info: {
          name: "claude-code",
          title: "Claude Code",
          version: "2.1.332",
          description: "Anthropic's agentic coding tool",
          websiteUrl: "https://claude.com/claude-code",
        },
        capabilities: { roots: { listChanged: true }, elicitation: { form: {}, url: {} } },
      },
    ],
    [
      "Codex",
      {
        info: { name: "codex-mcp-client", title: "Codex", version: "0.171.0" },
        capabilities: { experimental: { "codex/auth-change": {} }, elicitation: { form: {}, url: {} } },
      },
    ],
    ["opencode", { info: { name: "opencode", version: "1.18.33" }, capabilities: { roots: {} } }],
  ])(
    "is the chosen one for %s, without a second code mode in direct mode, and auto does not guess it from the name",
    async (_, host) => {
      const config = { mcpServers: { one: server() }, doors: { tools: { servers: ["one"], mode: "direct" } } };
      folder.write("claudikins.json", config);
      expect(await names(["--mode", "direct"], undefined, host)).toEqual(["find"]);
      await learn();
      expect(await names(["--mode", "auto"], undefined, host)).toEqual(["find"]);
      folder.write("claudikins.json", { ...config, directTokens: 100 });
      expect(await names(["--mode", "auto"], undefined, host)).toEqual(two);
      // At one address, hosts with a code mode of their own have a door, and the others code mode.
      await using serve = await httpServe(folder);
      expect(await names([], serve.url, host)).toEqual(two);
      expect(await names([], new URL("/tools", serve.url).href, host)).toEqual(["find"]);
    },
  );

  test("does not change during a session, and is decided again for the next session", async () => {
    folder.write("claudikins.json", { mcpServers: { one: server() } });
    await using door = await httpServe(folder, ["--mode", "auto"]);
    await using first = await openHost(folder, { url: door.url });
    await first.call("search_tools", { query: "find" });
    expect((await first.client.listTools()).tools.map(({ name }) => name)).toEqual(two);
    expect(await names([], door.url)).toEqual(["find"]);
    expect((await first.client.listTools()).tools.map(({ name }) => name)).toEqual(two);
  });

  test("is refused if it does not exist", async () => {
    folder.write("claudikins.json", { mode: "fast", prefix: true, directTokens: -1, mcpServers: {} });
    const run = (...flags: string[]) =>
      runProgram([...claudikinsCommand, "serve", ...flags], { cwd: folder.path, env: testEnvironment() });
    expect((await run("--mode", "drect")).stderr).toMatchInlineSnapshot(`
      "error: --mode takes code, direct or auto; got "drect"

      hint: Did you mean direct?
      "
    `);
    expect((await run("--prefix", "sometimes")).stderr).toMatchInlineSnapshot(`
      "error: --prefix takes never, on-collision or always; got "sometimes"
      "
    `);
    const { exitCode, stderr } = await run();
    // The agent is told what is wrong until its stdin ends.
    expect(exitCode).toBe(0);
    expect(stderr.replaceAll(folder.path, "FOLDER")).toMatchInlineSnapshot(`
      "warning: The config has 3 problems:
        FOLDER/claudikins.json:2:11  mode: expected "code" or "direct" or "auto", found "fast"
        FOLDER/claudikins.json:3:13  prefix: expected "never" or "on-collision" or "always", found true
        FOLDER/claudikins.json:4:19  directTokens: must be at least 0, found -1
      hint: Correct the file and run the command again. Nothing was started.
      "
    `);
  });
});

test("the estimate for a definition is close to a tokenizer's count, and rather too high", async () => {
  const entries = { everything: everything(), filesystem: filesystem(folder.path), memory: memory(`${folder.path}/m`) };
  await using pool = openPool(entries, surroundings(folder.path));
  for (const server of Object.keys(entries)) {
    const tools = await pool.listTools(server);
    const shown = tools.map(({ name, description, inputSchema }) => JSON.stringify({ name, description, inputSchema }));
    const ratio = tools.reduce((sum, each) => sum + definitionTokens(each), 0) / countTokens(shown.join("\n"));
    expect([server, ratio >= 0.98 && ratio <= 1.35, ratio]).toEqual([server, true, ratio]);
  }
});
