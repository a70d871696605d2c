/** A real server is upgraded: all its changes are one review. The test installs two versions from the npm registry. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { acceptTools, heldServers } from "../../../src/tools/definitions/review.ts";
import { type Project, project } from "../generation/project.ts";

setDefaultTimeout(300_000);

let folder: Project;
beforeEach(() => {
  folder = project();
});
afterEach(() => folder[Symbol.dispose]());

const name = "@modelcontextprotocol/server-filesystem";

/** The entry of an installed version. */
function installed(version: string): object {
  const prefix = join(folder.path, version);
  const options = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
  const { exitCode, stderr } = Bun.spawnSync(["npm", "install", "--prefix", prefix, ...options, `${name}@${version}`]);
  expect([exitCode, stderr.toString()]).toEqual([0, expect.any(String)]);
  return { command: "node", args: [join(prefix, "node_modules", name, "dist/index.js"), folder.path] };
}

async function listed() {
  await using app = await folder.open();
  const { tools, held } = await app.catalog.tools("files");
  return {
    config: app.config,
    tools: tools.map((tool) => tool.name),
    held: held?.tools.map((tool) => tool.name) ?? [],
  };
}

test("two versions of a server: the old one is accepted, and the new one is one review", async () => {
  folder.configure({ files: installed("2025.7.29") });
  const before = await listed();
  expect([before.tools.includes("read_file"), before.held]).toEqual([true, []]);
  folder.configure({ files: installed("2026.8.31") });
  const after = await listed();
  expect(after.held.length).toBeGreaterThan(0);
  const where = { config: after.config, env: { HOME: folder.path }, cwd: folder.path };
  const [server, ...others] = heldServers(where);
  expect([server?.isUpgrade, server?.tools.length, others]).toEqual([true, after.held.length, []]);
  for (const { why } of server!.tools) expect(why.length).toBeGreaterThan(0);
  await acceptTools(server!.tools, where);
  expect((await listed()).held).toEqual([]);
  expect((await listed()).held).toEqual([]);
});
