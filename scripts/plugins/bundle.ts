/** Makes the MCP bundles (`.mcpb`) that Claude Desktop installs with a double click: a zip archive with a manifest and the executable. */
import { zipSync } from "fflate";
import { executeCode } from "../../src/serve/tools/execute-code.ts";
import { searchTools } from "../../src/serve/tools/search-tools.ts";
import type { Platform } from "../../src/setup/upgrade/platforms.ts";
import { author, description, keywords, license, name, repository } from "./about.ts";
import { json } from "./plugin-files.ts";

/** Claude Desktop runs on macOS and Windows. */
export function hasBundle({ os }: Pick<Platform, "os">): boolean {
  return os !== "linux";
}

export function bundleName(platform: Pick<Platform, "name">): string {
  return `${name}-${platform.name}.mcpb`;
}

/** A zip archive has a time for each file. This one is the same everywhere, and the one that npm gives to all files of its packages. */
const mtime = new Date(1985, 9, 26, 8, 15);

/** Returns the bundle. Its bytes depend on nothing but the executable and the version. */
export function bundleOf(platform: Platform, executable: Uint8Array, built: string): Uint8Array<ArrayBuffer> {
  const manifest = Buffer.from(json(bundleManifest(platform, built)));
  const withMode = (mode: number) => ({ os: 3, attrs: (mode << 16) >>> 0 });
  return zipSync(
    {
      "manifest.json": [manifest, withMode(0o100644)],
      [platform.executable]: [executable, withMode(0o100755)],
    },
    { mtime },
  );
}

function bundleManifest({ os, executable }: Platform, built: string) {
  return {
    manifest_version: "0.3",
    name,
    display_name: name,
    version: built,
    description,
    long_description: longDescription,
    author,
    repository: { type: "git", url: `${repository}.git` },
    homepage: repository,
    documentation: `${repository}/blob/main/docs/plugins.md`,
    support: `${repository}/issues`,
    license,
    keywords,
    server: {
      type: "binary",
      entry_point: executable,
      mcp_config: { command: `\${__dirname}/${executable}`, args: ["serve"], env: {} },
    },
    tools: [searchTools, executeCode].map((tool) => ({ name: tool.name, description: tool.description })),
    compatibility: { platforms: [os] },
  };
}

const longDescription = `The agent searches for tools of all your MCP servers, writes a program that calls many of them in a sandbox, and sees only what the program returns.

This extension starts with a demo server with made-up data. To import the MCP servers of Claude Desktop and your other agents, run \`npx claudikins init\` in a terminal.`;
