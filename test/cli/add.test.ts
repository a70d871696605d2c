/** `add` and `remove`: what they ask, write and start, and what they do not change. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { credentialsFile } from "../../src/config/locations.ts";
import { CredentialStore } from "../../src/servers/auth/credentials.ts";
import { claudikinsCommand } from "../support/command.ts";
import { ownFolder } from "../support/own-folder.ts";
import { shellLine } from "../support/process.ts";
import { everything, fixture } from "../support/servers.ts";
import { type CliOptions, type CliResult, cli, page } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();

const run = (argv: string[], options: CliOptions = {}): Promise<CliResult> =>
  cli(argv, { cwd: folder.path, ...options });
const shown = async (argv: string[], options: CliOptions = {}) => page(argv, await run(argv, options), folder.path);

const usersFile = () => join(folder.path, ".config", "claudikins", "claudikins.json");
const users = () => JSON.parse(readFileSync(usersFile(), "utf8")).mcpServers;
const registry = () => join(folder.path, ".local", "share", "claudikins", "registry");

/** An npx that starts the everything server, whatever package it is asked for. */
function withNpx(): Record<string, string> {
  const { command, args } = everything();
  const npx = folder.write("bin/npx", `#!/bin/sh\n[ -n "$REFUSE" ] && exit 3\nexec ${shellLine([command, ...args])}\n`);
  chmodSync(npx, 0o755);
  return { PATH: `${join(folder.path, "bin")}:${process.env["PATH"]}` };
}

describe("add with a command", () => {
  test("starts the server once and generates its tools", async () => {
    const { command, args } = everything();
    const { exitCode, stdout, stderr } = await run(["add", "every", "--env", "A=b", "--", command, ...args]);
    const restart = "note: the config file is new: restart agents that already run claudikins\n";
    expect([exitCode, stderr]).toEqual([0, restart]);
    expect(stdout).toMatch(/^Added every to .*: \d+ tools\n$/);
    expect(users()).toEqual({ every: { command, args, env: { A: "b" } } });
    expect(statSync(usersFile()).mode & 0o777).toBe(0o600);
    expect(JSON.parse((await run(["search", "echo", "--json"])).stdout).tools[0].id).toBe("every.echo");
    expect(readdirSync(join(registry(), "testing", "every"))).toContain("echo.ts");
  });

  test("does not write an entry whose server does not start, except with --no-check", async () => {
    const { command, args } = fixture("crash-on-start");
    const failed = await run(["add", "broken", "--", command, ...args]);
    expect([failed.exitCode, failed.stdout]).toEqual([4, ""]);
    expect(failed.stderr).toContain("fatal: no database at db://nowhere");
    expect(failed.stderr).toContain("Nothing was written. To add it anyway: --no-check");
    expect(existsSync(usersFile())).toBe(false);
    expect((await run(["add", "broken", "--no-check", "--", command, ...args])).exitCode).toBe(0);
    expect(users().broken).toEqual({ command, args });
  });

  test("names the folder that it cannot create, and what to check", async () => {
    const { command, args } = everything();
    folder.write(".config", "a file in the place of the folder");
    const { exitCode, stderr } = await run(["add", "every", "--json", "--", command, ...args]);
    expect([exitCode, JSON.parse(stderr).error]).toEqual([
      2,
      {
        code: "FILE_NOT_WRITABLE",
        message: expect.stringContaining(`Cannot create the folder ${join(folder.path, ".config", "claudikins")}: `),
        hint: "Move that file, or choose another folder.",
      },
    ]);
  });

  test("keeps arguments after -- that look like flags, and refuses unknown flags before it", async () => {
    await run(["add", "x", "--no-check", "--", "prog", "-y", "--json", "-y", "--", "a b"]);
    expect(users().x).toEqual({ command: "prog", args: ["-y", "--json", "-y", "--", "a b"] });
    const { exitCode, stderr } = await run(["add", "y", "prog", "-q"]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("Unknown flag -q")]);
  });

  test("writes nothing after Ctrl-C", async () => {
    const { command, args } = fixture("never-starts");
    const interrupted = AbortSignal.timeout(300);
    expect((await run(["add", "slow", "--", command, ...args], { interrupted })).exitCode).toBe(130);
    expect(existsSync(usersFile())).toBe(false);
  });
});

describe("add with an address", () => {
  test("writes the headers, and names the variables that they need", async () => {
    const argv = [
      "add",
      "docs",
      "https://mcp.example.com/mcp",
      "--type",
      "http",
      "--header",
      "Authorization: Bearer ${DOCS_TOKEN}",
    ];
    expect(await shown(argv)).toMatchInlineSnapshot(`
      "$ claudikins add docs https://mcp.example.com/mcp --type http --header Authorization: Bearer \${DOCS_TOKEN}
      --- stdout
      Added docs to FOLDER/.config/claudikins/claudikins.json
      --- stderr
      The server was not started, because these variables are not set: DOCS_TOKEN
      note: the config file is new: restart agents that already run claudikins
      --- exit code 0
      "
    `);
    expect(users().docs).toEqual({
      type: "http",
      url: "https://mcp.example.com/mcp",
      headers: { Authorization: "Bearer ${DOCS_TOKEN}" },
    });
  });

  test("adds a server that requires a sign-in and shows the login command, but refuses one that rejects the given token", async () => {
    using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("no", { status: 401 }) });
    const url = `${server.url}mcp`;
    const added = await run(["add", "closed", url]);
    expect(added).toEqual({
      exitCode: 0,
      stdout: `Added closed to ${usersFile()}\n`,
      stderr:
        "Sign in: claudikins auth login closed\nnote: the config file is new: restart agents that already run claudikins\n",
    });
    const refused = await run(["add", "other", url, "--header", "Authorization: Bearer s3cr3t-0815"]);
    expect([refused.exitCode, refused.stdout]).toEqual([3, ""]);
    expect(refused.stderr).not.toContain("s3cr3t-0815");
    expect(users().other).toBeUndefined();
  });

  test.each([
    [["add", "x", "https://x", "extra"], 'Unexpected argument "extra" after a URL'],
    [["add", "x", "https://x", "--env", "A=b"], "--env does not apply to a URL"],
    [["add", "x", "https://x", "--header", "no colon"], "--header takes 'Name: value'"],
    [["add", "x", "https://x", "--type", "carrier"], '--type takes http, sse or ws; got "carrier"'],
    [["add", "x", "--header", "A: b", "--", "prog"], "--header does not apply to a command"],
    [["add", "x", "--env", "1=b", "--", "prog"], "--env takes NAME=value"],
    [["add"], "No server given"],
    [["add", "", "--", "prog"], "A server needs a name"],
    [["add", "github", "--user", "--config", "x.json"], "Use --user or --config, not both"],
    [["add", "{ nonsense"], "the entry:1: not valid JSON"],
    [["add", '{ "a": 1 }'], '"a" is not an object'],
    [["add", '{ "mcpServers": {} }'], "it has no servers"],
    [["add", '{ "command": "x" }'], "The entry has no name"],
    [
      ["add", "n", '{ "a": { "command": "x" }, "b": { "command": "y" } }'],
      'The entry has 2 servers, but there is only one name: "n"',
    ],
    [["add", '{ "a": { "source": "extension", "command": {} } }'], '"a" is not a server: '],
    [["add", "x", "ftp://x"], "did not start"],
  ])("%j is refused, and nothing is written", async (argv, message) => {
    const { exitCode, stdout, stderr } = await run(argv);
    expect([exitCode === 0, stdout]).toEqual([false, ""]);
    expect(stderr).toContain(message);
    expect(existsSync(usersFile())).toBe(false);
  });
});

describe("add with a pasted entry", () => {
  const add = async (...argv: string[]) => {
    const { exitCode, stderr } = await run(["add", "--no-check", ...argv]);
    expect([exitCode, stderr.replace(/^note: .*\n/gm, "")]).toEqual([0, ""]);
    return users();
  };

  test.each<[string, string, object]>([
    [
      "most agents",
      '{ "mcpServers": { "a": { "command": "x", "args": ["${env:HOME}"] } } }',
      { a: { command: "x", args: ["${HOME}"] } },
    ],
    [
      "servers without their enclosing object",
      '"a": { "command": "x" }, "b": { "url": "https://x" },',
      { a: { command: "x" }, b: { url: "https://x" } },
    ],
    [
      "VS Code",
      '{ "inputs": [], "servers": { "a": { "command": "x", "env": { "K": "${input:k}" } } } }',
      { a: { command: "x", env: { K: "${K}" } } },
    ],
    [
      "Codex",
      '[mcp_servers.a]\nurl = "https://x"\nbearer_token_env_var = "T"',
      { a: { type: "http", url: "https://x", headers: { Authorization: "Bearer ${T}" } } },
    ],
    [
      "opencode",
      '{ "mcp": { "a": { "type": "local", "command": ["x", "{env:Y}"], "enabled": false } } }',
      { a: { command: "x", args: ["${Y}"], disabled: true } },
    ],
    [
      "Zed",
      '{ "context_servers": { "a": { "command": { "path": "x", "args": ["y"] } } } }',
      { a: { command: "x", args: ["y"] } },
    ],
    ["Amp", '{ "amp.mcpServers": { "a": { "command": "x" } } }', { a: { command: "x" } }],
    [
      "Gemini CLI",
      '{ "a": { "httpUrl": "https://x", "headers": { "K": "$KEY" } } }',
      { a: { type: "http", url: "https://x", headers: { K: "${KEY}" } } },
    ],
    ["Windsurf", '{ "a": { "serverUrl": "https://x" /* here */, }, }', { a: { url: "https://x" } }],
    [
      "claudikins itself",
      '{ "a": { "command": "x", "deny": ["rm_*"], "confirm": "always", "category": "files", "callTimeoutMs": 5 } }',
      { a: { command: "x", callTimeoutMs: 5, deny: ["rm_*"], confirm: "always", category: "files" } },
    ],
    ["a server called command", '{ "command": { "command": "x" } }', { command: { command: "x" } }],
  ])("accepts the format of %s", async (_, text, entries) => {
    expect(await add(text)).toEqual(entries);
  });

  test("accepts another name, standard input, and --json", async () => {
    expect(await add("mine", '{ "command": "x" }')).toEqual({ mine: { command: "x" } });
    const { stdout, stderr, exitCode } = await run(["add", "-", "--no-check", "--json"], {
      stdin: '{ "b": { "command": "y" } }\n',
    });
    expect([exitCode, stderr, JSON.parse(stdout)]).toEqual([0, "", { config: usersFile(), added: [{ server: "b" }] }]);
    const { command, args } = fixture("odd");
    const both = await run(["add", "--json", JSON.stringify({ odd: { command, args } })]);
    expect(JSON.parse(both.stdout).added).toEqual([{ server: "odd", tools: expect.any(Number) }]);
  });
});

describe("add with the name of a server in the catalog", () => {
  test("starts the server with the catalog's entry and generates its tools", async () => {
    const { exitCode, stdout, stderr } = await run(["add", "Everything"], { env: withNpx() });
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^Added everything to .*: \d+ tools\n$/)]);
    expect(stderr).not.toContain("error");
    expect(users().everything.command).toBe("npx");
  });

  test("takes variables from the environment and does not write their values", async () => {
    const env = { ...withNpx(), BRAVE_API_KEY: "s3cr3t-0815" };
    expect((await run(["add", "brave-search"], { env })).exitCode).toBe(0);
    expect(readFileSync(usersFile(), "utf8")).toContain("${BRAVE_API_KEY}");
    expect(readFileSync(usersFile(), "utf8")).not.toContain("s3cr3t-0815");
  });

  test("takes variables from --env, and asks for missing ones at a terminal", async () => {
    const env = withNpx();
    await run(["add", "brave-search", "--env", "BRAVE_API_KEY=given-4711", "--env", "MORE"], { env });
    expect(users()["brave-search"].env).toEqual({ BRAVE_API_KEY: "given-4711", MORE: "${MORE}" });
    const asked = await run(["add", "brave-search", "--force"], { env, terminal: true, answers: [" typed-0815 "] });
    expect(asked.exitCode).toBe(0);
    expect(asked.stderr).toContain("needs BRAVE_API_KEY: ");
    expect(asked.stdout + asked.stderr).not.toContain("typed-0815");
    expect(users()["brave-search"].env).toEqual({ BRAVE_API_KEY: "typed-0815" });
  });

  test("describes missing variables and changes nothing if they are not given", async () => {
    for (const options of [{}, { terminal: true, answers: [""] }]) {
      const { exitCode, stderr, stdout } = await run(["add", "brave-search"], { ...options, env: { NO_COLOR: "1" } });
      expect([exitCode, stdout]).toEqual([2, ""]);
      expect(stderr).toContain("needs BRAVE_API_KEY:\n  BRAVE_API_KEY: ");
      expect(stderr).toContain("--env BRAVE_API_KEY=…. Nothing was changed.");
    }
    expect(existsSync(usersFile())).toBe(false);
    expect((await run(["add", "brave-search"], { terminal: true, answers: [] })).exitCode).toBe(130);
  });

  test("proposes the sandbox of the catalog, and writes it with --sandbox", async () => {
    const env = { ...withNpx(), MEMORY_FILE_PATH: "/srv/memory.json" };
    const words = ["add", "memory", "--no-check", "--json"];
    const proposed = JSON.parse((await run(words, { env })).stdout).added[0].notes;
    expect(proposed).toContain("On Linux it can run in a sandbox, which opens only what it needs: add --sandbox.");
    expect(users().memory.sandbox).toBeUndefined();
    const { notes } = JSON.parse((await run([...words, "--sandbox", "--force"], { env })).stdout).added[0];
    expect(notes.join()).not.toContain("--sandbox");
    expect(users().memory.sandbox).toEqual({ write: ["${MEMORY_FILE_PATH}/.."] });
    expect((await run([...words, "--no-sandbox", "--force"], { env })).exitCode).toBe(0);
    expect(users().memory.sandbox).toBe(false);
  });

  test("requires the variables of its sandbox", async () => {
    const { exitCode, stderr } = await run(["add", "memory", "--sandbox"], { env: withNpx() });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("Memory needs MEMORY_FILE_PATH:")]);
  });

  test.each([
    [["playwright"], "Playwright cannot run in a sandbox: the sandbox of its browser does not work inside another one"],
    [["docs", "https://mcp.example.com/mcp"], "docs is on the network: only a program can have a sandbox"],
    [["memory", "--no-sandbox"], "Use --sandbox or --no-sandbox, not both"],
  ])("refuses --sandbox for %j", async (words, message) => {
    const { exitCode, stderr } = await run(["add", ...words, "--sandbox", "--no-check"]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(existsSync(usersFile())).toBe(false);
  });

  test("suggests a similar name", async () => {
    expect(await shown(["add", "gihub"])).toMatchInlineSnapshot(`
      "$ claudikins add gihub
      --- stderr
      error: The catalog has no server called "gihub"

      hint: Did you mean github? To look in the official MCP registry: claudikins add --search "gihub". To add any other server: claudikins add gihub -- <command>, or claudikins add gihub <address>
      --- exit code 2
      "
    `);
  });

  test("suggests a server's name without a space for several words", async () => {
    const { stderr } = await run(["add", "two words"]);
    expect(stderr).toContain("claudikins add two-words -- <command>, or claudikins add two-words <address>");
  });

  test("does not write a typed secret to a project's file", async () => {
    folder.write("claudikins.json", '{ "mcpServers": {} }');
    const { exitCode, stderr } = await run(["add", "brave-search"], {
      terminal: true,
      answers: ["typed"],
      env: { NO_COLOR: "1" },
    });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("needs BRAVE_API_KEY:")]);
    // A secret in --env causes a warning.
    const given = await run(["add", "brave-search", "--no-check", "--env", "BRAVE_API_KEY=s3cr3t-0815"]);
    expect(given.stderr).toContain(
      `warning: ${join(folder.path, "claudikins.json")} contains a secret: keep it out of git`,
    );
    const variable = await run(["add", "brave-search", "--no-check", "--force", "--env", "BRAVE_API_KEY"]);
    expect(variable.stderr).not.toContain("warning");
  });
});

describe("the config file", () => {
  const text =
    '{\n\t// mine\n\t"mcpServers": {\n\t\t"a": { "command": "a" }, // first\n\t\t/* second */ "b": { "command": "b" }\n\t},\n\t"check": "warn"\n}';

  test("keeps its comments and formatting; the nearest file is changed", async () => {
    folder.write("project/claudikins.json", text);
    const cwd = join(folder.path, "project", "deep");
    folder.write("project/deep/x", "");
    const env = { HOME: folder.path };
    const file = join(folder.path, "project", "claudikins.json");
    await run(["add", "c", "--no-check", "--", "c", "-x"], { cwd, env });
    expect(readFileSync(file, "utf8")).toBe(
      text.replace(
        '"command": "b" }',
        '"command": "b" },\n\t\t"c": {\n\t\t\t"command": "c",\n\t\t\t"args": ["-x"]\n\t\t}',
      ),
    );
    await run(["remove", "c"], { cwd, env });
    expect(readFileSync(file, "utf8")).toBe(text);
    await run(["add", "u", "--user", "--no-check", "--", "u"], { cwd, env });
    expect([users(), readFileSync(file, "utf8")]).toEqual([{ u: { command: "u" } }, text]);
    await run(["add", "n", "--config", "../new.json", "--no-check", "--", "n"], { cwd, env });
    expect(JSON.parse(readFileSync(join(folder.path, "project", "new.json"), "utf8"))).toEqual({
      mcpServers: { n: { command: "n" } },
    });
  });

  test("gets no second server of the same name, but --force replaces the entry", async () => {
    folder.write("claudikins.json", text);
    const { exitCode, stderr } = await run(["add", "a", "--no-check", "--", "other"]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('already has a server called "a"')]);
    await run(["add", "a", "--force", "--no-check", "--", "other"]);
    expect(readFileSync(join(folder.path, "claudikins.json"), "utf8")).toContain(
      '"a": {\n\t\t\t"command": "other"\n\t\t}, // first',
    );
  });

  test("is reported and not changed if it is invalid", async () => {
    folder.write("claudikins.json", '{ "mcpServers": { "a": { "comand": "a" } } }');
    // An entry with a mistake does not stop others from being added, and can be removed.
    expect((await run(["add", "b", "--no-check", "--", "b"])).exitCode).toBe(0);
    expect((await run(["remove", "a", "b"])).exitCode).toBe(0);
    for (const text of ['{ "mcpServer": {} }', "{ nonsense"]) {
      folder.write("claudikins.json", text);
      expect((await run(["add", "b", "--no-check", "--", "b"])).exitCode).toBe(2);
      expect((await run(["remove", "a"])).exitCode).toBe(2);
      expect(readFileSync(join(folder.path, "claudikins.json"), "utf8")).toBe(text);
    }
  });
});

describe("remove", () => {
  test("removes all named entries and their generated files, or none if a name is unknown", async () => {
    const { command, args } = fixture("odd");
    for (const name of ["one", "two", "three"]) await run(["add", name, "--", command, ...args]);
    expect(await shown(["remove", "one", "thre"])).toMatchInlineSnapshot(`
      "$ claudikins remove one thre
      --- stderr
      error: FOLDER/.config/claudikins/claudikins.json has no server called "thre"

      hint: Did you mean three? Available: one, two, three.
      --- exit code 2
      "
    `);
    expect(Object.keys(users())).toEqual(["one", "two", "three"]);
    expect(await shown(["remove", "one", "three", "one"])).toMatchInlineSnapshot(`
      "$ claudikins remove one three one
      --- stdout
      Removed one from FOLDER/.config/claudikins/claudikins.json
      Removed three from FOLDER/.config/claudikins/claudikins.json
      --- exit code 0
      "
    `);
    expect(Object.keys(users())).toEqual(["two"]);
    expect(readdirSync(join(registry(), "other"))).toEqual(["two"]);
    expect(JSON.parse((await run(["remove", "two", "--json"])).stdout)).toEqual({
      config: usersFile(),
      removed: [{ server: "two" }],
    });
    expect(readdirSync(registry())).not.toContain("other");
    expect((await run(["remove", "two"])).stderr).toContain("It has no servers yet.");
    expect((await run(["remove"])).stderr).toContain("Missing argument: names");
  });

  test("asks at a terminal whether to sign out, and otherwise only with --logout", async () => {
    const env = { HOME: folder.path };
    const url = "http://127.0.0.1:9/mcp";
    const signIn = async () => {
      await run(["add", "docs", url, "--no-check", "--force"]);
      const server = { name: "docs", url } as never;
      const tokens = { access: "access-0815-4711", scopes: [], since: 1, obtainedAt: 1 };
      await new CredentialStore(credentialsFile(env)).update(server, () => ({ server: "docs", tokens }));
    };
    const isSignedIn = () => readFileSync(credentialsFile(env), "utf8").includes("access-0815-4711");
    await signIn();
    expect((await run(["remove", "docs"])).stderr).toBe("The sign-in to docs was kept; --logout removes it\n");
    expect(isSignedIn()).toBe(true);
    await signIn();
    await run(["remove", "docs"], { terminal: true, answers: ["n"] });
    expect(isSignedIn()).toBe(true);
    await signIn();
    const yes = await run(["remove", "docs"], { terminal: true, answers: ["y"] });
    expect(yes.stderr).toContain("Sign out of docs as well? [y/N] ");
    expect(isSignedIn()).toBe(false);
    await signIn();
    expect(JSON.parse((await run(["remove", "docs", "--logout", "--json"])).stdout).removed).toEqual([
      { server: "docs", signedOut: true },
    ]);
    expect(isSignedIn()).toBe(false);
  });
});

test("a secret that is typed at a real terminal is not shown; other text is", async () => {
  const env = { ...withNpx(), HOME: folder.path, TERM: "xterm", NO_COLOR: "1" };
  let screen = "";
  const { promise: isAsked, resolve } = Promise.withResolvers<void>();
  const child = Bun.spawn([...claudikinsCommand, "add", "brave-search"], {
    cwd: folder.path,
    env,
    terminal: {
      cols: 200,
      rows: 40,
      data(_, data) {
        screen += new TextDecoder().decode(data);
        if (screen.includes("\nBRAVE_API_KEY: ")) resolve();
      },
    },
  });
  await isAsked;
  child.terminal?.write("typed-08x\u007f15\r");
  expect(await child.exited).toBe(0);
  expect(users()["brave-search"].env).toEqual({ BRAVE_API_KEY: "typed-0815" });
  expect(screen).toContain("Added brave-search");
  expect(screen).not.toContain("typed");
});

test("Ctrl-C at a question ends add, and nothing is written", async () => {
  const env = { ...withNpx(), HOME: folder.path, TERM: "xterm", NO_COLOR: "1" };
  let screen = "";
  const { promise: isAsked, resolve } = Promise.withResolvers<void>();
  const child = Bun.spawn([...claudikinsCommand, "add", "brave-search"], {
    cwd: folder.path,
    env,
    terminal: {
      data(_, data) {
        screen += new TextDecoder().decode(data);
        if (screen.includes("\nBRAVE_API_KEY: ")) resolve();
      },
    },
  });
  await isAsked;
  child.terminal?.write("\u0003");
  expect(await child.exited).toBe(130);
  expect(existsSync(usersFile())).toBe(false);
});
