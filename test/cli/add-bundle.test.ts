/** `add` with bundles: what is shown and asked, what is unpacked and written, and which archives are refused. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { strToU8, zipSync } from "fflate";
import { filesystem } from "../support/servers.ts";
import { diskFolder, type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { type CliOptions, cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

// No box shows folders below /dev.
let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder(diskFolder);
});
afterEach(() => folder[Symbol.dispose]());

const run = (argv: string[], options: CliOptions = {}) => cli(argv, { cwd: folder.path, ...options });
const users = () =>
  JSON.parse(readFileSync(join(folder.path, ".config", "claudikins", "claudikins.json"), "utf8")).mcpServers;
const bundles = join(".local", "share", "claudikins", "bundles");
const unpacked = () => {
  const all = join(folder.path, bundles);
  return existsSync(all) ? readdirSync(all) : [];
};

const manifest = {
  manifest_version: "0.3",
  name: "files-mcp-server",
  version: "1.2.0",
  display_name: "Files",
  description: "Reads files\u202e of folders",
  author: { name: "Ada" },
  license: "MIT",
  server: {
    type: "node",
    entry_point: "server/index.js",
    mcp_config: {
      command: "node",
      args: ["${__dirname}/server/index.js", "${user_config.folders}"],
      platform_overrides: { [process.platform]: { command: "node" }, other: { command: "other" } },
      env: { API_KEY: "${user_config.key}", UNUSED: "${user_config.region}", HOME_WAS: "${HOME}" },
    },
  },
  tools: [{ name: "read_file" }, { name: "list_directory" }],
  user_config: {
    folders: { type: "directory", title: "Folders", description: "Folders to read", multiple: true, required: true },
    key: { type: "string", title: "Key", sensitive: true, required: true },
    region: { type: "string", title: "Region" },
  },
};

function write(changes: object = {}, files: Record<string, Uint8Array> = {}): void {
  const [program = ""] = filesystem("").args;
  const archive = {
    "manifest.json": strToU8(JSON.stringify({ ...manifest, ...changes })),
    "server/index.js": readFileSync(program),
    "icon.png": strToU8("an image"),
    ...files,
  };
  writeFileSync(join(folder.path, "files.mcpb"), zipSync(archive));
}

const values = () => ["--set", `folders=${join(folder.path, "docs")}`, "--set", "key=${FILES_KEY}"];

describe("a bundle", () => {
  test("is shown, unpacked and started in a box with the chosen folders, and its values are asked", async () => {
    write();
    mkdirSync(join(folder.path, "docs"));
    const answers = ["y", join(folder.path, "docs"), "", "s3cret", "n"];
    const { exitCode, stderr, stdout } = await run(["add", "./files.mcpb"], { answers, terminal: true });
    expect([exitCode, stderr]).toEqual([0, stderr]);
    expect(stdout).toMatch(/^Added files to .*: \d+ tools\n$/);
    expect(stderr).toContain(
      "files-mcp-server 1.2.0, from ./files.mcpb\n  Files: Reads files of folders\n  author: Ada",
    );
    expect(stderr).toContain("  2 tools: read_file, list_directory\n");
    expect(stderr).toContain("  node ${__dirname}/server/index.js ${user_config.folders}\n");
    const [name = ""] = unpacked();
    const place = join(folder.path, bundles, name);
    expect(users()).toEqual({
      files: {
        command: "node",
        args: [join(place, "server", "index.js"), join(folder.path, "docs")],
        env: { API_KEY: "s3cret", HOME_WAS: folder.path },
        cwd: place,
        sandbox: { read: [place], write: [join(folder.path, "docs")], network: true },
      },
    });
    expect(readdirSync(place).sort()).toEqual([".claudikins-bundle.json", "icon.png", "manifest.json", "server"]);
    expect(statSync(place).mode & 0o777).toBe(0o700);
    expect((await run(["remove", "files"])).exitCode).toBe(0);
    expect(unpacked()).toEqual([]);
  });

  test("needs a person, or --yes with all values", async () => {
    write();
    const refused = await run(["add", "./files.mcpb"]);
    expect([refused.exitCode, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toContain("Only a person can add a bundle, and this command has no terminal");
    const missing = await run(["add", "./files.mcpb", "--yes", "--json"]);
    expect(JSON.parse(missing.stderr).error.message).toContain("The server needs folders, key");
    expect(unpacked()).toEqual([]);
    const added = await run(["add", "mine", "files.mcpb", "--yes", "--no-check", "--sandbox", ...values()]);
    expect([added.exitCode, added.stdout]).toEqual([0, expect.stringMatching(/^Added mine to /)]);
    expect(users().mine).toMatchObject({ env: { API_KEY: "${FILES_KEY}" } });
    expect(users().mine.sandbox).not.toHaveProperty("network");
  });

  test("leaves nothing behind if it does not start", async () => {
    write({}, { "server/index.js": strToU8("process.exit(7)") });
    const { exitCode, stderr } = await run([
      "add",
      "files.mcpb",
      "--yes",
      "--no-sandbox",
      "--set",
      "folders=docs",
      "--set",
      "key=x",
    ]);
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining("Nothing was written")]);
    expect(unpacked()).toEqual([]);
  });

  test("with --force takes the place of the earlier one, and of its files", async () => {
    write();
    const add = (...more: string[]) => run(["add", "files.mcpb", "--yes", "--no-check", ...values(), ...more]);
    expect((await add()).exitCode).toBe(0);
    const before = unpacked();
    write({ version: "1.3.0" });
    expect((await add()).stderr).toContain('already has a server called "files"');
    expect(unpacked()).toEqual(before);
    expect((await add("--force")).exitCode).toBe(0);
    expect(unpacked()).toHaveLength(1);
    expect(unpacked()).not.toEqual(before);
  });

  test("with a program of its own can start it", async () => {
    const server = { type: "binary", entry_point: "bin/tool", mcp_config: { command: "${__dirname}/bin/tool" } };
    write({ server, user_config: {} }, { "bin/tool": strToU8("#!/bin/sh\n") });
    expect((await run(["add", "files.mcpb", "--yes", "--no-check"])).exitCode).toBe(0);
    const { command } = users().files;
    expect(statSync(command).mode & 0o777).toBe(0o755);
  });
});

describe("an archive is refused", () => {
  const files: [string, Record<string, Uint8Array>, string][] = [
    ["a path out of its folder", { "../evil": strToU8("x") }, 'it has a file with the path "../evil"'],
    ["an absolute path", { "/etc/evil": strToU8("x") }, 'it has a file with the path "/etc/evil"'],
    ["a path of Windows", { "a\\..\\evil": strToU8("x") }, "it has a file with the path"],
    ["names that differ in case", { "a/B": strToU8("x"), "A/b": strToU8("y") }, "it has two files with the path"],
    ["no manifest", { "manifest.json": strToU8("{") }, "has no manifest that can be used: manifest.json"],
    ["a large manifest", { "manifest.json": new Uint8Array(3_000_000) }, "has no manifest that can be used"],
  ];
  test.each(files)("with %s", async (_title, more, problem) => {
    write({}, more);
    const { exitCode, stderr } = await run(["add", "files.mcpb", "--yes"]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(problem)]);
    expect(unpacked()).toEqual([]);
    expect(existsSync(join(folder.path, "evil"))).toBe(false);
  });

  const changes: [string, object, string][] = [
    [
      "a variable of the environment",
      { server: withArgument("${AWS_SECRET_ACCESS_KEY}") },
      "refers to ${AWS_SECRET_ACCESS_KEY}, which bundles do not have",
    ],
    ["a secret", { server: withArgument("${secret:github}") }, "refers to ${secret:github}"],
    ["nested references", { server: withArgument("${user_config.${HOME}}") }, "which bundles do not have"],
    ["another platform", { compatibility: { platforms: ["win32"] } }, "is for win32, and this machine is "],
    ["no command", { server: { type: "node", mcp_config: {} } }, "server.mcp_config.command"],
  ];
  test.each(changes)("with %s in its manifest", async (_title, change, problem) => {
    write(change);
    const { exitCode, stderr } = await run(["add", "files.mcpb", "--yes", "--no-check", ...values()]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(problem)]);
    expect(unpacked()).toEqual([]);
  });

  test("if it cannot be read", async () => {
    folder.write("files.mcpb", "no archive");
    expect((await run(["add", "files.mcpb"])).stderr).toContain("it is not a ZIP archive that can be read");
    expect((await run(["add", "other.mcpb"])).stderr).toContain("other.mcpb cannot be read");
    expect((await run(["add", "files.mcpb", "--via", "npm"])).stderr).toContain(
      "--via and --registry do not apply to a bundle",
    );
  });
});

function withArgument(argument: string): object {
  return { ...manifest.server, mcp_config: { command: "node", args: [argument] } };
}
