/** The files with which shops list claudikins: the marketplace of Claude Code and Codex, and the entry of the official MCP registry. */
import { author, description, license, name, registryName, repository, version } from "./about.ts";

/** Where the plugin is in the repository. */
export const pluginFolder = "deploy/plugin";

export const marketplace = {
  name,
  owner: author,
  description,
  plugins: [{ name, source: `./${pluginFolder}`, description, version, author, homepage: repository, license }],
};

/** The bundles are not listed: an entry has no field for the platform, so a host could take the wrong one. */
export const registryEntry = {
  $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
  name: registryName,
  title: name,
  description,
  version,
  websiteUrl: repository,
  repository: { url: repository, source: "github" },
  packages: [
    {
      registryType: "npm",
      registryBaseUrl: "https://registry.npmjs.org",
      identifier: name,
      version,
      transport: { type: "stdio" },
      packageArguments: [{ type: "positional", value: "serve" }],
    },
  ],
};
