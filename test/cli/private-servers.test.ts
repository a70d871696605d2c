/** What init and doctor say about servers that keep a state for each agent. `add` and `list` have tests of their own. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { ownFolder } from "../support/own-folder.ts";
import { fixture } from "../support/servers.ts";
import { cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();

const run = (...argv: string[]) => cli(argv, { cwd: folder.path });
const npx = (...args: string[]) => ({ command: "npx", args: ["-y", ...args] });
const browser = npx("@playwright/mcp@latest");
const memory = npx("@modelcontextprotocol/server-memory");
const state = "a state for its conversation, such as an open page or a working directory";

test("init names the servers that run once for each agent", async () => {
  folder.write(".cursor/mcp.json", {
    mcpServers: { web: browser, notes: memory, "my-terminal": npx("some-terminal") },
  });
  const { stdout, stderr } = await run("init", "--dry-run", "--no-start");
  expect(stdout + stderr).toContain(
    'note: web and my-terminal keep a state for their conversation, such as an open page or a working directory, so each agent has a process of its own ("session": "private")',
  );
  const { servers } = JSON.parse((await run("init", "--dry-run", "--no-start", "--json")).stdout);
  expect(servers.map(({ server, session }: Record<string, string>) => [server, session])).toEqual([
    ["web", "private"],
    ["notes", "shared"],
    ["my-terminal", "private"],
  ]);
});

test("init names the servers that run once for each folder, and says how they run once", async () => {
  const files = (...args: string[]) => npx("@modelcontextprotocol/server-filesystem", ...args);
  folder.write(".cursor/mcp.json", {
    mcpServers: { web: browser, notes: memory, here: files("."), there: files("/srv/files"), own: npx("@acme/mcp") },
  });
  const { stdout, stderr } = await run("init", "--dry-run", "--no-start");
  expect(stdout + stderr).toContain(
    'note: here and own may use the folder that they start in, so they have one process for each folder that agents work in. For one process in all folders, add "cwd" to the entry',
  );
  const { servers } = JSON.parse((await run("init", "--dry-run", "--no-start", "--json")).stdout);
  expect(servers.filter((each: object) => "perFolder" in each).map(({ server }: { server: string }) => server)).toEqual(
    ["here", "own"],
  );
});

test("init recognises an unknown server by the tools that it lists when it is started", async () => {
  const tools = folder.write("tools.json", [{ name: "set_working_directory", inputSchema: { type: "object" } }]);
  folder.write(".cursor/mcp.json", { mcpServers: { unknown: fixture("from-file", tools) } });
  const { stdout, stderr } = await run("init", "--dry-run");
  expect(stdout + stderr).toContain(`note: unknown keeps ${state}, so each agent has a process of its own`);
});

test("init says that an entry of the config lets agents mix up such a state", async () => {
  folder.write(".cursor/mcp.json", { mcpServers: { web: browser } });
  folder.write(".config/claudikins/claudikins.json", { mcpServers: { web: { ...browser, session: "shared" } } });
  const { stdout, stderr } = await run("init", "--dry-run", "--no-start");
  expect(stdout + stderr).toContain(
    `note: web: its entry says "session": "shared", but it keeps ${state}: agents that work at the same time mix it up`,
  );
});

test("doctor lists private servers, and warns of a shared one that is known to keep a state", async () => {
  const mixed = { ...browser, session: "shared" };
  folder.write("claudikins.json", { mcpServers: { web: browser, mixed, notes: memory } });
  const { findings } = JSON.parse((await run("doctor", "--no-servers", "--json")).stdout);
  const of = (id: string) => findings.find((each: { id: string }) => each.id === id);
  expect(of("servers.private")).toMatchObject({ state: "ok", message: "Each agent has a process of its own: web" });
  expect(of("session.mixed")).toMatchObject({
    state: "warning",
    message: `All agents share mixed, which keeps ${state}: they mix it up`,
    repair: 'Remove "session": "shared" from mcpServers.mixed: each agent then has a process of its own.',
  });
  expect(of("session.notes")).toBeUndefined();
});
