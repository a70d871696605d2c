/** The MCP Inspector as a host on the command line: lists and calls, over stdio and HTTP, in both modes and both eras. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { claudikinsCommand } from "../support/command.ts";
import { httpServe } from "../support/http-serve.ts";
import { ownFolder } from "../support/own-folder.ts";
import { runProgram } from "../support/process.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(60_000);

const manifest = createRequire(import.meta.url).resolve("@modelcontextprotocol/inspector/package.json");
const inspector = ["node", join(dirname(manifest), "clients", "launcher", "build", "index.js"), "--cli"];

const folder = ownFolder({ endsProcesses: true });
beforeEach(() => {
  folder.write("claudikins.json", { mcpServers: { suite: fixture("conformance", folder.path) } });
});

describe.each([
  ["stdio", "legacy"],
  ["http", "legacy"],
  ["stdio", "modern"],
  ["http", "modern"],
])("the Inspector over %s, in the %s era", (way, era) => {
  /** What the Inspector prints for each call. */
  async function inspected(mode: string, ...calls: string[][]): Promise<unknown[]> {
    await using door = way === "http" ? await httpServe(folder, ["--mode", mode]) : undefined;
    const [command, ...args] = [...claudikinsCommand, "serve", "--trust", "--mode", mode];
    const config = folder.write("inspector.json", {
      mcpServers: {
        us: door
          ? { type: "streamable-http", url: door.url }
          : {
              type: "stdio",
              command,
              args,
              cwd: folder.path,
              env: { XDG_DATA_HOME: `${folder.path}/data`, CLAUDIKINS_DAEMON: "off" },
            },
      },
    });
    // The Inspector keeps secrets in the system's keychain, which not every system has.
    const env = { MCP_INSPECTOR_SECRET_STORE: "memory" };
    const printed = [];
    for (const call of calls) {
      const all = [...inspector, "--config", config, "--server", "us", "--protocol-era", era, ...call];
      const { exitCode, stdout, stderr } = await runProgram(all, { cwd: folder.path, env });
      if (exitCode !== 0) throw new Error(`${call.join(" ")}: ${stderr}`);
      printed.push(JSON.parse(stdout));
    }
    return printed;
  }

  const list = ["--method", "tools/list", "--strict"];
  const call = (tool: string, ...args: string[]) => [
    ...["--method", "tools/call", "--tool-name", tool],
    ...args.flatMap((arg) => ["--tool-arg", arg]),
  ];
  const names = (printed: unknown) => (printed as { tools: { name: string }[] }).tools.map(({ name }) => name);

  test("lists and calls the two tools in code mode", async () => {
    const code = "code=return await suite.test_simple_text()";
    const [listed, found, ran] = await inspected(
      "code",
      list,
      call("search_tools", "query=simple text"),
      call("execute_code", code),
    );
    expect(names(listed)).toEqual(["search_tools", "execute_code"]);
    expect(JSON.stringify(found)).toContain("suite.test_simple_text(");
    expect(JSON.stringify(ran)).toContain("This is a simple text response for testing.");
  });

  test("lists and uses the servers' own tools, resources and prompts in direct mode", async () => {
    const [listed, image, prompts, read] = await inspected(
      "direct",
      ["--method", "tools/list"],
      call("test_image_content"),
      ["--method", "prompts/list"],
      ["--method", "resources/read", "--uri", "test://static-text"],
    );
    expect(names(listed)).toContain("json_schema_2020_12_tool");
    expect(image).toMatchObject({ content: [{ type: "image", mimeType: "image/png" }] });
    expect(prompts).toMatchObject({ prompts: { length: 4 } });
    expect(read).toMatchObject({ contents: [{ uri: "test://static-text", mimeType: "text/plain" }] });
  });
});
