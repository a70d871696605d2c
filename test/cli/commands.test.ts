/** `exec`, `gen` and `search`: what they print on stdout and stderr, as text and as JSON. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { ownFolder } from "../support/own-folder.ts";
import { fixture } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { type CliOptions, cli, page } from "./in-memory.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

const folder = ownFolder();

const run = (argv: string[], options: CliOptions = {}) => cli(argv, { cwd: folder.path, ...options });

/** The output of one call, without the paths of this machine. */
const shown = async (argv: string[], options: CliOptions = {}) => page(argv, await run(argv, options), folder.path);

function configure(servers: Record<string, object>): void {
  folder.write("claudikins.json", { mcpServers: servers });
}

const odd = () => ({ ...fixture("odd"), description: "Odd things" });

describe("exec", () => {
  beforeEach(() => configure({ odd: odd() }));

  test("runs code from a file, the command line or standard input", async () => {
    folder.write("sub/code.ts", "const n: number = 6;\nreturn n * 7");
    const expected = { exitCode: 0, stdout: "42\n", stderr: expect.stringMatching(/^\[0 calls · \d[\d.,]* m?s\]\n$/) };
    expect(await run(["exec", "sub/code.ts"])).toEqual(expected);
    expect(await run(["exec", join(folder.path, "sub", "code.ts")])).toEqual(expected);
    expect(await run(["exec", "-e", "6 * 7"])).toEqual(expected);
    expect(await run(["exec", "--eval=return 6 * 7"])).toEqual(expected);
    expect(await run(["exec", "-"], { stdin: "return 6 * 7\n" })).toEqual(expected);
    expect(await run(["exec", "--", "-"], { stdin: "return 6 * 7\n" })).toEqual(expected);
  });

  test.each([
    ["'text'", "text\n"],
    ["''", "\n"],
    ["({ a: [1, null] })", '{\n  "a": [\n    1,\n    null\n  ]\n}\n'],
    ["null", "null\n"],
    ["false", "false\n"],
    ["undefined", ""],
    ["", ""],
  ])("prints the value of %s", async (code, stdout) => {
    expect(await run(["exec", "-e", `${code} // end`])).toMatchObject({ exitCode: 0, stdout });
  });

  test("prints the value on stdout, and logs and the receipt on stderr", async () => {
    const code =
      'console.log("one", 1); console.warn("two"); console.error("three"); return (await odd.structured()).answer';
    expect(await shown(["exec", "-e", code])).toMatchInlineSnapshot(`
      "$ claudikins exec -e console.log("one", 1); console.warn("two"); console.error("three"); return (await odd.structured()).answer
      --- stdout
      42
      --- stderr
      one 1
      warn  two
      error three
      [1 call · N ms]
      --- exit code 0
      "
    `);
  });

  test("prints a failure on stderr: logs, error, hint and receipt", async () => {
    configure({ needy: { command: "x", env: { A: `\${NOT_SET_TOKEN}` } } });
    folder.write("code.ts", 'console.log("before");\nawait needy.anything({});\n');
    const { exitCode, stdout, stderr } = await run(["exec", "code.ts"]);
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toStartWith('before\nerror: ToolError: Server "needy" needs NOT_SET_TOKEN in the environment\n');
    expect(stderr).toMatch(
      /\n\nhint: Set NOT_SET_TOKEN before starting claudikins, or .*: \$\{NOT_SET_TOKEN:-value\}\.\n\[1 call \(1 failed: needy\.anything\) · \d[\d.,]* m?s\]\n$/,
    );
  });

  test("shows the place of a failure", async () => {
    folder.write("code.ts", 'const a = 1;\n  throw new Error("no");\n');
    const { stderr } = await run(["exec", "code.ts"]);
    expect(stderr).toMatch(/^error: no\n {2}--> code\.ts:2:\d+\n {2}2 \| {3}throw new Error\("no"\);\n/);
  });

  test("prints the outcome as one document with --json", async () => {
    const ended = await run([
      "exec",
      "--json",
      "-e",
      'console.log("hi"); return { n: (await odd.structured()).answer }',
    ]);
    expect({ ...ended, stdout: JSON.parse(ended.stdout) }).toEqual({
      exitCode: 0,
      stderr: "",
      stdout: {
        ok: true,
        value: { n: 42 },
        logs: [{ level: "log", text: "hi" }],
        display: [],
        receipt: {
          id: expect.any(String),
          durationMs: expect.any(Number),
          calls: 1,
          failures: 0,
          tools: { "odd.structured": { calls: 1, failures: 0, durationMs: expect.any(Number), resultChars: 13 } },
          charsIn: 13,
          charsOut: expect.any(Number),
        },
      },
    });
  });

  test("prints the error and the outcome of a failure with --json", async () => {
    const ended = await run(["exec", "--json", "-e", 'console.log("before"); throw new TypeError("no")']);
    expect({ ...ended, stderr: JSON.parse(ended.stderr) }).toMatchObject({
      exitCode: 6,
      stdout: "",
      stderr: {
        error: { code: "CODE_FAILED", message: expect.stringContaining("TypeError: no") },
        outcome: {
          ok: false,
          reason: "threw",
          error: { name: "TypeError", message: "no" },
          logs: [{ level: "log", text: "before" }],
        },
      },
    });
  });

  test("uses colours at a terminal, unless NO_COLOR is set", async () => {
    const argv = ["exec", "-e", 'console.error("x"); throw new Error("y")'];
    const watched = await run(argv, { terminal: true });
    expect(watched.stderr).toStartWith("\u001b[31merror \u001b[0mx\n\u001b[31merror\u001b[0m: y");
    expect(watched.stderr).toEndWith("]\u001b[0m\n");
    expect((await run(argv, { terminal: true, env: { NO_COLOR: "1" } })).stderr).not.toContain("\u001b");
    expect((await run(argv)).stderr).not.toContain("\u001b");
  });

  test("uses the demo server without a config", async () => {
    using empty = temporaryFolder();
    const ended = await cli(["exec", "-e", "return (await demo.list_orders({ status: 'paid' })).total"], {
      cwd: empty.path,
    });
    expect(ended).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(/^\d+\n$/),
      stderr: expect.stringMatching(/^\[1 call · /),
    });
  });
});

describe("gen", () => {
  const mixed = () =>
    configure({
      odd: { ...odd(), category: "tests" },
      broken: fixture("crash-on-start"),
      "needs a token": { command: "x", env: { A: `\${NOT_SET_TOKEN}` } },
    });

  test("prints a table and each problem, and exits with the code of the first failure", async () => {
    mixed();
    folder.write(".claudikins/registry/tests/odd/hang.ts", "// mine\n");
    // The widths of the columns depend on the times in them.
    expect((await shown(["gen"])).replace(/(?<=\S) {3,}/g, "  ")).toMatchInlineSnapshot(`
      "$ claudikins gen
      --- stdout
      FOLDER/.claudikins/registry
      --- stderr
      server  state  tools  written  removed  time
      odd  ok  14  18  0  N ms
      broken  SERVER_UNAVAILABLE  -  -  -  N ms
      needs a token  NEEDS_VARIABLE  -  -  -  N ms

      error: Server "broken" did not start: its process exited with code 3
        | warming up
        | fatal: no database at db://nowhere

      hint: Run its command from the config by hand to see more.

      error: Server "needs a token" needs NOT_SET_TOKEN in the environment

      hint: Set NOT_SET_TOKEN before starting claudikins, or add a default to the config: \${NOT_SET_TOKEN:-value}.

      warning: get-thing and get_thing of odd would have the same name in code: use servers["odd"]["get-thing"]

      warning: two dots and two.dots of odd would have the same name in code: use servers["odd"]["two dots"]

      warning: FOLDER/.claudikins/registry/tests/odd/hang.ts is not a generated file and was left unchanged
      --- exit code 4
      "
    `);
  });

  test("prints the report with --json: on stdout if all servers worked, otherwise with the error", async () => {
    configure({ odd: odd() });
    const good = await run(["gen", "--json"]);
    expect({ ...good, stdout: JSON.parse(good.stdout) }).toEqual({
      exitCode: 0,
      stderr: "",
      stdout: {
        folder: join(folder.path, ".claudikins", "registry"),
        servers: [
          {
            server: "odd",
            tools: 14,
            durationMs: expect.any(Number),
            written: 19,
            removed: 0,
            collisions: [
              ["get-thing", "get_thing"],
              ["two dots", "two.dots"],
            ],
            kept: [],
          },
        ],
        pruned: [],
      },
    });
    mixed();
    const bad = await run(["gen", "--json"]);
    const report = JSON.parse(bad.stderr);
    expect({ ...bad, stderr: report }).toMatchObject({
      exitCode: 4,
      stdout: "",
      stderr: {
        error: { code: "SERVER_UNAVAILABLE", message: "2 of 3 servers failed: broken, needs a token" },
        report: {
          servers: [
            { server: "odd", tools: 14 },
            { problem: { code: "SERVER_UNAVAILABLE" } },
            { problem: { code: "NEEDS_VARIABLE" } },
          ],
        },
      },
    });
    expect(bad.stderr.trimEnd()).not.toContain("\n");
  });

  test("names the servers whose files it removed, and says nothing if there are none", async () => {
    configure({ odd: odd(), old: fixture("lists", "none") });
    await run(["gen"]);
    configure({ odd: odd() });
    expect((await run(["gen"])).stderr).toEndWith("\nRemoved, because they are no longer in the config: old\n");
    configure({});
    expect(await shown(["gen"])).toMatchInlineSnapshot(`
      "$ claudikins gen
      --- stdout
      FOLDER/.claudikins/registry
      --- stderr
      The config has no servers.

      Removed, because they are no longer in the config: odd
      --- exit code 0
      "
    `);
  });

  test("repairs a damaged index", async () => {
    configure({ odd: odd() });
    folder.write(".claudikins/registry/index.json", "{");
    expect(await run(["gen"])).toMatchObject({ exitCode: 0 });
    expect(await run(["search", "structured"])).toMatchObject({ exitCode: 0 });
  });

  test("shows its progress at a terminal, and erases it", async () => {
    configure({ a: fixture("lists", "none"), b: fixture("lists", "none") });
    const { stderr } = await run(["gen"], { terminal: true, env: { NO_COLOR: "1" } });
    const [start, first, second, rest = ""] = stderr.split("\r\u001b[2K").slice(1);
    expect([start, first?.replace(/[ab]$/, "X"), second?.replace(/[ab]$/, "X")]).toEqual([
      "░░░░░░░░░░░░░░░░░░░░░░░░ 0/2 servers ",
      "████████████░░░░░░░░░░░░ 1/2 servers X",
      "████████████████████████ 2/2 servers X",
    ]);
    expect(rest).toStartWith("server  state  tools  written  removed");
  });

  test("stops waiting for servers when it is interrupted", async () => {
    configure({ never: fixture("never-starts", folder.path) });
    const ended = await run(["gen"], { interrupted: AbortSignal.timeout(200) });
    expect(ended.exitCode).toBe(130);
    expect(ended.stderr).toContain("not asked");
  });
});

describe("search", () => {
  test("asks the servers for their tools before gen has run, and stores the answers", async () => {
    configure({ odd: odd(), broken: fixture("crash-on-start") });
    const { exitCode, stdout, stderr } = await run(["search", "structured", "--json"]);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toMatchObject({ tools: [{ id: "odd.structured" }], notIndexed: ["broken"] });
    expect((await run(["search", "structured"])).stdout).toStartWith("odd.structured\n");
  });

  test("says why if no server answers", async () => {
    configure({ broken: fixture("crash-on-start") });
    const { exitCode, stdout, stderr } = await run(["search", "thing"]);
    expect([exitCode, stdout]).toEqual([4, ""]);
    expect(stderr).toContain('Server "broken" did not start');
  });

  test("shows the best matches first, and names the servers that were not searched", async () => {
    configure({ odd: odd(), broken: fixture("crash-on-start") });
    await run(["gen"]);
    expect(await shown(["search", "structured"])).toMatchInlineSnapshot(`
      "$ claudikins search structured
      --- stdout
      odd.structured
        Tool structured */ \`\${x}\` $& ends
        odd.structured(args?: { size?: number }): Promise<unknown>
      --- stderr
      Not searched: broken (did not start: its process exited with code 3. Run its command from the config by hand to see more. To check it: claudikins doctor)
      --- exit code 0
      "
    `);
    expect(await shown(["search", "zzz"])).toMatchInlineSnapshot(`
      "$ claudikins search zzz
      --- stderr
      None of 14 tools matches. Try other words.
      Servers with tools: odd (14)
      Not searched: broken (did not start: its process exited with code 3. Run its command from the config by hand to see more. To check it: claudikins doctor)
      --- exit code 0
      "
    `);
    expect((await run(["search", "odd", "--limit", "3"])).stdout.match(/^odd\S+/gm)).toHaveLength(3);
    configure({ odd: { ...odd(), description: "Other things" } });
    expect((await run(["search", "structured"])).stderr).toBe(
      "Possibly outdated, because their config has changed: odd (run claudikins gen)\n",
    );
  });

  test("prints matches as one document with --json", async () => {
    configure({ odd: odd() });
    await run(["gen"]);
    const ended = await run(["search", "structured", "--limit", "1", "--json"]);
    expect({ ...ended, stdout: JSON.parse(ended.stdout) }).toEqual({
      exitCode: 0,
      stderr: "",
      stdout: {
        query: "structured",
        tools: [
          {
            kind: "tool",
            id: "odd.structured",
            server: "odd",
            name: "structured",
            description: expect.any(String),
            signature: "odd.structured(args?: { size?: number }): Promise<unknown>",
            example: "await odd.structured()",
            score: expect.any(Number),
          },
        ],
        searched: 14,
        notIndexed: [],
        outdated: [],
      },
    });
  });

  test("prints names, signatures or full definitions with --detail", async () => {
    const find = {
      description: "Finds parcels. Quickly.",
      inputSchema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
    };
    folder.write("tools.json", [
      { name: "find", ...find },
      {
        name: "weigh-all",
        description: "Weighs what came by train, and also every one of the parcels",
        inputSchema: { type: "object" },
      },
    ]);
    configure({ post: { ...fixture("from-file", join(folder.path, "tools.json")), category: "mail" } });
    await run(["gen"]);
    const search = async (...argv: string[]) => (await run(["search", "find parcels", ...argv])).stdout;
    const all = {
      id: "post.find",
      name: "find",
      server: "post",
      ...find,
    };
    expect(await search("--detail", "names")).toBe(
      "post.find\n  Finds parcels.\npost.weigh-all\n  Weighs what came by train, and also every one of the parcels\n",
    );
    expect(await search("--detail=signatures", "--limit", "1")).toBe(
      "post.find\n  Finds parcels.\n  post.find(args: { id: string }): Promise<unknown>\n",
    );
    expect(JSON.parse(await search("--detail", "full", "--limit", "1"))).toEqual([all]);
    expect(JSON.parse(await search("--detail", "full", "--limit", "1", "--json"))).toMatchObject({
      query: "find parcels",
      tools: [all],
      searched: 2,
    });
    expect(JSON.parse(await search("--detail", "names", "--limit", "1", "--json")).tools).toEqual([
      { id: "post.find", server: "post", name: "find" },
    ]);
    const lines = await run(["search", "--json", "-", "--detail", "names"], { stdin: "find parcels\n" });
    expect(JSON.parse(lines.stdout).tools[1]).toEqual({ id: "post.weigh-all", server: "post", name: "weigh-all" });
    expect(await shown(["search", "find", "--detail", "ful"])).toMatchInlineSnapshot(`
      "$ claudikins search find --detail ful
      --- stderr
      error: --detail takes names, signatures or full; got "ful"

      hint: Did you mean full?
      --- exit code 2
      "
    `);
  });

  test("uses colours and wraps lines at a terminal", async () => {
    configure({ odd: odd() });
    await run(["gen"]);
    const argv = ["search", "structured", "--limit", "1"];
    const watched = await run(argv, { terminal: true, columns: 40 });
    expect(watched.stdout).toBe(
      [
        "\u001b[1modd.structured\u001b[0m",
        "  Tool structured */ `${x}` $& ends",
        "  \u001b[36modd.structured(args?: { size?: number",
        "    }): Promise<unknown>\u001b[0m\n",
      ].join("\n"),
    );
    expect((await run(argv, { terminal: true, columns: 200, env: { NO_COLOR: "1" } })).stdout).toBe(
      (await run(argv)).stdout,
    );
  });

  test("suggests similar names, lists servers with their counts, and says how to fix servers that cannot be called", async () => {
    configure({ odd: odd() });
    await run(["gen"]);
    configure({ odd: { ...odd(), env: { TOKEN: "${NO_SUCH_TOKEN}" } }, new: odd() });
    expect(await shown(["search", "prestructuredness"])).toMatchInlineSnapshot(`
      "$ claudikins search prestructuredness
      --- stderr
      None of 14 tools matches. Try other words.
      Similar names: odd.structured
      Servers with tools: odd (14)
      Not searched, because their tools are not known yet: new (run claudikins gen)
      Possibly outdated: odd (needs NO_SUCH_TOKEN: set this before starting claudikins)
      --- exit code 0
      "
    `);
    expect(await shown(["search", "structured", "--limit", "1"])).toMatchInlineSnapshot(`
      "$ claudikins search structured --limit 1
      --- stdout
      odd.structured
        Tool structured */ \`\${x}\` $& ends
        odd.structured(args?: { size?: number }): Promise<unknown>
      --- stderr
      Not available now: odd (needs NO_SUCH_TOKEN: set this before starting claudikins)
      Not searched, because their tools are not known yet: new (run claudikins gen)
      --- exit code 0
      "
    `);
  });

  test("with a server whose tools are not known yet says so, and finds nothing there", async () => {
    configure({ odd: odd(), new: odd() });
    await run(["gen", "--server", "odd"]);
    const searched = async (query: string) => {
      const { stdout, exitCode } = await run(["search", query, "--json", "--limit", "1"]);
      const { tools, notIndexed } = JSON.parse(stdout);
      return [exitCode, tools.map(({ server }: { server: string }) => server), notIndexed];
    };
    expect(await searched("structured server:new")).toEqual([0, [], ["new"]]);
    expect(await searched("structured server:NEW server:odd")).toEqual([0, ["odd"], ["new"]]);
    expect(await searched("structured server:new category:other")).toEqual([0, [], ["new"]]);
  });

  test("reads one query per line from standard input, and prints one document per line", async () => {
    configure({ odd: odd() });
    await run(["gen"]);
    const stdin = "structured\n\n  zzz \r\nthing server:odds\nstructured server:odd";
    const ended = await run(["search", "--json", "--limit", "1", "-"], { stdin });
    expect({ ...ended, stdout: "" }).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    expect(ended.stdout).toEndWith("\n");
    const lines = ended.stdout.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { query: "structured", tools: [expect.objectContaining({ server: "odd", name: "structured" })] },
      { query: "zzz", tools: [] },
      {
        query: "thing server:odds",
        tools: [],
        error: {
          code: "SERVER_NOT_FOUND",
          message: 'No tools are known for server "odds"',
          hint: "Did you mean odd?",
        },
      },
      { query: "structured server:odd", tools: [expect.objectContaining({ name: "structured" })] },
    ]);
    expect(await shown(["search", "-"], { stdin })).toMatchInlineSnapshot(`
      "$ claudikins search -
      --- stderr
      error: Queries from standard input are answered as JSON, so --json is required

      hint: claudikins search --json - < queries.txt
      --- exit code 2
      "
    `);
    expect(await shown(["search", "x server:odds"])).toMatchInlineSnapshot(`
      "$ claudikins search x server:odds
      --- stderr
      error: No tools are known for server "odds"

      hint: Did you mean odd?
      --- exit code 2
      "
    `);
  });

  test("names other servers that have the same tool", async () => {
    configure({ odd: odd(), other: odd() });
    await run(["gen"]);
    expect((await run(["search", "structured", "--limit", "1"])).stdout).toEndWith("\n  also: other.structured\n");
  });

  test("says so if the configured servers have no tools", async () => {
    configure({});
    expect(await run(["search", "x"])).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "The configured servers have no tools.\n",
    });
  });
});

test("an error of a program in a file names the file as it was given, and main.ts otherwise", async () => {
  const code = "const a = 1;\nnull.x;\n";
  folder.write("reports/daily.ts", code);
  expect((await run(["exec", "reports/daily.ts"])).stderr).toContain("\n  --> reports/daily.ts:2:");
  expect((await run(["exec", "-e", code])).stderr).toContain("\n  --> main.ts:2:");
  expect((await run(["exec", "-"], { stdin: code })).stderr).toContain("\n  --> main.ts:2:");
});
