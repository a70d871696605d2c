/** `list`, which starts nothing, and `list --check`. */

import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ageText } from "../../src/base/duration.ts";
import { table } from "../../src/cli/terminal/table.ts";
import { oauthFixture } from "../support/oauth.ts";
import { processesWith } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { type CliOptions, cli, page } from "./in-memory.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => {
  expect(processesWith(folder.path)).toEqual([]);
  folder[Symbol.dispose]();
});

const run = (argv: string[], options: CliOptions = {}) => cli(argv, { cwd: folder.path, ...options });

/** The output of one call, with N for what differs between runs, and narrow columns. */
async function shown(argv: string[], options: CliOptions = {}): Promise<string> {
  const text = page(argv, await run(argv, options), folder.path);
  return text
    .replaceAll("bun.exe", "bun")
    .replace(/ {3,}/g, "  ")
    .replace(/\b\d+ {2}\d+ MB/g, "PID  N MB");
}

const secret = "s3cret-value";

/** One server of each kind. */
function configure(): void {
  folder.write("claudikins.json", {
    mcpServers: {
      odd: { ...fixture("odd", folder.path, secret), env: { TOKEN: secret }, description: "Odd\nthings" },
      crashes: fixture("crash-on-start", folder.path, secret),
      "needs a token": { command: "/opt/bin/needy", env: { A: `\${A_TOKEN}`, B: `\${B_TOKEN}` } },
      off: { ...fixture("odd"), disabled: true },
    },
  });
}

describe("list", () => {
  test("starts nothing, and shows what is known before and after gen", async () => {
    configure();
    expect(await shown(["list"])).toMatchInlineSnapshot(`
      "$ claudikins list
      --- stdout
      server  transport  state  tools  description
      odd  stdio fixtures  not started  -  Odd things
      crashes  stdio fixtures  not started  -
      needs a token  stdio needy  needs A_TOKEN, B_TOKEN  -
      off  stdio fixtures  disabled  -
      --- exit code 0
      "
    `);
    await run(["gen"]);
    utimesSync(join(folder.path, ".claudikins/registry/other/odd/index.ts"), 0, Date.now() / 1_000 - 7_300);
    expect(await shown(["list"])).toContain("odd  stdio fixtures  not started  14 (2 h ago)  Odd things\n");
    // Asking again updates the time of the answer, although nothing is written.
    await run(["gen"]);
    expect(await shown(["list"])).toContain("14 (just now)");
  });

  test("prints one document with --json", async () => {
    configure();
    const shared = { transport: "stdio", session: "shared" };
    const { stdout, ...rest } = await run(["list", "--json"]);
    expect([rest, JSON.parse(stdout.replaceAll("bun.exe", "bun"))]).toEqual([
      { exitCode: 0, stderr: "" },
      {
        config: join(folder.path, "claudikins.json"),
        servers: [
          { ...shared, server: "odd", program: "fixtures", description: "Odd\nthings", state: "idle" },
          { ...shared, server: "crashes", program: "fixtures", state: "idle" },
          {
            ...shared,
            server: "needs a token",
            program: "needy",
            state: "needs",
            variables: ["A_TOKEN", "B_TOKEN"],
          },
          { transport: "stdio", server: "off", program: "fixtures", state: "disabled" },
        ],
      },
    ]);
  });

  test("shows which servers are confined, and what their sandboxes open", async () => {
    const sandbox = { write: ["/srv/notes"], network: ["api.example.com"] };
    const entry = { command: "/opt/bin/notes" };
    folder.write("claudikins.json", { mcpServers: { free: entry, notes: { ...entry, sandbox } } });
    const { servers } = JSON.parse((await run(["list", "--json"])).stdout);
    expect(servers.map((each: { sandbox?: object }) => each.sandbox)).toEqual([
      undefined,
      { by: "bubblewrap", read: [], ...sandbox },
    ]);
    expect((await run(["list"])).stdout).toMatch(/^free +stdio notes +not started.*\nnotes +stdio notes \(sandbox\) /m);
  });

  test("remembers the revision of MCP and the version of each server, with --json", async () => {
    const older = fixture("modern", "serve", folder.path);
    const newer = fixture("modern", "reject", folder.path);
    folder.write("claudikins.json", { mcpServers: { older, newer } });
    const known = async (...flags: string[]) => {
      const { servers } = JSON.parse((await run(["list", "--json", ...flags])).stdout);
      return servers.map(({ protocol, version }: Record<string, string>) => [protocol, version]);
    };
    expect(await known()).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ]);
    const expected = [
      ["2025-11-25", "1.2.3"],
      ["2026-07-28", "1.2.3"],
    ];
    expect(await known("--check")).toEqual(expected);
    expect(await known()).toEqual(expected);
    expect(await shown(["list", "--check"])).toMatch(/newer .* 2026-07-28 {2}PID/);
    // An index of an older claudikins has no revisions.
    const index = join(folder.path, ".claudikins/registry/index.json");
    writeFileSync(index, readFileSync(index, "utf8").replace(/"(?:protocol|version)": ".*\n/g, ""));
    expect(await known()).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ]);
    await run(["gen"]);
    expect(await known()).toEqual(expected);
  });

  test("shows the demo without a config, and no servers for a config without servers", async () => {
    expect(await shown(["list"])).toMatchInlineSnapshot(`
      "$ claudikins list
      --- stdout
      server  transport  state  tools  description
      demo  stdio claudikins  not started  -  the made-up back office of a small shop: orders, customers, stock, tickets
      --- stderr
      No config file: using the built-in demo server.

      --- exit code 0
      "
    `);
    expect(JSON.parse((await run(["list", "--json"])).stdout)).toMatchObject({
      config: null,
      servers: [{ server: "demo" }],
    });
    folder.write("claudikins.json", {});
    expect(await run(["list"])).toEqual({ exitCode: 0, stdout: "", stderr: "The config has no servers.\n" });
    expect(await run(["list", "--check"])).toMatchObject({ exitCode: 0, stdout: "" });
  });

  test("fits the width of a terminal and shows each state whole, in colours only there", async () => {
    configure();
    const { stdout } = await run(["list"], { terminal: true, columns: 50 });
    expect(
      Math.max(
        ...Bun.stripANSI(stdout)
          .split("\n")
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(50);
    expect(stdout).toContain("needs A_TOKEN, B_TOKEN");
    const piped = await run(["list"], { columns: 50 });
    expect(piped.stdout).toBe(Bun.stripANSI(stdout));
  });
});

describe("list --check", () => {
  test("starts every server and shows the result", async () => {
    configure();
    expect(await shown(["list", "--check"])).toMatchInlineSnapshot(`
      "$ claudikins list --check
      --- stdout
      server  transport  state  tools  protocol  pid  memory  description
      odd  stdio fixtures  ready in N ms  14  2025-11-25  PID  N MB  Odd things
      crashes  stdio fixtures  broken  -  -  -  -
      needs a token  stdio needy  needs A_TOKEN, B_TOKEN  -  -  -  -
      off  stdio fixtures  disabled  -  -  -  -
      --- stderr

      error: Server "crashes" did not start: its process exited with code 3
        | warming up
        | fatal: no database at db://nowhere

      hint: Run its command from the config by hand to see more.

      error: Server "needs a token" needs A_TOKEN, B_TOKEN in the environment

      hint: Set A_TOKEN, B_TOKEN before starting claudikins, or add a default to the config: \${A_TOKEN:-value}.
      --- exit code 4
      "
    `);
    // The tools are known from now on.
    expect(await shown(["list"])).toContain("14 (just now)");
  });

  test("leaves stdout empty with --json if a server fails", async () => {
    configure();
    const bad = await run(["list", "--check", "--json"]);
    expect([bad.exitCode, bad.stdout, bad.stderr.trimEnd().includes("\n")]).toEqual([4, "", false]);
    expect(JSON.parse(bad.stderr)).toMatchObject({
      error: { code: "SERVER_UNAVAILABLE", message: "2 of 3 servers failed: crashes, needs a token" },
      list: {
        servers: [
          { server: "odd", state: "ready", tools: 14, pid: expect.any(Number), startMs: expect.any(Number) },
          {
            state: "broken",
            why: "did not start: its process exited with code 3",
            problem: { hint: expect.any(String) },
          },
          { state: "needs", variables: ["A_TOKEN", "B_TOKEN"], problem: { code: "NEEDS_VARIABLE" } },
          { server: "off", state: "disabled" },
        ],
      },
    });
    expect(bad.stderr).not.toContain(secret);
  });

  test("exits with 0 if all servers work, and with 2 if only a variable is missing", async () => {
    folder.write("claudikins.json", { mcpServers: { odd: fixture("odd") } });
    const { exitCode, stdout, stderr } = await run(["list", "--check", "--json"]);
    const { servers } = JSON.parse(stdout) as { servers: { memoryBytes: number }[] };
    expect([exitCode, stderr, servers.length]).toEqual([0, "", 1]);
    if (process.platform === "linux") expect(servers[0]?.memoryBytes).toBeGreaterThan(1_000_000);
    folder.write("claudikins.json", { mcpServers: { needy: { command: "x", env: { A: `\${A_TOKEN}` } } } });
    expect(await run(["list", "--check"])).toMatchObject({ exitCode: 2 });
  });

  test("waits for a server as long as its entry says", async () => {
    const entry = { ...fixture("never-starts", folder.path), startTimeoutMs: 100 };
    folder.write("claudikins.json", {
      mcpServers: { never: entry, silent: { ...fixture("lists", "silent"), callTimeoutMs: 100 } },
    });
    const { exitCode, stderr } = await run(["list", "--check"]);
    expect(exitCode).toBe(4);
    expect(stderr).toContain('error: Server "never" did not start: it did not answer within 100 ms');
    expect(stderr).toContain("error: tools/list of silent did not answer within 100 ms");
  });

  test("shows the login command for a server that needs a sign-in, as do commands that look for tools", async () => {
    await using server = await oauthFixture();
    folder.write("claudikins.json", { mcpServers: { "my far": { url: server.url } } });
    const text = (await shown(["list", "--check"])).replaceAll(/127\.0\.0\.1:\d+/g, "HOST");
    expect(text).toMatchInlineSnapshot(`
      "$ claudikins list --check
      --- stdout
      server  transport  state  tools  protocol  pid  memory  description
      my far  http HOST  signed out  -  -  -  -
      --- stderr

      error: Server "my far" cannot be used: it needs a sign-in (401)

      hint: claudikins auth login 'my far'
      --- exit code 3
      "
    `);
    const { stderr } = await run(["list", "--check", "--json"]);
    expect(JSON.parse(stderr).list.servers).toMatchObject([
      {
        server: "my far",
        state: "signed out",
        why: "it needs a sign-in (401)",
        hint: "claudikins auth login 'my far'",
        problem: { code: "AUTH_REQUIRED" },
      },
    ]);
    const code = "return await tools.list()";
    expect(await shown(["exec", "-e", code])).toMatchInlineSnapshot(`
      "$ claudikins exec -e return await tools.list()
      --- stdout
      [
        {
        "server": "my far",
        "tools": [],
        "problem": "signed out: it needs a sign-in (401). claudikins auth login 'my far'"
        }
      ]
      --- stderr
      [0 calls · N ms]
      --- exit code 0
      "
    `);
    expect(await shown(["exec", "-e", "return await servers['my far'].echo({})"])).toMatchInlineSnapshot(`
      "$ claudikins exec -e return await servers['my far'].echo({})
      --- stderr
      error: ToolError: Server "my far" cannot be used: it needs a sign-in (401)
        --> main.ts:1:36
        1 | return await servers['my far'].echo({})
        |  ^

      hint: claudikins auth login 'my far'
      [1 call (1 failed: my far.echo) · N ms]
      --- exit code 3
      "
    `);
  });

  test("ends the servers it started when it is interrupted", async () => {
    folder.write("claudikins.json", { mcpServers: { never: fixture("never-starts", folder.path) } });
    expect((await run(["list", "--check"], { interrupted: AbortSignal.timeout(200) })).exitCode).toBe(130);
  });
});

test("a table counts wide characters twice, replaces line breaks, and cuts the widest column first", () => {
  const rows = [
    ["日本", "a long text that goes on"],
    ["b\nc", ""],
  ];
  expect(table(["one", "two"], rows)).toBe("one   two\n日本  a long text that goes on\nb c\n");
  expect(table(["one", { text: "two" }], rows, 20)).toBe("one   two\n日本  a long text t…\nb c\n");
  expect(table(["one", { text: "two" }], rows, 1)).toBe("one\n日本\n    two: a long text…\nb c\n");
});

test("ageText writes an age in minutes, hours or days", () => {
  const minute = 60_000;
  expect([0, 59_999, minute, 59 * minute, 60 * minute, 47 * 60 * minute, 48 * 60 * minute].map(ageText)).toEqual([
    "just now",
    "just now",
    "1 min ago",
    "59 min ago",
    "1 h ago",
    "47 h ago",
    "2 days ago",
  ]);
});
