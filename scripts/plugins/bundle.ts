/** Makes the MCP bundles (`.mcpb`) that Claude Desktop installs with a double click: a zip archive with a manifest and the executable. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { zipSync } from "fflate";
import { executeCode } from "../../src/server/tools/execute-code.ts";
import { searchTools } from "../../src/server/tools/search-tools.ts";
import { author, description, keywords, license, name, repository, version } from "./about.ts";
import { json } from "./plugin-files.ts";

export interface BundlePlatform {
  /** As in the names of release files, such as `darwin-arm64`. */
  name: string;
  os: "linux" | "darwin" | "win32";
  /** The file name of the executable. */
  executable: string;
}

export interface BundleOptions {
  /** The path of the executable. */
  executable: string;
  platform: BundlePlatform;
  outdir: string;
  /** The version of the executable, if it is not that of package.json. */
  version?: string;
}

/** Claude Desktop runs on macOS and Windows. */
export function hasBundle({ os }: Pick<BundlePlatform, "os">): boolean {
  return os !== "linux";
}

/** The same bytes for the same executable: zip archives have a time for each file, and npm gives this one to all its files. */
const mtime = new Date(1985, 9, 26, 8, 15);

/** Writes `claudikins-<platform>.mcpb` and returns its path. */
export function writeBundle({ executable, platform, outdir, version: built = version }: BundleOptions): string {
  const manifest = Buffer.from(json(bundleManifest(platform, built)));
  const packed = zipSync(
    {
      "manifest.json": [manifest, { os: 3, attrs: (0o100644 << 16) >>> 0 }],
      [platform.executable]: [readFileSync(executable), { os: 3, attrs: (0o100755 << 16) >>> 0 }],
    },
    { mtime, level: 6 },
  );
  mkdirSync(outdir, { recursive: true });
  const file = join(outdir, `${name}-${platform.name}.mcpb`);
  writeFileSync(file, packed);
  return file;
}

export function bundleManifest({ os, executable }: BundlePlatform, built: string) {
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
