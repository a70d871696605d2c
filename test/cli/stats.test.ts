/** `claudikins stats` on a ledger written by hand: the page, the JSON, the chart, and what is refused. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { chart } from "../../src/cli/terminal/layout.ts";
import { Counts } from "../../src/programs/ledger/counts.ts";
import { type Statistics, tokenizer } from "../../src/programs/ledger/statistics.ts";
import { dayOf } from "../../src/programs/ledger/store.ts";
import { definitionJson } from "../../src/tools/model.ts";
import { ownFolder } from "../support/own-folder.ts";
import { type Entry, everything, filesystem, sequentialThinking } from "../support/servers.ts";
import { inStore, storeCounts } from "../support/stored.ts";
import { type CliOptions, cli, page } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();

const run = (argv: string[], options: CliOptions = {}) => cli(["stats", ...argv], { cwd: folder.path, ...options });

/** The output, with DATE for the dates, which depend on today. */
async function shown(argv: string[], options: CliOptions = {}): Promise<string> {
  return page(["stats", ...argv], await run(argv, options), folder.path).replace(/\d{4}-\d{2}-\d{2}/g, "DATE");
}

/** The date at noon. */
function dateAgo(days: number): Date {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - days, 12);
}

const daysAgo = (days: number) => dayOf(dateAgo(days));

function write(days: number, fill: (counts: Counts) => void): Promise<void> {
  const counts = new Counts();
  fill(counts);
  return storeCounts(folder.path, counts, dateAgo(days));
}

const use = { calls: 1, failures: 0, durationMs: 100, resultChars: 400, takenChars: 400, argumentChars: 40 };

/** Two sessions yesterday, one without any call; today, calls to two servers. */
async function writeSome(): Promise<void> {
  await write(1, (counts) => {
    counts.addSums({ sessions: 2, definitionChars: 46_000, surfaceChars: 4_600 });
    counts.addSums({ searches: 1, queryChars: 20, foundChars: 1_180 });
    counts.addHook("serve skill", 1);
  });
  await write(0, (counts) => {
    counts.addSums({ executions: 2, codeChars: 400, returnedChars: 200 });
    counts.addUse("shop", "list", { ...use, calls: 12, failures: 2, durationMs: 61_000, takenChars: 100_000 });
    counts.addUse("github", "get-issue", { ...use, resultChars: 1_234_567, durationMs: 3_600_000 });
    counts.addHook("files none", 3);
  });
  await write(20, (counts) => counts.addUse("old", "tool", use));
}

describe("the page", () => {
  test("shows the figures of the last days", async () => {
    await writeSome();
    expect(await shown(["--days", "3"])).toMatchInlineSnapshot(`
      "$ claudikins stats --days 3
      --- stdout
      DATE to DATE: 2 sessions, 2 executions, 1 search, 13 calls (2 failed), 61 min in tools

      tokens            without  with claudikins
      definitions        10,000            1,000
      arguments / code       20              100
      results            25,100               50
      searches                0              300
      all                35,120            1,450
      33,670 tokens kept out of the context (95 %)

      Kept out of the context, in tokens:
      DATE  ##################### 8,700
      DATE  ############################################################ 24,970

      tool              calls  failed    time  result chars  tokens to code
      shop.list            12       2    61 s           400          25,000
      github.get-issue      1       0  60 min     1,234,567             100

      Tokens are estimated: 4.6 characters of definitions are one token, and 4 of everything else.
      At most 100,000 characters of a result are counted, because agents show no more. An image counts as 6,000 characters.
      The column "without" assumes that the agent makes the same calls itself and loads all definitions once per session.
      Only tokens of agents connected to claudikins serve are counted, not output printed in a shell.
      --- exit code 0
      "
    `);
  });

  test("compares no tokens if only the shell was used", async () => {
    await write(0, (counts) => {
      counts.addSums({ shellExecutions: 3 });
      counts.addUse("shop", "list", { ...use, takenChars: 0, argumentChars: 0, resultChars: 600_000 });
    });
    const text = await shown(["--days", "1"]);
    expect(text).toContain("0 sessions, 0 executions, 3 executions from a shell, 0 searches, 1 call");
    expect(text).not.toContain("kept out");
    expect(text).not.toContain("more than without");
    expect(text).toContain("not output printed in a shell.");
  });

  test("shows the figures of one server with --server", async () => {
    await writeSome();
    expect(await shown(["--days", "2", "--server", "github"])).toMatchInlineSnapshot(`
      "$ claudikins stats --days 2 --server github
      --- stdout
      DATE to DATE: github, 1 call, 60 min in tools

      Results that went to code, in tokens:
      DATE  ############################################################ 100

      tool              calls    time  result chars  tokens to code
      github.get-issue      1  60 min     1,234,567             100

      Tokens are estimated: 4.6 characters of definitions are one token, and 4 of everything else.
      At most 100,000 characters of a result are counted, because agents show no more. An image counts as 6,000 characters.
      --- exit code 0
      "
    `);
  });

  test("shows the texts that led to claudikins with --hooks", async () => {
    await writeSome();
    expect(await shown(["--hooks"])).toMatchInlineSnapshot(`
      "$ claudikins stats --hooks
      --- stdout
      text         sessions  share  files  shell
      description         0    0 %      0      0
      claude-md           0    0 %      0      0
      skill               1  100 %      0      0
      readme              0    0 %      0      0
      none                0    0 %      3      0

      1 of 2 sessions used the registry.

      sessions: each session counts for the text whose mark, such as via:skill, is in its first access to the registry.
      description: the first access was search_tools without a mark. The agent has read the tool's description; it may also have read a text and left out its mark.
      files: runs of generated files, counted again only after a pause. shell: commands with a mark.
      --- exit code 0
      "
    `);
  });

  test("has coloured bars at a terminal, and no line wider than it", async () => {
    await writeSome();
    const { stdout } = await run([], { terminal: true, columns: 50 });
    for (const line of stdout.split("\n").slice(1)) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(50);
    expect(stdout).toContain("\u001b[36m█");
    expect((await run([], { terminal: true, env: { NO_COLOR: "1" } })).stdout).not.toContain("\u001b");
  });

  test("says so if claudikins used more tokens than it saved", async () => {
    await write(0, (counts) => counts.addSums({ sessions: 1, definitionChars: 2_300, surfaceChars: 4_600 }));
    const { stdout } = await run(["--days", "1"]);
    expect(stdout).toContain("500 tokens more than without claudikins: there was little to save\n");
    expect(stdout).toContain("  -500\n");
  });

  test("says so if nothing was counted", async () => {
    expect(await run([])).toEqual({ exitCode: 0, stdout: "", stderr: "Nothing has been counted yet.\n" });
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test("warns about a damaged ledger", async () => {
    await writeSome();
    const damaged = { at: null, period: "2026-11", json: '{"tools":3}' };
    await inStore(folder.path, (store) => store.counts.add(damaged));
    const { exitCode, stdout, stderr } = await run([]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: "warning: 1 row of the ledger could not be read\n",
    });
    expect(stdout).toContain("14 calls");
  });
});

describe("as JSON", () => {
  const json = async (...argv: string[]): Promise<Statistics> => JSON.parse((await run([...argv, "--json"])).stdout);

  test("has every figure of every day", async () => {
    await writeSome();
    const { total, periods, tools, hooks, tokenizer: ratios } = await json("--days", "2");
    expect(total).toEqual({
      sessions: 2,
      executions: 2,
      shellExecutions: 0,
      searches: 1,
      calls: 13,
      failures: 2,
      denied: 0,
      durationMs: 3_661_000,
      resultChars: 1_234_967,
      tokens: {
        definitions: { without: 10_000, with: 1_000 },
        code: { without: 20, with: 100 },
        results: { without: 25_100, with: 50 },
        searches: { without: 0, with: 300 },
        all: { without: 35_120, with: 1_450 },
        keptOut: 33_670,
      },
    });
    expect(periods.map(({ period, calls, tokens }) => [period, calls, tokens.keptOut])).toEqual([
      [daysAgo(1), 0, 8_700],
      [daysAgo(0), 13, 24_970],
    ]);
    expect(tools.map(({ server, tool, calls, takenTokens }) => [server, tool, calls, takenTokens])).toEqual([
      ["shop", "list", 12, 25_000],
      ["github", "get-issue", 1, 100],
    ]);
    expect(hooks).toEqual([
      { hook: "description", serve: 0, files: 0, shell: 0 },
      { hook: "claude-md", serve: 0, files: 0, shell: 0 },
      { hook: "skill", serve: 1, files: 0, shell: 0 },
      { hook: "readme", serve: 0, files: 0, shell: 0 },
      { hook: "none", serve: 0, files: 3, shell: 0 },
    ]);
    expect(ratios).toEqual({ definitionCharsPerToken: 4.6, otherCharsPerToken: 4 });
  });

  test("has older days with --all, but only those with figures", async () => {
    await writeSome();
    expect((await json("--all")).periods.map(({ period }) => period)).toEqual([daysAgo(20), daysAgo(1), daysAgo(0)]);
    expect((await json()).periods.length).toBe(30);
  });

  test("are the same in every folder, whatever tools are known there", async () => {
    await writeSome();
    const before = await json("--days", "2");
    await cli(["gen"], { cwd: folder.path });
    expect(await json("--days", "2")).toEqual(before);
  });
});

test("the ratio of definitions is that of real servers, within a tenth", async () => {
  const { chars, tokens } = await definitionsOf([everything(), filesystem(folder.path), sequentialThinking()]);
  expect(Math.abs(chars / tokens / tokenizer.definitionCharsPerToken - 1)).toBeLessThan(0.1);
});

/** The characters and the o200k tokens of the definitions of servers. */
async function definitionsOf(servers: Entry[]): Promise<{ chars: number; tokens: number }> {
  let [chars, tokens] = [0, 0];
  for (const entry of servers) {
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StdioClientTransport({ ...entry, stderr: "ignore" }));
    const texts = (await client.listTools()).tools.map(definitionJson);
    await client.close();
    for (const text of texts) [chars, tokens] = [chars + text.length, tokens + encode(text).length];
  }
  return { chars, tokens };
}

describe("stats", () => {
  test.each([
    [["--days", "0"], 'error: --days takes a whole number from 1 to 100; got "0"'],
    [["--days", "3", "--all"], "error: Use --days or --all, not both"],
    [
      ["--hooks", "--server", "github"],
      "error: --hooks counts sessions, which have no server: it cannot be used with --server",
    ],
    [["--reset", "--server", "x"], "error: --reset deletes the whole ledger: it cannot be used with --server"],
    [["--server", "githup"], 'error: There are no figures for a server called "githup"\n\nhint: Did you mean github?'],
  ])("refuses %j", async (argv, message) => {
    await writeSome();
    const { exitCode, stdout, stderr } = await run(argv);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toStartWith(message);
  });
});

test("--reset empties the ledger", async () => {
  await writeSome();
  expect(await run(["--reset"])).toEqual({ exitCode: 0, stdout: "", stderr: "The ledger is now empty.\n" });
  expect((await run([])).stderr).toBe("Nothing has been counted yet.\n");
  expect((await run(["--reset", "--json"])).stdout).toBe('{"reset":true}\n');
});

/** Without the styles that an output leaves out. */
const plainChart = (...of: Parameters<typeof chart>) => Bun.stripANSI(chart(...of));

describe("bars", () => {
  const bars = [
    { name: "one", value: 1_000, text: "1,000" },
    { name: "a", value: 500, text: "500" },
    { name: "b", value: 1, text: "1" },
    { name: "none", value: 0, text: "0" },
    { name: "less", value: -5, text: "-5" },
  ];

  test("are as long as their values, and visible for small ones", () => {
    expect(plainChart(bars, { columns: 23, isTerminal: false })).toMatchInlineSnapshot(`
      "one   ########## 1,000
      a     ##### 500
      b     # 1
      none  0
      less  -5
      "
    `);
    expect(plainChart(bars, { columns: 23, isTerminal: true })).toMatchInlineSnapshot(`
      "one   ██████████ 1,000
      a     █████ 500
      b     ▏ 1
      none  0
      less  -5
      "
    `);
  });

  test("are empty for zero, and exceed a line that is too narrow", () => {
    expect(plainChart([{ name: "a", value: 0, text: "0" }], { isTerminal: true })).toBe("a  0\n");
    expect(plainChart(bars.slice(0, 1), { columns: 5, isTerminal: false })).toBe("one  #### 1,000\n");
  });
});
