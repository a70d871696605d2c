/** The peers of the benchmark: each is looked up once, with its version or why it is missing. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { root } from "../../../test/support/claudikins.ts";
import type { Versions } from "../figures.ts";
import { type CodeMode, findCodeMode } from "./code-mode.ts";
import { type Deno, findDeno } from "./deno.ts";
import { findExecutor } from "./executor.ts";
import { findMcpc } from "./mcpc.ts";
import { findMcporter } from "./mcporter.ts";
import { type Environment, outputOf } from "./npm.ts";
import type { Program } from "./peer.ts";

export interface Found {
  deno: Deno;
  mcporter: Program;
  mcpc: Program;
  executor: Program;
  codeMode: CodeMode;
  versions: Versions;
}

/** The peers that --without can leave out, by their names in the tables. */
export const peerNames = ["deno", "mcporter", "mcpc", "executor", "@utcp/code-mode"] as const;

/** Looks for peers in the user's own cache; `folder` creates folders for the files they write. */
export async function findPeers(env: Environment, without: string[], folder: () => string): Promise<Found> {
  const unless = async <T>(name: (typeof peerNames)[number], find: () => Promise<T | { missing: string }>) =>
    without.includes(name) ? { missing: `--without ${name}` } : await find();
  // Concurrently, since each is installed the first time.
  const [deno, mcporter, mcpc, executor, codeMode] = await Promise.all([
    unless("deno", () => findDeno(join(folder(), "deno"))),
    unless("mcporter", () => findMcporter(env)),
    unless("mcpc", () => findMcpc(env)),
    unless("executor", () => findExecutor(env, folder())),
    unless("@utcp/code-mode", () => findCodeMode(env)),
  ]);
  const node = { version: (await outputOf(["node", "--version"])).trim().slice(1) };
  const sdk = { version: versionOf("@modelcontextprotocol/sdk") };
  const flexsearch = { version: versionOf("flexsearch") };
  const minisearch = { version: versionOf("minisearch") };
  const programs = { deno, mcporter, mcpc, executor, "@utcp/code-mode": codeMode };
  const versions = Object.fromEntries(
    Object.entries(programs).map(([name, found]) => [
      name,
      "missing" in found ? { missing: found.missing } : { version: found.version },
    ]),
  );
  const libraries = { "node:vm": node, "raw client": sdk, "SDK, node": sdk, "SDK, bun": sdk, flexsearch, minisearch };
  return { deno, mcporter, mcpc, executor, codeMode, versions: { ...libraries, ...versions } };
}

function versionOf(name: string): string {
  const require = createRequire(join(root, "package.json"));
  return (require(`${root}/node_modules/${name}/package.json`) as { version: string }).version;
}
