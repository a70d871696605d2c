/** Five of twenty servers are broken: `serve` waits for none of them, and a search names each with its fix. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { executable } from "../support/claudikins.ts";
import { ownFolder } from "../support/own-folder.ts";
import { processesWith, runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });

const well = Array.from({ length: 15 }, (_, index) => `well${index + 1}`);

function configure(): void {
  const mark = folder.path;
  // Nothing listens there any more.
  using gone = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const mcpServers = {
    ...Object.fromEntries(well.map((name) => [name, fixture("echo", "well", mark)])),
    missing: { command: "no-such-mcp-server", args: ["--stdio"] },
    exits: fixture("crash-on-start", mark),
    silent: { ...fixture("never-starts", mark), startTimeoutMs: 2_000 },
    needy: { ...fixture("echo", "well", mark), env: { TOKEN: "${NO_SUCH_TOKEN}" } },
    closed: { url: `http://127.0.0.1:${gone.port}/mcp` },
  };
  folder.write("claudikins.json", { mcpServers });
}

const surroundings = () => ({
  cwd: folder.path,
  env: testEnvironment({ XDG_DATA_HOME: `${folder.path}/data` }),
});

/** The text, without what differs between runs. */
const steady = (text: string) =>
  text.replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:PORT").replace(/ (in|for) [\d.]+ s/g, " $1 N s");

test("initialize and tools/list start no server; a search finds the tools of 15 servers and names the 5 broken ones", async () => {
  configure();
  const client = new Client({ name: "test", version: "1" });
  await using _ = { [Symbol.asyncDispose]: () => client.close() };
  const serve = { command: executable(), args: ["serve"], ...surroundings() };
  await client.connect(new StdioClientTransport({ ...serve, stderr: "pipe" }));
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["search_tools", "execute_code"]);
  expect(processesWith(folder.path)).toEqual([]);
  const searched = await client.callTool({ name: "search_tools", arguments: { query: "echo", limit: 50 } });
  const [{ text }] = searched.content as [{ text: string }];
  const lines = text.split("\n");
  expect(lines.filter((line) => line.includes(".echo(")).sort()).toEqual(
    well.map((name) => `${name}.echo(): Promise<unknown>`).sort(),
  );
  expect(steady(lines.filter((line) => !line.includes(".echo(")).join("\n"))).toMatchInlineSnapshot(`
    "Down: missing, needy. Retrying will not help. Tell the user:
    - missing did not start: command not found: no-such-mcp-server. Install no-such-mcp-server. If it is installed but not on the PATH of claudikins, set "command" to the output of "which no-such-mcp-server".
    - needy needs NO_SUCH_TOKEN. Set NO_SUCH_TOKEN before starting claudikins.
    Down: exits did not start: its process exited with code 3: "fatal: no database at db://nowhere". A call tries again. If it fails, tell the user: Run its command from the config by hand to see more.
    Down: silent did not start: it did not answer within 2 s. A call tries again. If it fails, tell the user: Raise "startTimeoutMs" of "silent" in the config, or run its command by hand.
    Down: closed cannot be used: nothing listens at http://127.0.0.1:PORT. A call tries again. If it fails, tell the user: Start it, or correct "url" in the config."
  `);
});

test("list --check shows that 15 servers work, and why the 5 others do not", async () => {
  configure();
  const { exitCode, stdout, stderr } = await runProgram([executable(), "list", "--check"], surroundings());
  expect(exitCode).toBe(4);
  const states = stdout
    .split("\n")
    .flatMap((line) => /^(\w+) .*?(ready|broken|needs NO_SUCH_TOKEN)/.exec(line)?.slice(1).join(" ") ?? []);
  expect(states).toEqual([
    ...well.map((name) => `${name} ready`),
    "missing broken",
    "exits broken",
    "silent broken",
    "needy needs NO_SUCH_TOKEN",
    "closed broken",
  ]);
  expect(steady(stderr)).toMatchInlineSnapshot(`
    "
    error: Server "missing" did not start: command not found: no-such-mcp-server

    hint: Install no-such-mcp-server. If it is installed but not on the PATH of claudikins, set "command" to the output of "which no-such-mcp-server".

    error: Server "exits" did not start: its process exited with code 3
      | warming up
      | fatal: no database at db://nowhere

    hint: Run its command from the config by hand to see more.

    error: Server "silent" did not start: it did not answer within 2 s

    hint: Raise "startTimeoutMs" of "silent" in the config, or run its command by hand.

    error: Server "needy" needs NO_SUCH_TOKEN in the environment

    hint: Set NO_SUCH_TOKEN before starting claudikins, or add a default to the config: \${NO_SUCH_TOKEN:-value}.

    error: Server "closed" cannot be used: nothing listens at http://127.0.0.1:PORT

    hint: Start it, or correct "url" in the config.
    "
  `);
});
