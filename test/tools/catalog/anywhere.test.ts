/** Which servers agents in different folders share. Everything else runs once for each folder. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { ServerConfig } from "../../../src/config/load.ts";
import { isAnywhere } from "../../../src/tools/catalog/anywhere.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const entry = (command: string, args: string[] = [], more: object = {}) =>
  ({ name: "s", command, args, env: {}, ...more }) as unknown as ServerConfig;
const npx = (...args: string[]) => entry("npx", ["-y", ...args]);
const memory = "@modelcontextprotocol/server-memory";
const files = "@modelcontextprotocol/server-filesystem";

describe("a server that does not care about the folder is shared by all folders", () => {
  test.each([
    ["it uses no folder", npx(memory)],
    ["a fixed version", npx(`${memory}@2025.8.4`)],
    ["a program on the PATH", entry("mcp-server-fetch")],
    ["an installed package", entry("node", [`/opt/node_modules/${memory}/dist/index.js`])],
    ["its arguments name the folders", npx(files, "/home/ann/notes", "/srv/files")],
    ["an option names the repository", entry("uvx", ["mcp-server-git", "-v", "--repository", "/srv/code"])],
    ["an option with the value in it", entry("uvx", ["mcp-server-git", "--repository=/srv/code"])],
    ["a file of its own", entry("npx", ["-y", memory], { env: { MEMORY_FILE_PATH: "/home/ann/memory.json" } })],
  ])("%s", async (_, server) => {
    expect(await isAnywhere(server, undefined)).toBe(true);
  });
});

describe("a server stays per folder if anything depends on the folder, or might", () => {
  test.each([
    ["it is unknown", npx("@acme/mcp")],
    ["its package is not known to ignore the folder", npx("figma-developer-mcp")],
    ["it names no folder", npx(files)],
    ["it names a relative folder", npx(files, ".")],
    ["one of several folders is relative", npx(files, "/home/ann/notes", "docs")],
    ["its folder begins with ~, which not every server understands", npx(files, "~/notes")],
    ["no repository is named", entry("uvx", ["mcp-server-git"])],
    ["the repository is relative", entry("uvx", ["mcp-server-git", "--repository", "."])],
    ["the repository is relative, in one word", entry("uvx", ["mcp-server-git", "--repository=code"])],
    ["a variable has a relative path", entry("npx", ["-y", memory], { env: { MEMORY_FILE_PATH: "./memory.json" } })],
    ["the program is found in the folder", entry("node", [`node_modules/${memory}/dist/index.js`])],
    ["the command is in the folder", entry(`./node_modules/${memory}/cli.js`)],
    ["the package is taken from another folder", entry("npx", ["--prefix", "tools", memory])],
    ["a wrapper changes the folder", entry("env", ["-C", "work", "npx", memory])],
    ["a shell decides", entry("sh", ["-c", `npx ${memory}`])],
    ["its entry names the folder", entry("npx", [memory], { cwd: "/srv" })],
    ["it is confined", entry("npx", [memory], { box: { read: [], write: [], network: false } })],
    ["its entry gives each agent a process", entry("npx", [memory], { session: "private" })],
    ["each person has own credentials for it", entry("npx", [memory], { credentials: "user" })],
  ])("%s", async (_, server) => {
    expect(await isAnywhere(server, undefined)).toBe(false);
  });
});

test("an agent whose roots are inside the named folders keeps its own process, because the roots open less", async () => {
  using folder = temporaryFolder();
  const path = (name: string) => join(folder.path, name);
  for (const name of ["work/one", "notes"]) mkdirSync(path(name), { recursive: true });
  symlinkSync(path("work"), path("link"));
  const withRoots = (named: string, ...roots: string[]) => isAnywhere(npx(files, named), async () => roots);
  expect(await withRoots(path("work"), path("work/one"))).toBe(false);
  expect(await withRoots(path("link"), path("work/one"))).toBe(false);
  expect(await withRoots(path("work"), path("work"))).toBe(false);
  expect(await withRoots(path("notes"), path("work/one"))).toBe(true);
  expect(await isAnywhere(npx(memory), async () => [path("work/one")])).toBe(true);
  expect(await isAnywhere(npx(files, path("notes")), () => Promise.reject(new Error("no answer")))).toBe(false);
});
