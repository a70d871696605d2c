/** `init`: the table, its questions, what it writes, and what goes wrong. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/claudikins.ts";
import { ownFolder } from "../support/own-folder.ts";
import { everything, fixture, fixturePrograms } from "../support/servers.ts";
import { withName } from "../support/shown-paths.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { type CliOptions, type CliResult, cli, page } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();

const run = (argv: string[], options: CliOptions = {}): Promise<CliResult> =>
  cli(argv, { cwd: folder.path, ...options });

/** Without the paths of this machine, and without times and counts that depend on it. */
function tidy(argv: string[], result: CliResult): string {
  const named = [
    [fixturePrograms(), "FIXTURES"],
    [process.execPath, "BUN"],
    [root, "ROOT"],
  ] as const;
  return named
    .reduce((text, [path, name]) => withName(text, path, name), page(argv, result, folder.path))
    .replace(/(?<=\S) {3,}/g, "  ");
}
const shown = async (argv: string[], options: CliOptions = {}) => tidy(argv, await run(argv, options));

const json = (name: string) => JSON.parse(readFileSync(join(folder.path, name), "utf8"));
const config = () => json(".config/claudikins/claudikins.json");

const token = "ghp_ofNobody0123456789";
const github = { command: "npx", args: ["-y", "server-github"], env: { GITHUB_TOKEN: token } };

function twoHosts(): void {
  folder.write(".claude.json", {
    mcpServers: { github, docs: { type: "http", url: "https://docs.example.com/mcp?key=s3cr3t-0815" } },
  });
  folder.write(".cursor/mcp.json", {
    mcpServers: {
      github,
      docs: { url: "https://docs.example.com/mcp?key=another-4711" },
      keyed: { command: "keyed", env: { KEY: "${env:KEY_OF_MINE}" } },
    },
  });
}

test("init lists the servers in one table, writes the config with --apply, and changes the agents' files", async () => {
  twoHosts();
  expect(await shown(["init", "--no-start", "--prefer", "cursor", "--apply"])).toMatchInlineSnapshot(`
    "$ claudikins init --no-start --prefer cursor --apply
    --- stdout
    server  from  transport  needs  tools  tokens (about)
    github  claude-code, cursor  stdio  -  -  -
    docs  cursor  http  -  -  -
    docs-claude-code  claude-code  http  -  -  -
    --- stderr

    note: github may use the folder that it starts in, so it has one process for each folder that agents work in. For one process in all folders, add "cwd" to the entry
    note: keyed stays in FOLDER/.cursor/mcp.json: it needs KEY_OF_MINE, not set here. Set this and run claudikins init again, or add --env KEY_OF_MINE=value

    note: 3 values of imported servers look like secrets:
      github: GITHUB_TOKEN
      docs: key
      docs-claude-code: key
    To keep them in the system's keychain and not in the config: claudikins init --secrets move

    Wrote FOLDER/.config/claudikins/claudikins.json
    Changed claude-code: FOLDER/.claude.json
    Changed cursor: FOLDER/.cursor/mcp.json
    Restart your agents to use claudikins. To undo this: claudikins restore
    --- exit code 0
    "
  `);
  expect(Object.keys(config().mcpServers)).toEqual(["github", "docs", "docs-claude-code"]);
  expect(config().mcpServers.docs.url).toEndWith("another-4711");
  expect(Object.keys(json(".claude.json").mcpServers)).toEqual(["claudikins"]);
  expect(await shown(["restore"])).toMatchInlineSnapshot(`
    "$ claudikins restore
    --- stdout
    Restored cursor: FOLDER/.cursor/mcp.json
    Restored claude-code: FOLDER/.claude.json
    --- stderr
    Restart your agents to use their own servers again.
    --- exit code 0
    "
  `);
});

test("a well-known server keeps the variables that it reads, and the others are named", async () => {
  folder.write(".claude.json", {
    mcpServers: {
      sentry: { command: "npx", args: ["-y", "@sentry/mcp-server"] },
      own: { command: "own", env: { OWN_KEY: "1" } },
    },
  });
  const env = { SENTRY_ACCESS_TOKEN: "s3cr3t", OTHER_TOKEN: "s3cr3t", HTTPS_PROXY: "http://127.0.0.1:9", SHLVL: "2" };
  const { stdout, stderr } = await run(["init", "--no-start", "--apply"], { env });
  expect(stderr).toContain("note: sentry: it gets SENTRY_ACCESS_TOKEN from your environment");
  expect(stderr).toContain("say where things are, and not OTHER_TOKEN. To pass one on");
  expect(stdout + stderr).not.toContain("s3cr3t");
  expect(config().mcpServers.sentry.inherit).toEqual(["SENTRY_ACCESS_TOKEN"]);
  expect(config().mcpServers.own).not.toHaveProperty("inherit");
});

test("without consent, only the config is written", async () => {
  twoHosts();
  const before = readFileSync(join(folder.path, ".cursor/mcp.json"), "utf8");
  expect(await shown(["init", "--no-start", "--prefer", "cursor"])).toMatchInlineSnapshot(`
    "$ claudikins init --no-start --prefer cursor
    --- stdout
    server  from  transport  needs  tools  tokens (about)
    github  claude-code, cursor  stdio  -  -  -
    docs  cursor  http  -  -  -
    docs-claude-code  claude-code  http  -  -  -
    --- stderr

    note: github may use the folder that it starts in, so it has one process for each folder that agents work in. For one process in all folders, add "cwd" to the entry
    note: keyed stays in FOLDER/.cursor/mcp.json: it needs KEY_OF_MINE, not set here. Set this and run claudikins init again, or add --env KEY_OF_MINE=value

    note: 3 values of imported servers look like secrets:
      github: GITHUB_TOKEN
      docs: key
      docs-claude-code: key
    To keep them in the system's keychain and not in the config: claudikins init --secrets move

    Wrote FOLDER/.config/claudikins/claudikins.json

    Your agents' settings were not changed. To change them: claudikins init --apply
    --- exit code 0
    "
  `);
  expect(readFileSync(join(folder.path, ".cursor/mcp.json"), "utf8")).toBe(before);
  expect(existsSync(join(folder.path, ".config/claudikins/claudikins.json"))).toBe(true);
});

test("the demo is imported like any other server", async () => {
  folder.write(".claude.json", { mcpServers: { shop: { command: "claudikins", args: ["demo"] } } });
  const { stdout } = await run(["init", "--no-start", "--apply", "--json"]);
  expect(JSON.parse(stdout).servers).toMatchObject([{ server: "shop", new: true }]);
  const settings = JSON.parse(readFileSync(join(folder.path, ".claude.json"), "utf8"));
  expect(Object.keys(settings.mcpServers)).toEqual(["claudikins"]);
  expect(settings.mcpServers.claudikins.args.at(-1)).toBe("serve");
});

test("a dry run shows each line that would change, and writes nothing", async () => {
  folder.write(
    ".codex/config.toml",
    'model = "x" # mine\n\n[mcp_servers.github]\ncommand = "npx"\nargs = ["-y", "server-github"]\nenv = { TOKEN = "s3cr3t-0815" }\n',
  );
  expect(await shown(["init", "--no-start", "--dry-run"])).toMatchInlineSnapshot(`
    "$ claudikins init --no-start --dry-run
    --- stdout
    Codex (FOLDER/.codex/config.toml): 1 server
    server  from  transport  needs  tools  tokens (about)
    github  codex  stdio  -  -  -

    --- FOLDER/.config/claudikins/claudikins.json
    +++ FOLDER/.config/claudikins/claudikins.json
    @@ -0,0 +1,11 @@
    +{
    +  "mcpServers": {
    +  "github": {
    +  "command": "npx",
    +  "args": ["-y", "server-github"],
    +  "env": {
    +  "TOKEN": "***"
    +  }
    +  }
    +  }
    +}

    --- FOLDER/.codex/config.toml
    +++ FOLDER/.codex/config.toml
    @@ -1,6 +1,7 @@
     model = "x" # mine
     
    -[mcp_servers.github]
    -command = "npx"
    -args = ["-y", "server-github"]
    -env = { TOKEN = "***" }
    +[mcp_servers.claudikins]
    +command = "BUN"
    +args = ["ROOT/src/main.ts", "serve"]
    +default_tools_approval_mode = "approve"
    +
    --- stderr

    note: github may use the folder that it starts in, so it has one process for each folder that agents work in. For one process in all folders, add "cwd" to the entry
    note: Codex will run the tools of claudikins without asking, because codex exec cancels execute_code otherwise. The policy of your config decides about calls: for questions before calls that may destroy something, set "policy": { "confirm": "destructive" }

    note: 1 value of imported servers looks like a secret:
      github: TOKEN
    To keep it in the system's keychain and not in the config: claudikins init --secrets move

    Nothing was written. To make these changes, run the command again without --dry-run.
    --- exit code 0
    "
  `);
  expect([existsSync(join(folder.path, ".config")), existsSync(join(folder.path, ".local"))]).toEqual([false, false]);
});

describe("different servers of the same name", () => {
  test("are an error that says how to choose, without showing secrets", async () => {
    twoHosts();
    expect(await shown(["init", "--no-start", "--apply"])).toMatchInlineSnapshot(`
      "$ claudikins init --no-start --apply
      --- stderr
      error: One name refers to different servers:
        docs
          claude-code: https://docs.example.com/mcp?key=***; a hidden value differs
          cursor: https://docs.example.com/mcp?key=***; a hidden value differs

      hint: To keep all of them under different names: --keep-both. To import only one and leave the others where they are: --prefer docs=cursor. To let the servers of cursor keep their names and rename the others: --prefer cursor. Nothing was changed.
      --- exit code 2
      "
    `);
    expect(existsSync(join(folder.path, ".config"))).toBe(false);
    const result = await run(["init", "--no-start", "--apply", "--json"], { terminal: true, answers: ["1"] });
    expect([result.exitCode, result.stdout, JSON.parse(result.stderr).error.code]).toEqual([2, "", "USAGE"]);
  });

  test("are asked about at a terminal", async () => {
    twoHosts();
    const { stderr, exitCode } = await run(["init", "--no-start"], {
      terminal: true,
      answers: ["x", "9", "1", "n", "y"],
      env: { NO_COLOR: "1", KEY_OF_MINE: "mine" },
    });
    expect(exitCode).toBe(0);
    expect(stderr).toContain(
      "docs refers to different servers:\n  1  claude-code: https://docs.example.com/mcp?key=***; a hidden value differs\n  2  cursor: https://docs.example.com/mcp?key=***; a hidden value differs\n  3  all of them, under different names\n",
    );
    expect(stderr.match(/Choose 1 to 3: /g)).toHaveLength(3);
    expect(stderr).toContain("Change them? claudikins restore brings the originals back. [y/N] ");
    expect(config().mcpServers.docs.url).toEndWith("s3cr3t-0815");
    // The other server stays in its file, and the person is told.
    expect(Object.keys(json(".cursor/mcp.json").mcpServers)).toEqual(["docs", "claudikins"]);
    expect(stderr).toContain("note: docs stays in ");
  });

  test("keep both if chosen; an empty answer to the last question changes no agent's file", async () => {
    twoHosts();
    const result = await run(["init", "--no-start"], {
      terminal: true,
      answers: ["3", "", ""],
      env: { KEY_OF_MINE: "mine" },
    });
    expect(result.exitCode).toBe(0);
    expect(Object.keys(config().mcpServers)).toEqual(["github", "keyed", "docs", "docs-cursor"]);
    expect(json(".cursor/mcp.json").mcpServers.claudikins).toBeUndefined();
    // If the input ends before all questions are answered, nothing is written.
    using other = temporaryFolder();
    other.write(".claude.json", { mcpServers: { a: { command: "a" } } });
    other.write(".cursor/mcp.json", { mcpServers: { a: { command: "b" } } });
    expect((await cli(["init", "--no-start"], { cwd: other.path, terminal: true, answers: [] })).exitCode).toBe(130);
    expect(existsSync(join(other.path, ".config"))).toBe(false);
  });

  test("--prefer claudikins keeps the server of the existing config", async () => {
    twoHosts();
    folder.write(".config/claudikins/claudikins.json", { mcpServers: { docs: { url: "https://mine.example.com" } } });
    await run(["init", "--no-start", "--apply", "--prefer", "claudikins"]);
    expect(config().mcpServers.docs).toEqual({ url: "https://mine.example.com" });
    await run(["restore"]);
    await run(["init", "--no-start", "--apply", "--prefer", "claude-code"]);
    expect(config().mcpServers.docs.url).toEndWith("s3cr3t-0815");
  });
});

test("init starts the servers and counts their definitions; a server that fails stops nothing", async () => {
  folder.write(".claude.json", {
    mcpServers: {
      everything: everything(),
      odd: fixture("odd"),
      broken: fixture("crash-on-start"),
      off: { ...fixture("odd"), disabled: true },
    },
  });
  const { exitCode, stdout, stderr } = await run(["init", "--apply", "--json"]);
  expect([exitCode, stderr]).toEqual([0, ""]);
  const { servers } = JSON.parse(stdout);
  expect(servers).toEqual([
    expect.objectContaining({ server: "everything", tools: expect.any(Number), tokens: expect.any(Number), new: true }),
    expect.objectContaining({ server: "odd", tools: expect.any(Number) }),
    expect.objectContaining({ server: "broken", problem: expect.objectContaining({ code: "SERVER_UNAVAILABLE" }) }),
    expect.objectContaining({ server: "off", disabled: true }),
  ]);
  expect(servers[0].tokens).toBeGreaterThan(300);
  expect(servers[3].tools).toBeUndefined();
  // The first search finds them without asking.
  const found = await run(["search", "echo", "--json"]);
  expect(JSON.parse(found.stdout).tools[0].id).toBe("everything.echo");
});

describe("a server that does not start", () => {
  const servers = { odd: fixture("odd"), broken: fixture("crash-on-start") };
  const files = () => [Object.keys(config().mcpServers), Object.keys(json(".claude.json").mcpServers)];

  test("is imported with --apply, and the person is told why it failed and what to do", async () => {
    folder.write(".claude.json", { mcpServers: servers });
    const { exitCode, stderr } = await run(["init", "--apply"]);
    expect(exitCode).toBe(0);
    expect(files()).toEqual([["odd", "broken"], ["claudikins"]]);
    expect(stderr).toContain('\nwarning: Server "broken" did not start: its process exited with code 3\n');
    expect(stderr).toContain("\nnote: servers that do not start are imported as well. To check them later:");
  });

  test("stays where it is if the person declines, and the next run imports it once it starts", async () => {
    folder.write(".claude.json", { mcpServers: servers });
    const { exitCode, stderr } = await run(["init"], { terminal: true, answers: ["n", "y"] });
    expect([exitCode, files()]).toEqual([0, [["odd"], ["broken", "claudikins"]]]);
    expect(stderr).toContain(`\nnote: broken stays in ${join(folder.path, ".claude.json")}: it did not start\n`);
    expect(stderr).toContain("To import them anyway: claudikins init --no-start\n");
    folder.write(
      ".claude.json",
      readFileSync(join(folder.path, ".claude.json"), "utf8").replace("crash-on-start", "odd"),
    );
    await run(["init", "--apply"]);
    expect(files()).toEqual([["odd", "broken"], ["claudikins"]]);
  });

  test("is in the changes that a dry run shows", async () => {
    folder.write(".claude.json", { mcpServers: servers });
    const { stdout } = await run(["init", "--dry-run", "--json"]);
    expect(JSON.parse(stdout).diff).toContain('+    "broken": {');
  });

  test.each([
    ["y", [["odd", "broken"], ["claudikins"]]],
    ["", [["odd"], ["broken", "claudikins"]]],
  ])("is imported if the person says so: %j", async (answer, expected) => {
    folder.write(".claude.json", { mcpServers: servers });
    const { stderr, exitCode } = await run(["init"], { terminal: true, answers: [answer, "y"] });
    expect([exitCode, files()]).toEqual([0, expected]);
    expect(stderr).toContain("\nbroken did not start. Import it as well? Otherwise it stays");
  });

  test("is asked about by itself, so that one is imported and another stays", async () => {
    folder.write(".claude.json", { mcpServers: { ...servers, second: fixture("crash-on-start", "second") } });
    await run(["init"], { terminal: true, answers: ["n", "y", "y"] });
    expect(files()).toEqual([
      ["odd", "second"],
      ["broken", "claudikins"],
    ]);
  });

  test("can be repaired in the config, and a later init says how to keep the repaired entry", async () => {
    folder.write(".claude.json", { mcpServers: servers });
    await run(["init", "--no-start", "--apply"]);
    await run(["restore"]);
    folder.write(".config/claudikins/claudikins.json", {
      mcpServers: { ...servers, broken: fixture("odd", "repaired") },
    });
    const { exitCode, stderr } = await run(["init", "--no-start", "--apply"]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--prefer broken=claudikins")]);
    expect((await run(["init", "--no-start", "--apply", "--prefer", "broken=claudikins"])).exitCode).toBe(0);
    expect(config().mcpServers.broken.args).toContain("repaired");
  });

  test("stays alone if it shares its name with a server that starts", async () => {
    folder.write(".claude.json", { mcpServers: { odd: fixture("odd") } });
    folder.write(".cursor/mcp.json", { mcpServers: { odd: fixture("crash-on-start"), more: fixture("odd") } });
    await run(["init", "--keep-both"], { terminal: true, answers: ["n", "y"] });
    expect(files()).toEqual([["more", "odd"], ["claudikins"]]);
    expect(Object.keys(json(".cursor/mcp.json").mcpServers)).toEqual(["odd", "claudikins"]);
  });

  test("leaves its agent alone if the person declines and no other server can take its place", async () => {
    const before = { mcpServers: { broken: servers.broken } };
    folder.write(".claude.json", before);
    const { exitCode, stderr } = await run(["init"], { terminal: true, answers: ["n"] });
    expect([exitCode, json(".claude.json")]).toEqual([0, before]);
    expect(stderr).toContain("No agent's settings need to change.\n");
    expect(existsSync(join(folder.path, ".config"))).toBe(false);
  });

  test("is taken out of an agent if the config has it already", async () => {
    folder.write(".config/claudikins/claudikins.json", { mcpServers: servers });
    folder.write(".claude.json", { mcpServers: servers });
    await run(["init", "--apply"]);
    expect(files()).toEqual([["odd", "broken"], ["claudikins"]]);
  });
});

test("a dry run starts the servers and writes nothing, even if a server announces a change of its tools", async () => {
  folder.write(".claude.json", { mcpServers: { odd: fixture("odd"), everything: everything() } });
  const { exitCode, stdout } = await run(["init", "--dry-run", "--json"]);
  expect([exitCode, JSON.parse(stdout).servers[0].tools]).toEqual([0, expect.any(Number)]);
  expect([existsSync(join(folder.path, ".config")), existsSync(join(folder.path, ".local"))]).toEqual([false, false]);
});

test("--timeout limits the wait for a slow server, which is told apart from a broken one", async () => {
  const mcpServers = { slow: fixture("never-starts"), broken: fixture("crash-on-start"), odd: fixture("odd") };
  folder.write(".claude.json", { mcpServers });
  const { exitCode, stdout } = await run(["init", "--json", "--timeout", "3s"]);
  expect(exitCode).toBe(0);
  const [slow, broken] = JSON.parse(stdout).servers;
  expect(slow).toMatchObject({ slow: true, problem: { message: "slow did not answer within 3 s" } });
  expect(broken).toMatchObject({ problem: { message: expect.stringContaining("did not start") } });
  expect(broken).not.toHaveProperty("slow");
});

test("a server that was late beside others is tried again alone", async () => {
  const { command, args = [] } = fixture("odd");
  const first = { command: "sh", args: ["-c", 'sleep 4; exec "$@"', "sh", command, ...args] };
  folder.write(".claude.json", { mcpServers: { late: first, odd: fixture("odd") } });
  const { exitCode, stdout } = await run(["init", "--json", "--timeout", "3s"]);
  expect([exitCode, JSON.parse(stdout).servers[0]]).toEqual([
    0,
    expect.objectContaining({ tools: expect.any(Number) }),
  ]);
});

test("Ctrl-C writes nothing", async () => {
  folder.write(".claude.json", { mcpServers: { odd: fixture("odd") } });
  const { exitCode, stderr } = await run(["init", "--apply"], { interrupted: AbortSignal.abort() });
  expect([exitCode, stderr]).toEqual([130, expect.stringContaining("error: Nothing was changed\n")]);
  expect([existsSync(join(folder.path, ".config")), existsSync(join(folder.path, ".local"))]).toEqual([false, false]);
});

test("the JSON contains everything except secrets", async () => {
  twoHosts();
  folder.write(".gemini/settings.json", '{ "mcpServers": { "a": }');
  const failed = await run(["init", "--no-start", "--prefer", "cursor", "--apply", "--json"]);
  expect([failed.exitCode, failed.stdout]).toEqual([2, ""]);
  const { error, init } = JSON.parse(failed.stderr);
  expect(error.code).toBe("CONFIG_INVALID");
  expect(init.hosts.map(({ host, result }: { host: string; result: string }) => [host, result])).toEqual([
    ["claude-code", "rewired"],
    ["cursor", "rewired"],
  ]);
  expect(init.config).toEqual({ file: join(folder.path, ".config/claudikins/claudikins.json"), written: true });
  expect(failed.stderr).not.toContain(token);
  folder.write(".gemini/settings.json", "{}");
  expect(JSON.parse((await run(["restore", "--json"])).stdout)).toEqual({
    files: [
      { host: "cursor", file: join(folder.path, ".cursor/mcp.json"), result: "restored" },
      { host: "claude-code", file: join(folder.path, ".claude.json"), result: "restored" },
    ],
  });
  await run(["init", "--no-start", "--prefer", "cursor", "--apply"]);
  folder.write(".cursor/mcp.json", '{ "mcpServers": { "other": { "command": "x" } } }');
  const refused = await run(["restore", "--json"]);
  expect([refused.exitCode, refused.stdout]).toEqual([2, ""]);
  expect(JSON.parse(refused.stderr).files).toEqual([
    { host: "cursor", file: join(folder.path, ".cursor/mcp.json"), result: "changed since", diff: expect.any(String) },
    { host: "claude-code", file: join(folder.path, ".claude.json"), result: "restored" },
  ]);
  expect(refused.stderr).not.toContain(token);
  await run(["restore", "--force"]);
  const dry = await run(["init", "--no-start", "--prefer", "cursor", "--dry-run", "--json"]);
  expect(JSON.parse(dry.stdout)).toMatchObject({ config: { written: false }, diff: expect.stringContaining("+++ ") });
  expect(dry.stdout).not.toContain(token);
});

test("agents' entries name a config that --config selected", async () => {
  folder.write(".claude.json", { mcpServers: { a: { command: "a", env: { TOKEN: "s3cr3t-0815" } } } });
  const cwd = join(folder.path, "project");
  folder.write("project/README.md", "");
  const argv = ["init", "--no-start", "--apply", "--config", "claudikins.json"];
  const { stderr } = await run(argv, { cwd, env: { HOME: folder.path } });
  expect(stderr).toContain(`warning: ${join(cwd, "claudikins.json")} contains secrets: keep it out of git`);
  expect(Object.keys(json("project/claudikins.json").mcpServers)).toEqual(["a"]);
  expect(json(".claude.json").mcpServers.claudikins.args).toEqual([
    ...(Bun.isStandaloneExecutable ? [] : [join(root, "src", "main.ts")]),
    "serve",
    "--config",
    join(cwd, "claudikins.json"),
  ]);
});

test("without any server, init says what to do instead", async () => {
  expect(await shown(["init"])).toMatchInlineSnapshot(`
    "$ claudikins init
    --- stderr
    error: No agent on this machine has an MCP server

    hint: Add a server by its name, for example: claudikins add context7
    --- exit code 2
    "
  `);
  folder.write("project/.mcp.json", { mcpServers: { b: { command: "b" } } });
  const { stderr } = await run(["init"], { cwd: join(folder.path, "project"), env: { HOME: folder.path } });
  expect(stderr).toContain("claudikins init --project");
});

test.each([
  [["init", "--host", "curser"], 'Unknown agent "curser"', "Did you mean cursor?"],
  [["init", "--prefer", "codx"], 'Unknown agent "codx"', "Did you mean codex?"],
  [["init", "--timeout", "soon"], "--timeout takes a time", ""],
  [["restore", "--host", "vs code"], 'Unknown agent "vs code"', "Did you mean vscode?"],
])("%j is refused", async (argv, message, hint) => {
  const { exitCode, stdout, stderr } = await run(argv);
  expect([exitCode, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(message);
  expect(stderr).toContain(hint);
});

describe("values that look like secrets", () => {
  const stored = () => json(".local/share/claudikins/secrets.json").secrets;

  test("move to the user's secrets with --secrets move, and restore brings the agents' files back byte for byte", async () => {
    const cursor = `{
  // mine
  "mcpServers": {
    "github": { "command": "npx", "args": ["-y", "server-github"], "env": { "GITHUB_TOKEN": "${token}", "MODE": "fast" } },
    "api": { "url": "https://api.example.com/mcp", "headers": { "Authorization": "Bearer abc-0815-4711", "X-Trace": "on" } },
    "own": { "command": "own", "env": { "API_KEY": "\${env:OWN_KEY}", "GITHUB_TOKEN": "another-0815-4711" } }
  }
}
`;
    folder.write(".cursor/mcp.json", cursor);
    const done = await run(["init", "--no-start", "--apply", "--secrets", "move"], { env: { OWN_KEY: "own" } });
    expect(done.exitCode).toBe(0);
    expect(`${done.stdout}${done.stderr}`).not.toMatch(/0815|ofNobody/);
    const { github, api, own } = config().mcpServers;
    expect([github.env, api.headers, own.env]).toEqual([
      { GITHUB_TOKEN: "${secret:GITHUB_TOKEN}", MODE: "fast" },
      { Authorization: "Bearer ${secret:API_AUTHORIZATION}", "X-Trace": "on" },
      { API_KEY: "${OWN_KEY}", GITHUB_TOKEN: "${secret:OWN_GITHUB_TOKEN}" },
    ]);
    const values = Object.fromEntries(
      Object.entries(stored()).map(([name, kept]) => [name, (kept as { value: string }).value]),
    );
    expect(values).toEqual({
      GITHUB_TOKEN: token,
      API_AUTHORIZATION: "abc-0815-4711",
      OWN_GITHUB_TOKEN: "another-0815-4711",
    });
    expect((await run(["restore"])).exitCode).toBe(0);
    expect(readFileSync(join(folder.path, ".cursor/mcp.json"), "utf8")).toBe(cursor);
    // The config has these servers, so there is nothing to choose and nothing to move.
    const again = await run(["init", "--no-start", "--apply"]);
    expect([again.exitCode, again.stderr]).toEqual([0, expect.not.stringContaining("look like secrets")]);
    expect(Object.keys(config().mcpServers)).toEqual(["github", "api", "own"]);
  });

  test("move from arguments and addresses as well, and a second run recognises the servers", async () => {
    folder.write(".cursor/mcp.json", {
      mcpServers: {
        flag: { command: "a", args: ["--api-key", "k-0815-4711-abc", "--mode", "fast", "."] },
        joined: { command: "b", args: ["--token=t-0815-4711-abc"] },
        header: {
          command: "npx",
          args: ["mcp-remote", "https://h.example.com", "--header", "Authorization: Bearer b-0815-4711"],
        },
        db: {
          command: "npx",
          args: ["server-postgres", "postgresql://ann:pw-0815-4711@localhost/shop?sslpassword=ssl-0815-4711"],
        },
        query: { url: "https://q.example.com/mcp?apiKey=q-0815-4711-abc&mode=x" },
        path: { url: "https://p.example.com/s/p0815p4711pabcdefghijk/mcp" },
        several: {
          url: "https://s.example.com/s/s0815p4711pabcdefghijk/mcp?org=${env:ORG}&apiKey=a-0815-4711-abc&at=/x&token=t-0815-4711-ab2",
        },
      },
    });
    const done = await run(["init", "--no-start", "--apply", "--secrets", "move"], { env: { ORG: "shop" } });
    expect([done.exitCode, `${done.stdout}${done.stderr}`]).toEqual([0, expect.not.stringContaining("0815")]);
    const { flag, joined, header, db, query, path, several } = config().mcpServers;
    expect([flag.args, joined.args, header.args.at(-1), db.args[1], query.url, path.url, several.url]).toEqual([
      ["--api-key", "${secret:FLAG_API_KEY}", "--mode", "fast", "."],
      ["--token=${secret:JOINED_TOKEN}"],
      "Authorization: Bearer ${secret:HEADER_AUTHORIZATION}",
      "postgresql://ann:${secret:DB_PASSWORD}@localhost/shop?sslpassword=${secret:DB_SSLPASSWORD}",
      "https://q.example.com/mcp?apiKey=${secret:QUERY_APIKEY}&mode=x",
      "https://p.example.com/s/${secret:PATH_URL_TOKEN}/mcp",
      "https://s.example.com/s/${secret:SEVERAL_URL_TOKEN}/mcp?org=${ORG}&apiKey=${secret:SEVERAL_APIKEY}&at=/x&token=${secret:SEVERAL_TOKEN}",
    ]);
    expect(stored().DB_PASSWORD.value).toBe("pw-0815-4711");
    expect(stored().SEVERAL_TOKEN.value).toBe("t-0815-4711-ab2");
    await run(["restore"]);
    const again = await run(["init", "--no-start", "--apply"], { env: { ORG: "shop" } });
    expect([again.exitCode, again.stderr]).toEqual([0, expect.not.stringContaining("look like secrets")]);
  });

  test("move if the user agrees, and are named without their values", async () => {
    folder.write(".cursor/mcp.json", { mcpServers: { github } });
    const { stderr } = await run(["init", "--no-start"], {
      terminal: true,
      answers: ["y", "n"],
      env: { NO_COLOR: "1" },
    });
    expect(stderr).toContain(
      "1 value of imported servers looks like a secret:\n  github: GITHUB_TOKEN\nKeep them in the system's keychain and not in the config? [y/N] ",
    );
    expect(stderr).not.toContain(token);
    expect(config().mcpServers.github.env).toEqual({ GITHUB_TOKEN: "${secret:GITHUB_TOKEN}" });
    expect(stored().GITHUB_TOKEN.value).toBe(token);
  });

  test("stay where they are with --secrets keep, and in a dry run", async () => {
    folder.write(".cursor/mcp.json", { mcpServers: { github } });
    const dry = await run(["init", "--no-start", "--dry-run", "--secrets", "move"]);
    expect(dry.stdout).toContain('"GITHUB_TOKEN": "${secret:GITHUB_TOKEN}"');
    expect(existsSync(join(folder.path, ".local/share/claudikins/secrets.json"))).toBe(false);
    await run(["init", "--no-start", "--secrets", "keep"], { terminal: true, answers: ["n"] });
    expect(config().mcpServers.github.env).toEqual({ GITHUB_TOKEN: token });
    expect(existsSync(join(folder.path, ".local/share/claudikins/secrets.json"))).toBe(false);
  });
});
