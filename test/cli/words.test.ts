/** Words that people try before they have read anything, and figures and tables as a newcomer sees them. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { Counts, unknownTool } from "../../src/programs/ledger/counts.ts";
import { ownFolder } from "../support/own-folder.ts";
import { fixture } from "../support/servers.ts";
import { storeCounts } from "../support/stored.ts";
import { cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });
const run = (...argv: string[]) => cli(argv, { cwd: folder.path });
const textOf = async (...argv: string[]) => {
  const { exitCode, stdout, stderr } = await run(...argv);
  expect([argv, exitCode, stdout === "" ? stderr : ""]).toEqual([argv, 0, ""]);
  return stdout;
};

describe("words that people try", () => {
  test("ls and status list the servers, and tools lists their tools", async () => {
    const servers = await textOf("list");
    expect(await textOf("ls")).toBe(servers);
    expect(await textOf("status")).toBe(servers);
    expect(await textOf("tools")).toBe(await textOf("list", "tools"));
    expect(await textOf("ls", "--help")).toBe(await textOf("list", "--help"));
  });

  test("list with the name of a server lists its tools", async () => {
    const tools = folder.write("tools.json", [
      { name: "find", description: "Finds.", inputSchema: { type: "object" } },
    ]);
    const mcpServers = { a: fixture("from-file", tools), b: fixture("lists", "none") };
    folder.write("claudikins.json", { mcpServers });
    expect(await textOf("list", "a")).toBe(await textOf("list", "tools", "a"));
    expect(await textOf("list", "a", "--detailed")).toBe(await textOf("list", "tools", "a", "--detailed"));
    expect((await run("list", "aa")).stderr).toContain("Available: a, b.");
    expect((await run("list", "a", "--check")).stderr).toContain("--check works only with servers");
  });

  test("search takes several words without quotes", async () => {
    expect(await textOf("search", "refund", "an", "order")).toBe(await textOf("search", "refund an order"));
  });

  test("call with a tool and --help shows the signature of the tool", async () => {
    const text = await textOf("call", "demo.get_order", "--help");
    expect(text).toStartWith("demo.get_order\n");
    expect(text).toContain("demo.get_order(args: { order_id: string }): Promise<");
    expect(text).toEndWith("\nUsage: claudikins call demo.get_order order_id=…\nAll options: claudikins call --help\n");
    expect(await textOf("call", "demo", "get_order", "-h")).toBe(text);
    expect(await textOf("call", "--help")).toStartWith("Call one tool and print its result.");
    expect((await run("call", "demo.get_ordr", "--help")).stderr).toContain("get_order");
  });

  test("hooks and setup, the former names, still work", async () => {
    expect(await textOf("hooks", "print", "skill")).toBe(await textOf("skill", "print", "skill"));
    expect(await textOf("setup", "--dry-run", "--no-servers")).not.toBe("");
  });
});

describe("stats of a newcomer", () => {
  const use = { calls: 3, failures: 0, durationMs: 100, resultChars: 400, takenChars: 0, argumentChars: 0 };

  test("have no day without figures, no column without figures, and no name that stands for unknown tools", async () => {
    const counts = new Counts();
    counts.addUse("demo", "list_orders", use);
    counts.addUse("demo", unknownTool, { ...use, calls: 1 });
    counts.addUse(unknownTool, unknownTool, { ...use, calls: 1 });
    await storeCounts(folder.path, counts, new Date());
    const shell = await textOf("stats");
    expect(shell).toMatch(/^tool +calls +time +result chars$/m);
    expect(shell).toMatch(/^unknown tools of demo +1 /m);
    expect(shell).toMatch(/^unknown servers +1 /m);
    expect(shell).not.toContain("(unknown)");
    const agent = new Counts();
    agent.addSums({ sessions: 1, definitionChars: 46_000, surfaceChars: 4_600 });
    agent.addUse("demo", "list_orders", { ...use, takenChars: 400 });
    await storeCounts(folder.path, agent, new Date());
    expect(await textOf("stats")).toMatch(/^tool .* tokens to code$/m);
    expect((await textOf("stats")).match(/^\d{4}-\d\d-\d\d {2}/gm)).toHaveLength(1);
  });
});
