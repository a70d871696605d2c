/** The main use case with real servers: one program works with several of them, and only its result is returned. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { jsonText } from "../../src/serve/content/json-text.ts";
import { executable, fromSource, root } from "../support/claudikins.ts";
import { processesLeft, runProgram, testEnvironment } from "../support/process.ts";
import { everything, filesystem, memory, sequentialThinking } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

// Real servers start slowly on a small machine.
setDefaultTimeout(60_000);

const code = `
interface Entity { name: string; entityType: string; observations: string[] }

const folder: string = FOLDER;
const listing: { content: string } = await files.list_directory({ path: folder });
const names = listing.content.split("\\n").filter((line) => line.startsWith("[FILE]")).map((line) => line.slice(7));
const texts = await Promise.all(names.map(async (name) => (await files.read_text_file({ path: folder + "/" + name })).content as string));

const entities: Entity[] = names.map((name, i) => ({ name, entityType: "file", observations: [texts[i].trim()] }));
await memory.create_entities({ entities });
const graph = await memory.read_graph({});

const { content } = await thinking.sequentialthinking.raw({ thought: "sum up", thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false });
const sum = await everything.get_sum({ a: texts.length, b: graph.entities.length });
console.log("read", names.length, "files");
return {
  files: names.sort(),
  stored: (graph.entities as Entity[]).map((e) => e.name + "=" + e.observations[0]).sort(),
  thoughtBlocks: content.length,
  sum,
};
`;

const expected = {
  files: ["alpha.txt", "beta.txt", "gamma.txt"],
  stored: ["alpha.txt=first", "beta.txt=second", "gamma.txt=third"],
  thoughtBlocks: 1,
  sum: "The sum of 3 and 3 is 6.",
};

/** A project with four servers and a folder of three files, and the program that uses them. */
function project(): TemporaryFolder & { code: string; data: string } {
  const folder = temporaryFolder();
  folder.write("data/alpha.txt", "first\n");
  folder.write("data/beta.txt", "second\n");
  folder.write("data/gamma.txt", "third\n");
  const data = join(folder.path, "data");
  folder.write("claudikins.json", {
    mcpServers: {
      everything: everything(),
      files: filesystem(data),
      memory: memory(join(folder.path, "memory.jsonl")),
      thinking: sequentialThinking(),
    },
  });
  return { ...folder, data, code: code.replace("FOLDER", JSON.stringify(data)) };
}

const programs: [string, () => [string, ...string[]]][] = [
  ["from source", () => fromSource],
  ["the executable alone", () => [executable()]],
];

describe.each(programs)("%s", (_, program) => {
  test("exec reads a folder, stores entities, reads them back and sums up", async () => {
    using folder = project();
    const file = folder.write("work.ts", folder.code);
    const ended = await runProgram([...program(), "exec", file, "--json"], { cwd: folder.path });
    expect(ended.stderr).toBe("");
    const outcome = JSON.parse(ended.stdout);
    expect(outcome.value).toEqual(expected);
    expect(outcome.logs).toEqual([{ level: "log", text: "read 3 files" }]);
    expect(outcome.receipt).toMatchObject({ calls: 8, failures: 0 });
    expect(ended.exitCode).toBe(0);
    expect(await processesLeft(folder.path)).toEqual([]);
  });

  test("serve runs the same program for the SDK's client", async () => {
    using folder = project();
    const [command, ...args] = [...program(), "serve"];
    const transport = new StdioClientTransport({
      command,
      args,
      cwd: folder.path,
      env: testEnvironment(),
      stderr: "pipe",
    });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport);
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(["search_tools", "execute_code"]);
    const found = await client.callTool({ name: "search_tools", arguments: { query: "read the knowledge graph" } });
    expect(JSON.stringify(found.content)).toContain("memory.read_graph");
    const result = await client.callTool({ name: "execute_code", arguments: { code: folder.code } });
    const [block] = result.content as { type: string; text: string }[];
    expect(block?.text).toStartWith(jsonText(expected));
    expect(block?.text).toContain("Logs:\nread 3 files");
    expect(result.structuredContent).toBeUndefined();
    await client.close();
    expect(await processesLeft(folder.path)).toEqual([]);
  });
});

test("serve runs the same program for the MCP Inspector's command line", async () => {
  using folder = project();
  const inspector = join(root, "node_modules", ".bin", "mcp-inspector");
  const inspect = (...args: string[]) =>
    runProgram(["node", inspector, "--cli", ...fromSource, "serve", "--trust", ...args], { cwd: folder.path });
  const listed = await inspect("--method", "tools/list");
  expect(JSON.parse(listed.stdout).tools.map((tool: { name: string }) => tool.name)).toEqual([
    "search_tools",
    "execute_code",
  ]);
  const called = await inspect(
    "--method",
    "tools/call",
    "--tool-name",
    "execute_code",
    "--tool-arg",
    `code=${folder.code}`,
  );
  expect(JSON.parse(called.stdout).content[0].text).toStartWith(jsonText(expected));
});
