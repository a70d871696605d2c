/** Different servers of the same name are never lost. Also: the output of a dry run, and values that an agent supplied. */
import { beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ownFolder } from "../support/own-folder.ts";
import { type CliOptions, cli } from "./in-memory.ts";

const folder = ownFolder();

const run = (argv: string[], options: CliOptions = {}) => cli(argv, { cwd: folder.path, ...options });
const init = async (...argv: string[]) => {
  const { exitCode, stdout, stderr } = await run(["init", "--no-start", "--apply", "--json", ...argv]);
  expect([exitCode, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
};
const json = (name: string) => JSON.parse(readFileSync(join(folder.path, name), "utf8"));
const config = () => json(".config/claudikins/claudikins.json").mcpServers;

const memories = { claude: { command: "memory", args: ["claude"] }, cursor: { command: "memory", args: ["cursor"] } };
function twoMemories(): void {
  folder.write(".claude.json", { mcpServers: { memory: memories.claude } });
  folder.write(".cursor/mcp.json", { mcpServers: { memory: memories.cursor, other: { command: "other" } } });
}

describe("init with two agents that define a server differently", () => {
  beforeEach(twoMemories);

  test("keeps the preferred server's name, and renames the other", async () => {
    const { servers, skipped } = await init("--prefer", "cursor");
    expect(config()).toEqual({
      other: { command: "other" },
      memory: memories.cursor,
      "memory-claude-code": memories.claude,
    });
    expect(servers.map(({ server }: { server: string }) => server)).toEqual(["other", "memory", "memory-claude-code"]);
    expect(skipped).toEqual([]);
  });

  test("takes one by name; the other stays in its file and is listed", async () => {
    const { skipped } = await init("--prefer", "memory=claude-code");
    expect(config()).toEqual({ memory: memories.claude, other: { command: "other" } });
    expect(skipped).toEqual([
      {
        name: "memory",
        host: "cursor",
        file: join(folder.path, ".cursor/mcp.json"),
        why: "the server of this name from claude-code was chosen",
      },
    ]);
    expect(json(".cursor/mcp.json").mcpServers.memory).toEqual(memories.cursor);
    expect(Object.keys(json(".cursor/mcp.json").mcpServers)).toEqual(["memory", "claudikins"]);
    expect(Object.keys(json(".claude.json").mcpServers)).toEqual(["claudikins"]);
  });

  test("keeps the servers of an existing config, and a second run finds them all", async () => {
    const mine = { command: "memory", args: ["mine"] };
    folder.write(".config/claudikins/claudikins.json", {
      mcpServers: { memory: mine, "memory-cursor": { command: "x" } },
    });
    await init("--prefer", "cursor");
    const all = {
      memory: memories.cursor,
      "memory-cursor": { command: "x" },
      other: { command: "other" },
      "memory-claudikins": mine,
      "memory-claude-code": memories.claude,
    };
    expect(config()).toEqual(all);
    await run(["restore"]);
    const { config: written } = await init("--keep-both");
    expect([config(), written.written]).toEqual([all, false]);
  });

  test.each([
    ["memory=codex", 'codex has no server called "memory"', "Choose one of: claude-code, cursor."],
    ["memroy=cursor", 'No agent has a server called "memroy"', "Did you mean memory?"],
    ["memory=curser", 'Unknown agent "curser"', "Did you mean cursor?"],
  ])("--prefer %s is refused, and nothing is changed", async (wish, message, hint) => {
    const { exitCode, stderr } = await run(["init", "--no-start", "--apply", "--prefer", wish]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
    expect(existsSync(join(folder.path, ".config"))).toBe(false);
  });
});

describe("a name that was decided", () => {
  const asked = "refers to different servers";
  const atTerminal = (...answers: string[]) => ({ terminal: true, answers, env: { NO_COLOR: "1" } });
  beforeEach(twoMemories);

  test.each([["1"], ["2"], ["3"]])(
    "is not asked about again, with --apply and without a terminal either: answer %s",
    async (answer) => {
      const first = await run(["init", "--no-start"], atTerminal(answer, "n"));
      expect([first.exitCode, first.stderr.includes(asked)]).toEqual([0, true]);
      const written = config();
      for (const [argv, options] of [
        [["init", "--no-start"], atTerminal("n")],
        [["init", "--no-start", "--apply"], {}],
        [["init", "--no-start", "--apply"], atTerminal()],
      ] as const) {
        const again = await run([...argv], options);
        expect([again.exitCode, again.stderr.includes(asked), config()]).toEqual([0, false, written]);
      }
    },
  );

  test("can be decided again, as the note about the other server says", async () => {
    await run(["init", "--no-start"], atTerminal("1", "y"));
    const { stderr } = await run(["init", "--no-start", "--apply"]);
    const [, wish = ""] = /another server of this name was chosen before; .*: --prefer (\S+)/.exec(stderr) ?? [];
    expect(wish).toBe("memory=cursor");
    await init("--prefer", wish);
    expect(config()).toMatchObject({ memory: memories.cursor, "memory-claudikins": memories.claude });
  });

  test("is asked about again if an agent's server has changed", async () => {
    await run(["init", "--no-start"], atTerminal("1", "y"));
    folder.write(".cursor/mcp.json", { mcpServers: { memory: { command: "memory", args: ["new"] } } });
    const { exitCode, stderr } = await run(["init", "--no-start", "--apply"]);
    expect([exitCode, stderr.includes(asked)]).toEqual([2, true]);
  });

  test("is kept without any setting of the servers, in a file that only the user can read", async () => {
    await run(["init", "--no-start"], atTerminal("1", "y"));
    const file = join(folder.path, ".local/share/claudikins/hosts/decisions.json");
    expect(readFileSync(file, "utf8")).not.toContain('"cursor"');
    if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
    folder.write(".local/share/claudikins/hosts/decisions.json", '{ "left": [7] ');
    expect((await run(["init", "--no-start", "--apply"])).stderr).toContain(asked);
  });
});

test("an entry of the config stays the agent's server if a person adds settings of claudikins to it", async () => {
  folder.write(".cursor/mcp.json", { mcpServers: { memory: memories.cursor } });
  const added = { session: "private", inherit: ["EDITOR"], confirm: "never", maxCallsInFlight: 2, keepAlive: true };
  folder.write(".config/claudikins/claudikins.json", { mcpServers: { memory: { ...memories.cursor, ...added } } });
  const { servers } = await init();
  expect(servers).toEqual([expect.objectContaining({ server: "memory", new: false })]);
});

describe("choices that look the same", () => {
  const withEnv = (path: string, token: string) => ({
    command: "memory",
    env: { MEMORY_FILE_PATH: path, API_TOKEN: token },
  });

  test("show the settings that differ, and hide only secrets", async () => {
    folder.write(".claude.json", { mcpServers: { memory: withEnv("/data/a.json", "t0k3n-one-1") } });
    folder.write(".cursor/mcp.json", { mcpServers: { memory: withEnv("/data/b.json", "s3cr3t-two-2") } });
    const { stderr } = await run(["init", "--no-start", "--apply"]);
    expect(stderr).toContain("claude-code: memory (with MEMORY_FILE_PATH=/data/a.json, API_TOKEN=***)\n");
    expect(stderr).toContain("cursor: memory (with MEMORY_FILE_PATH=/data/b.json, API_TOKEN=***)\n");
    expect(stderr).not.toContain("a hidden value differs");
  });

  test.each([
    ["a folder", { cwd: "/one" }, { cwd: "/two" }, ["cwd=/one", "cwd=/two"]],
    ["a variable that one lacks", { env: { REGION: "eu-west-1" } }, { env: {} }, ["(with REGION)", "cursor: memory\n"]],
    ["a short secret", { env: { PASSWORD: "abc" } }, { env: { PASSWORD: "xyz" } }, ["a hidden value differs"]],
  ])("are told apart by %s", async (_, one, other, texts) => {
    folder.write(".claude.json", { mcpServers: { memory: { command: "memory", ...one } } });
    folder.write(".cursor/mcp.json", { mcpServers: { memory: { command: "memory", ...other } } });
    const { stderr } = await run(["init", "--no-start", "--apply"]);
    for (const text of texts) expect(stderr).toContain(text);
    expect(stderr).not.toMatch(/abc|xyz/);
  });
});

test("a server of one project is announced when it becomes available everywhere", async () => {
  folder.write(".claude.json", {
    projects: { "/code/shop": { mcpServers: { db: { command: "db" } } } },
    mcpServers: { all: { command: "all" } },
  });
  const { stderr } = await run(["init", "--no-start", "--apply"]);
  expect(stderr).toContain("note: db: it was available only in /code/shop and is now available in every folder\n");
  expect(stderr).not.toContain("note: all:");
  expect(config().db).toEqual({ command: "db", cwd: "/code/shop" });
});

describe("a dry run", () => {
  test("describes the current state even if nothing would change", async () => {
    twoMemories();
    await init("--keep-both");
    const { exitCode, stdout, stderr } = await run(["init", "--no-start", "--dry-run"]);
    expect([exitCode, stdout, stderr]).toEqual([
      0,
      `Claude Code (${join(folder.path, ".claude.json")}): claudikins, and no other servers\nCursor (${join(folder.path, ".cursor/mcp.json")}): claudikins, and no other servers\n`,
      "\nNothing would change.\n",
    ]);
    const seen = JSON.parse((await run(["init", "--no-start", "--dry-run", "--json"])).stdout).seen;
    expect(seen[0]).toEqual({
      host: "claude-code",
      file: join(folder.path, ".claude.json"),
      servers: 0,
      claudikins: true,
    });
  });

  test("says so if there is no agent", async () => {
    const { exitCode, stdout, stderr } = await run(["init", "--dry-run"]);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining("No agent with MCP settings was found.")]);
    expect(stderr).toContain("Nothing would change.\nAdd a server by its name");
  });

  test("shows the plan, then the decisions that are needed, and asks nothing", async () => {
    twoMemories();
    const { exitCode, stdout, stderr } = await run(["init", "--no-start", "--dry-run"], {
      terminal: true,
      answers: [],
      env: { NO_COLOR: "1" },
    });
    expect(exitCode).toBe(0);
    expect(stdout).toContain('+    "other": {');
    expect(stdout.indexOf("  memory\n    claude-code: memory claude\n    cursor: memory cursor\n")).toBeGreaterThan(
      stdout.indexOf("+++ "),
    );
    // Servers without a decision stay in their file.
    expect(stdout).not.toMatch(/^-.*"memory"/m);
    expect(stderr).toContain("--prefer memory=cursor");
    const document = JSON.parse((await run(["init", "--no-start", "--dry-run", "--json"])).stdout);
    expect(document.conflicts).toMatchObject([
      { name: "memory", choices: [{ about: "claude-code: memory claude" }, {}] },
    ]);
    expect(document.servers.map(({ server }: { server: string }) => server)).toEqual(["other"]);
  });
});

describe("a value that VS Code asked for", () => {
  beforeEach(() => {
    folder.write(".config/Code/User/mcp.json", {
      inputs: [{ id: "maps-key", type: "promptString", description: "Key of the maps", password: true }],
      servers: {
        maps: { command: "maps", args: ["--key=${input:maps-key}"], env: { MAPS_API_KEY: "${input:maps-key}" } },
      },
    });
  });

  const kept = () =>
    JSON.parse(readFileSync(join(folder.path, ".local/share/claudikins/secrets.json"), "utf8")).secrets.MAPS_KEY.value;
  const referred = {
    command: "maps",
    args: ["--key=${secret:MAPS_KEY}"],
    env: { MAPS_API_KEY: "${secret:MAPS_KEY}" },
  };

  test("is requested once at a terminal, and goes to the keychain if it is a password", async () => {
    const { stderr, exitCode } = await run(["init", "--no-start", "--apply"], {
      terminal: true,
      answers: ["s3cr3t-0815", "n"],
    });
    expect(exitCode).toBe(0);
    expect(stderr).toContain('maps needs MAPS_KEY: the agent asked you for "Key of the maps"\n');
    expect(config().maps).toEqual(referred);
    expect(kept()).toBe("s3cr3t-0815");
    expect(stderr).not.toContain("s3cr3t-0815");
  });

  test("leaves the server with its agent without a terminal, with an explanation and the next step", async () => {
    const file = join(folder.path, ".config/Code/User/mcp.json");
    const before = readFileSync(file, "utf8");
    const { stderr } = await run(["init", "--no-start", "--apply"]);
    expect(stderr).toContain(`note: maps stays in ${file}: it needs MAPS_API_KEY, MAPS_KEY, not set here`);
    expect(stderr).toContain("or add --env MAPS_API_KEY=value");
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test("is a variable if the environment has it", async () => {
    await run(["init", "--no-start", "--apply"], { env: { MAPS_KEY: "abc", MAPS_API_KEY: "abc" } });
    expect(config().maps.args).toEqual(["--key=${MAPS_KEY}"]);
  });

  test("can be given with --env", async () => {
    const { exitCode, stderr } = await run(["init", "--no-start", "--apply", "--env", "MAP_KEY=s3cr3t"]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("no imported server refers to ${MAP_KEY}")]);
    expect(stderr).not.toContain("s3cr3t");
    const { servers } = await init("--env", "MAPS_KEY=abc", "--env", "MAPS_API_KEY=abc");
    expect(servers).toMatchObject([{ server: "maps", needs: [] }]);
    expect(servers[0].notes).toBeUndefined();
    expect(config().maps).toEqual(referred);
    expect(kept()).toBe("abc");
    // A second run recognises it.
    await run(["restore"]);
    expect((await init()).config.written).toBe(false);
  });
});
