/** `claudikins uninstall`: nothing of claudikins is left, and nothing else is removed. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const cursor = `${JSON.stringify({ mcpServers: { odd: fixture("odd") } }, null, 2)}\n`;

let folder: TemporaryFolder;
const run = (...argv: string[]) => cli(argv, { cwd: folder.path, env: { PATH: "/usr/bin:/bin" } });
const data = () => join(folder.path, ".local", "share", "claudikins");
const ownConfig = () => join(folder.path, ".config", "claudikins");

beforeEach(async () => {
  folder = temporaryFolder();
  folder.write(".cursor/mcp.json", cursor);
  expect((await run("init", "--apply", "--no-start")).exitCode).toBe(0);
  expect(readFileSync(join(folder.path, ".cursor/mcp.json"), "utf8")).toContain("claudikins");
  expect([existsSync(data()), existsSync(ownConfig())]).toEqual([true, true]);
});
afterEach(() => folder[Symbol.dispose]());

test("names every folder with its size and changes nothing with --dry-run, or without consent", async () => {
  const { stdout } = await run("uninstall", "--dry-run");
  expect(stdout).toMatch(/^Restore cursor: .*mcp\.json\n/);
  expect(stdout).toMatch(new RegExp(`Remove ${data()} \\([\\d,]+ [kM]B\\): `));
  expect(stdout).toMatch(new RegExp(`Remove ${ownConfig()} \\([\\d,]+ [kM]B\\): `));
  expect(await run("uninstall")).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("only with your consent"),
  });
  expect([existsSync(data()), existsSync(ownConfig())]).toEqual([true, true]);
});

test("restores the agents and removes its folders", async () => {
  expect(await run("uninstall", "--yes")).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("Removed.") });
  expect(readFileSync(join(folder.path, ".cursor/mcp.json"), "utf8")).toBe(cursor);
  expect([existsSync(data()), existsSync(ownConfig())]).toEqual([false, false]);
  expect((await run("uninstall", "--dry-run")).stdout).toBe("There is nothing to remove.\n");
});

test("keeps the user's config with --keep-config", async () => {
  expect((await run("uninstall", "--yes", "--keep-config")).exitCode).toBe(0);
  expect([existsSync(data()), existsSync(ownConfig())]).toEqual([false, true]);
});

test("removes nothing while an agent's file cannot be restored: the original would be lost", async () => {
  folder.write(".cursor/mcp.json", { mcpServers: { newer: { command: "x" } } });
  const { exitCode, stderr } = await run("uninstall", "--yes");
  expect(exitCode).not.toBe(0);
  expect(stderr).toContain("claudikins restore --servers-only");
  expect([existsSync(data()), existsSync(ownConfig())]).toEqual([true, true]);
});
