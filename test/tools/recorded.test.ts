/**
 * Recorded tool lists of real servers, which are beside the repository during development. They belong to others and
 * are not part of it; without them these tests are skipped.
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readTools } from "../../src/servers/result.ts";
import type { RegistryServer } from "../../src/tools/model.ts";
import { assignNames } from "../../src/tools/names.ts";
import { ToolSearch } from "../../src/tools/search/tool-search.ts";
import { exampleCall, signature } from "../../src/tools/signature.ts";
import { root } from "../support/claudikins.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { errorsInFiles, typeErrors } from "../support/typescript.ts";
import { importEmitted, writeEmitted } from "./emitted.ts";

// The compiler runs as a separate program, and there are nearly a thousand tools.
setDefaultTimeout(60_000);

const lists = join(root, "..", "shared", "servers", "lists");
const recorded = existsSync(lists) ? readdirSync(lists).sort().map(load) : [];

function load(file: string): RegistryServer {
  const name = file.replace(".json", "");
  const tools = readTools(JSON.parse(readFileSync(join(lists, file), "utf8")), name);
  const { names } = assignNames(tools.map((tool) => tool.name));
  return {
    name,
    jsName: name.replaceAll(/\W/g, "_"),
    category: "other",
    description: "",
    folder: `other/${name}`,
    fingerprint: "x",
    tools: tools.map((tool, i) => ({
      ...tool,
      ...(names[i]?.jsName === undefined ? {} : { jsName: names[i].jsName }),
    })),
  };
}

describe.skipIf(recorded.length === 0)(`recorded servers (needs ${lists})`, () => {
  test("are numerous", () => {
    expect(recorded.length).toBeGreaterThan(40);
    expect(recorded.flatMap(({ tools }) => tools).length).toBeGreaterThan(900);
  });

  test.each(recorded.map((server) => [server.name, server] as const))(
    "%s has files that can be imported with the same values",
    async (_, server) => {
      const { index, tools } = await importEmitted(server);
      expect(index?.["server"]).toEqual({
        name: server.name,
        description: "",
        category: "other",
        tools: server.tools.map(({ name }) => name),
      });
      expect(tools.map(({ tool }) => tool)).toEqual(
        server.tools.map(({ name, description, inputSchema }) => ({
          name,
          server: server.name,
          category: "other",
          description,
          inputSchema,
        })),
      );
    },
  );

  test("compile in strict mode", () => {
    using folder = temporaryFolder();
    const files = recorded.flatMap((server) => writeEmitted(folder, server));
    expect(errorsInFiles(files, folder.path)).toEqual([]);
  });

  test("have signatures in TypeScript, with fitting example calls", () => {
    const lines = recorded.flatMap((server) =>
      server.tools.map((tool) => {
        const path = /^await (\w+(?:\.[\w$]+|\["[^\n]*?"\]))\(/.exec(exampleCall(server, tool))?.[1] ?? "";
        const type = signature(server, tool).slice(path.length);
        const call = exampleCall(server, tool).slice(`await ${path}`.length);
        return `{ function call${type} { return null as never; } call${call}; } // ${server.name} ${tool.name}`;
      }),
    );
    expect(typeErrors(lines.join("\n"))).toEqual([]);
  });

  test("are nearly all found by their own names, with variants of one server next to each other", () => {
    const search = new ToolSearch({ version: 1, servers: recorded });
    const ids = recorded.flatMap(({ name, tools }) => tools.map((tool) => [name, tool.name] as const));
    expect(search.size).toBe(ids.length);
    const missed = ids.filter(
      ([server, tool]) => !search.search(`${server} ${tool}`, 10).some(({ id }) => id === `${server}.${tool}`),
    );
    expect(missed.length / ids.length).toBeLessThan(0.01);
  });
});
