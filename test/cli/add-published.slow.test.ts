/** `add` with real packages of npm, which a stand-in registry describes as their publishers do: npx downloads and starts them. */
import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { root } from "../support/claudikins.ts";
import { type Published, StandInRegistry } from "../support/mcp-registry.ts";
import { ownFolder } from "../support/own-folder.ts";
import { cli } from "./in-memory.ts";

setDefaultTimeout(120_000);

const require = createRequire(join(root, "package.json"));

/** The version that the tests have anyway, so that npm has it in its cache. */
function npm(name: string, more: object) {
  const identifier = `@modelcontextprotocol/${name}`;
  const { version } = require(`${identifier}/package.json`) as { version: string };
  return {
    registryType: "npm",
    registryBaseUrl: "https://registry.npmjs.org",
    identifier,
    version,
    transport: { type: "stdio" },
    ...more,
  };
}

const packages = ["server-everything", "server-filesystem", "server-memory"].map((name) => npm(name, {}));

const servers: Published[] = [
  {
    server: {
      name: "io.github.modelcontextprotocol/everything",
      description: "Every feature of MCP",
      version: "1.0.0",
      packages: [
        npm("server-everything", { runtimeHint: "npx", packageArguments: [{ type: "positional", value: "stdio" }] }),
      ],
    },
  },
  {
    server: {
      name: "io.github.modelcontextprotocol/filesystem",
      description: "Files of chosen folders",
      version: "1.0.0",
      packages: [
        npm("server-filesystem", {
          runtimeHint: "npx",
          runtimeArguments: [{ type: "named", name: "-y", description: "Install without asking" }],
          packageArguments: [
            {
              type: "positional",
              valueHint: "target_dir",
              description: "Folder to access",
              format: "filepath",
              default: "/Users/username/Desktop",
              isRequired: true,
              isRepeated: true,
            },
          ],
        }),
      ],
    },
  },
  {
    server: {
      name: "io.github.modelcontextprotocol/memory",
      description: "A memory that is a graph",
      version: "1.0.0",
      packages: [
        npm("server-memory", {
          environmentVariables: [
            { name: "MEMORY_FILE_PATH", description: "File of the memory", format: "filepath", isRequired: true },
          ],
        }),
      ],
    },
  },
];

const folder = ownFolder();
beforeEach(() => {
  // npx reads the settings of the home folder, which is another one here.
  const settings = ["registry", "cache"].map((name) => {
    const value = Bun.spawnSync(["npm", "config", "get", name], { cwd: root }).stdout.toString().trim();
    return `${name}=${value}\n`;
  });
  // Servers do not get this variable, but npm may need it here.
  const authority = process.env["NODE_EXTRA_CA_CERTS"];
  if (authority) settings.push(`cafile=${authority}\n`);
  folder.write(".npmrc", settings.join(""));
});

/** Downloads a package as npx does, which may take longer on a busy machine than a server may take to start. */
async function download(spec: string): Promise<void> {
  const env = { HOME: folder.path, PATH: process.env["PATH"] ?? "" };
  const npx = Bun.spawn(["npx", "-y", "--package", spec, "-c", "true"], {
    cwd: folder.path,
    env,
    stderr: "ignore",
    stdout: "ignore",
  });
  expect(await npx.exited).toBe(0);
}

test("a server without values, one with folders as arguments, and one with a variable are added, started and called", async () => {
  using registry = new StandInRegistry({ servers });
  for (const { identifier, version } of packages) await download(`${identifier}@${version}`);
  const run = (argv: string[], answers?: string[]) =>
    cli(argv, { cwd: folder.path, ...(answers ? { answers, terminal: true } : {}), env: { NO_COLOR: "1" } });
  const add = async (name: string, answers: string[]) => {
    const { exitCode, stderr, stdout } = await run(["add", name, "--registry", registry.url], answers);
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("It runs this program on your machine")]);
    expect(stdout).toMatch(/^Added \w+ to .*: \d+ tools\n$/);
  };
  folder.write("docs/note.txt", "hello");
  folder.write("more/other.txt", "there");
  await add("everything", ["y"]);
  await add("io.github.modelcontextprotocol/filesystem", ["y", "docs", join(folder.path, "more"), ""]);
  await add("io.github.modelcontextprotocol/memory@1.0.0", ["y", "memory.json"]);
  const { mcpServers } = JSON.parse(
    readFileSync(join(folder.path, ".config", "claudikins", "claudikins.json"), "utf8"),
  );
  expect(mcpServers.filesystem.args.slice(-2)).toEqual([join(folder.path, "docs"), join(folder.path, "more")]);
  const code = `
    await memory.create_entities({ entities: [{ name: "Ada", entityType: "person", observations: ["counts"] }] });
    const files = await filesystem.list_directory({ path: ${JSON.stringify(join(folder.path, "more"))} });
    return [files, (await everything.get_sum({ a: 20, b: 22 }))];`;
  const called = await run(["exec", "-e", code]);
  expect([called.exitCode, called.stdout]).toEqual([0, expect.stringContaining("other.txt")]);
  expect(called.stdout).toContain("42");
  expect(readFileSync(join(folder.path, "memory.json"), "utf8")).toContain("Ada");
});
