/** Sessions in which four of eight servers are down, each in another way: what a model is told before it calls them, and after. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { executable } from "../support/claudikins.ts";
import { runProgram, shellLine, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

/** A tool of each server that is down, a need that it serves, and its server. */
const tasks = {
  git: { tool: "git_log", need: "show the log of commits" },
  sqlite: { tool: "read_query", need: "run an SQL query on the local database" },
  github: { tool: "search_issues", need: "search issues of a repository" },
  db: { tool: "list_tables", need: "list the tables" },
} as const;
type Server = keyof typeof tasks;
const servers = Object.keys(tasks) as Server[];

/** The reason and the remedy of each server. Every session has to say both. */
const remedies: Record<Server, RegExp> = {
  git: /there is no file \S+\/git\/index\.mjs.*correct the path in "args" of "git"/s,
  sqlite: /command not found: \S+mcp-sqlite.*Correct "command" in the config/s,
  github: /needs FIXTURE_TOKEN.*Set FIXTURE_TOKEN before starting claudikins/s,
  db: /exited with code 3.*no database at db:\/\/nowhere.*Run its command/s,
};

interface Session extends AsyncDisposable {
  instructions: string;
  /** The texts of an answer. */
  ask(name: "search_tools" | "execute_code", args: object): Promise<string>;
}

/** A home whose servers work until `breakAll` is called. */
class Home implements Disposable {
  readonly folder: TemporaryFolder = temporaryFolder();
  isBroken = false;

  constructor() {
    const { folder } = this;
    const program = fixture("from-file").command;
    const toolsOf = (server: Server) =>
      folder.write(`${server}.json`, [
        {
          name: tasks[server].tool,
          description: `${tasks[server].need}.`,
          inputSchema: { type: "object", properties: { path: { type: "string" } } },
        },
      ]);
    const start = `import { spawn } from "node:child_process";
      const child = spawn(${JSON.stringify(program)}, ["from-file", ${JSON.stringify(toolsOf("git"))}], { stdio: "inherit" });
      child.on("exit", (code) => process.exit(code ?? 0));`;
    const script = `#!/bin/sh\nexec ${shellLine([program, "from-file", toolsOf("sqlite")])}\n`;
    Bun.spawnSync(["chmod", "+x", folder.write("bin/mcp-sqlite", script)]);
    const crash = 'if [ -f "$1" ]; then echo "fatal: no database at db://nowhere" >&2; exit 3; fi\nshift\nexec "$@"\n';
    folder.write("claudikins.json", {
      mcpServers: {
        one: fixture("echo", "one"),
        two: fixture("echo", "two"),
        three: fixture("echo", "three"),
        four: fixture("echo", "four"),
        git: { command: "node", args: [folder.write("git/index.mjs", start)] },
        sqlite: { command: join(folder.path, "bin", "mcp-sqlite") },
        github: { ...fixture("from-file", toolsOf("github")), env: { TOKEN: "${FIXTURE_TOKEN}" } },
        db: {
          command: "sh",
          args: [folder.write("start.sh", crash), join(folder.path, "down"), program, "from-file", toolsOf("db")],
        },
      },
    });
  }

  get env(): Record<string, string> {
    const { path } = this.folder;
    return testEnvironment({
      HOME: path,
      XDG_DATA_HOME: join(path, "data"),
      CLAUDIKINS_DAEMON: "off",
      ...(this.isBroken ? {} : { FIXTURE_TOKEN: "a-token-of-the-fixture" }),
    });
  }

  breakAll(): void {
    const { folder } = this;
    rmSync(join(folder.path, "git"), { recursive: true });
    rmSync(join(folder.path, "bin"), { recursive: true });
    folder.write("down", "");
    this.isBroken = true;
  }

  async session(): Promise<Session> {
    const client = new Client({ name: "test", version: "1" });
    const serve = { command: executable(), args: ["serve"], cwd: this.folder.path, stderr: "ignore" as const };
    await client.connect(new StdioClientTransport({ ...serve, env: this.env }));
    return {
      instructions: client.getInstructions() ?? "",
      async ask(name, args) {
        const { content } = await client.callTool({ name, arguments: { ...args } });
        return (content as { text?: string }[]).map(({ text = "" }) => text).join("\n");
      },
      [Symbol.asyncDispose]: () => client.close(),
    };
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]();
  }
}

/** The part about one server. */
const about = (text: string, server: Server) =>
  text.split("\n").find((line) => new RegExp(`^(?:- |Down(?: last time)?: )${server} `).test(line)) ?? "";

const call = (server: Server) => `return await ${server}.${tasks[server].tool}({ path: "x" });`;

describe.each([
  ["the first session", false],
  ["a session after one in which all servers worked", true],
])("in %s", (_, wereKnown) => {
  let home: Home;
  beforeAll(async () => {
    home = new Home();
    if (wereKnown) {
      const { exitCode, stderr } = await runProgram([executable(), "gen"], { cwd: home.folder.path, env: home.env });
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    }
    home.breakAll();
  });
  afterAll(() => home[Symbol.dispose]());

  test("the instructions mark the servers that cannot start, and show none of their calls", async () => {
    await using session = await home.session();
    for (const server of ["git", "sqlite", "github"] as const) {
      expect(session.instructions).toContain(`- ${server} (down): `);
      expect(session.instructions).not.toContain(`${tasks[server].tool}(`);
    }
  });

  test("a search begins with the servers that are down, why, and what the user must do; the next one does not repeat it", async () => {
    await using session = await home.session();
    const first = await session.ask("search_tools", { queries: servers.map((server) => tasks[server].need) });
    expect(first).toStartWith("Down: git, sqlite, github. Retrying will not help. Tell the user:\n");
    for (const server of ["git", "sqlite", "github"] as const) expect(about(first, server)).toMatch(remedies[server]);
    // A server whose tools are known is not started by a search.
    if (!wereKnown) expect(about(first, "db")).toMatch(remedies.db);
    expect(first).not.toContain("Not searched");
    expect(await session.ask("search_tools", { query: "echo" })).not.toContain("Down:");
  });

  test.each(servers)("a search in %s alone tells of that server alone", async (server) => {
    await using session = await home.session();
    if (wereKnown) await session.ask("execute_code", { code: call(server) });
    const text = await session.ask("search_tools", { server, query: tasks[server].need });
    expect(about(text, server)).toMatch(remedies[server]);
    for (const other of servers.filter((each) => each !== server)) expect(about(text, other)).toBe("");
    expect(text).not.toContain("Did you mean");
    if (wereKnown)
      expect(text).toContain(`${server}.${tasks[server].tool}(args?: { path?: string }): Promise<unknown> // down`);
  });

  test.each(servers)("a program that calls %s learns in one trip what the user must do", async (server) => {
    await using session = await home.session();
    const text = await session.ask("execute_code", { code: call(server) });
    const [failure] = text.split(`\n\n[1 call (1 failed: ${server}.${tasks[server].tool}) · `);
    expect(failure).toMatch(remedies[server]);
    expect(failure).toMatch(/[Tt]ell the user: /);
    if (server !== "db") expect(failure).toContain("Retrying will not help.");
    // Neither a place in the code nor a time says that the program could do better.
    expect(failure).not.toMatch(/main\.ts|\^/);
    if (server !== "db") expect(failure).not.toContain("can be retried");
    // The other servers that are known to be down are told in the same answer.
    const others = (["git", "sqlite", "github"] as const).filter((each) => each !== server);
    for (const other of others) expect(about(text, other)).toMatch(remedies[other]);
  });

  test("a call right after a failure says that nothing was tried", async () => {
    await using session = await home.session();
    const code = `
const failures = [];
for (let n = 0; n < 6; n++) await db.list_tables({}).catch((error) => failures.push(error.message.split("\\n")[0]));
return failures;`;
    const text = await session.ask("execute_code", { code });
    expect(text).toContain('exited with code 3"');
    expect(text).toMatch(
      /exited with code 3 \((?:failed \d+ times in a row, )?not tried again, can be retried in [\d.]+ m?s\)/,
    );
  });

  test("the other servers are used in the same program, and only failed calls are named as failed", async () => {
    await using session = await home.session();
    const code = `
const results = await Promise.allSettled([one.echo({}), git.git_log({}), two.echo({}), sqlite.read_query({})]);
return results.map(({ status }) => status);`;
    const text = await session.ask("execute_code", { code });
    expect(text).toStartWith('["fulfilled", "rejected", "fulfilled", "rejected"]');
    expect(text).toContain("[4 calls (2 failed: git.git_log");
    expect(text).toMatch(/sqlite\.read_query(?:: [^)]*)?\) · /);
    for (const server of ["git", "sqlite"] as const) expect(about(text, server)).toMatch(remedies[server]);
  });

  test("a later session says that a server did not start last time, and still shows how to call it", async () => {
    {
      await using before = await home.session();
      await before.ask("execute_code", { code: call("db") });
    }
    await using session = await home.session();
    expect(session.instructions).toMatch(/\bdb \(down last time\)/);
    if (wereKnown) expect(session.instructions).toContain("list_tables(");
    const text = await session.ask("search_tools", { server: "db" });
    if (wereKnown) expect(text).toStartWith("Down last time: db did not start: its process exited with code 3");
    expect(text).toMatch(remedies.db);
  });

  test("a list of a server's tools inside a program says why they are not known", async () => {
    await using session = await home.session();
    const text = await session.ask("execute_code", { code: `return await tools.list("git");` });
    if (wereKnown) expect(text).toContain('"id": "git.git_log"');
    else expect(text).toMatch(/The tools of "git" are not known: .*there is no file.*Tell the user: /s);
    expect(text).not.toContain("Did you mean");
  });
});

test("servers whose files are missing under one folder are explained together, once", async () => {
  using folder = temporaryFolder();
  const names = ["git", "github", "sqlite", "time"];
  const missing = names.map((name) => [
    name,
    { command: "node", args: [`/nowhere/node_modules/mcp-${name}/index.js`] },
  ]);
  folder.write("claudikins.json", { mcpServers: { ok: fixture("echo"), ...Object.fromEntries(missing) } });
  const client = new Client({ name: "test", version: "1" });
  await using _ = { [Symbol.asyncDispose]: () => client.close() };
  const env = testEnvironment({ HOME: folder.path, CLAUDIKINS_DAEMON: "off" });
  await client.connect(new StdioClientTransport({ command: executable(), args: ["serve"], cwd: folder.path, env }));
  const { content } = await client.callTool({ name: "search_tools", arguments: { query: "commits" } });
  const [line] = (content as { text: string }[])[0]!.text.split("\n");
  expect(line).toBe(
    "Down: git, github, sqlite, time: their files do not exist, all of them under /nowhere/node_modules. " +
      "Retrying will not help. Tell the user: Install them there, or correct their paths in the config.",
  );
});
