/** Writes the plugin, the marketplace, the registry entry and how to install claudikins into the repository: `bun run plugins`. */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { installPages } from "./install-texts.ts";
import { json, type PluginFile, pluginFiles } from "./plugin-files.ts";
import { marketplace, pluginFolder, registryEntry } from "./shops.ts";

const root = join(import.meta.dir, "..", "..");

/** All generated files, by their paths in the repository. Claude Code and Codex look for the marketplace at its root. */
export function generatedFiles(): PluginFile[] {
  return [
    ...pluginFiles().map((file) => ({ ...file, path: `${pluginFolder}/${file.path}` })),
    { path: ".claude-plugin/marketplace.json", content: json(marketplace) },
    { path: "deploy/server.json", content: json(registryEntry) },
    ...installPages(),
  ];
}

if (import.meta.main) {
  rmSync(join(root, pluginFolder), { recursive: true, force: true });
  for (const { path, content, isExecutable } of generatedFiles()) {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    chmodSync(file, isExecutable ? 0o755 : 0o644);
  }
}
