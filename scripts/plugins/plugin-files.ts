/**
 * The plugin for Claude Code, Codex and Gemini CLI: one folder with a manifest for each of them, and the skill and the launchers, which
 * they share.
 */

import type { Platform } from "../../src/setup/upgrade/platforms.ts";
import { skillText } from "../../src/tools/registry/hook-texts.ts";
import type { ArchivedFile } from "../release/archive.ts";
import { author, description, keywords, license, name, npxWords, repository, version } from "./about.ts";
import { posixLauncher, windowsLauncher } from "./launcher.ts";
import { setupDescription, setupPrompt } from "./setup-command.ts";

export interface PluginFile extends ArchivedFile {
  content: string;
}

const about = { name, version, description };
const origin = { author, homepage: repository, repository, license, keywords };

export function pluginFiles(): PluginFile[] {
  return [
    { path: ".claude-plugin/plugin.json", content: json(claudePlugin) },
    { path: ".codex-plugin/plugin.json", content: json(codexPlugin) },
    { path: "gemini-extension.json", content: json(geminiExtension) },
    { path: "skills/claudikins/SKILL.md", content: skillText },
    { path: "commands/setup.md", content: markdownCommand },
    { path: "commands/claudikins/setup.toml", content: tomlCommand },
    { path: "bin/claudikins", content: posixLauncher, isExecutable: true },
    { path: "bin/claudikins.cmd", content: windowsLauncher },
    { path: "README.md", content: readme },
  ];
}

const claudePlugin = {
  ...about,
  ...origin,
  mcpServers: { [name]: { command: `\${CLAUDE_PLUGIN_ROOT}/bin/${name}`, args: ["serve"] } },
};

const [npx, ...npxArgs] = npxWords;

/**
 * The file of a release with the plugin. Among several files, Gemini CLI takes the one whose name starts with its operating system, and
 * without one it takes the source of the repository, where it finds no extension.
 */
export function geminiArchiveName(os: Platform["os"]): string {
  return `${os}.${name}.tar.gz`;
}

/** Codex cannot name a file of the plugin without starting it in the plugin's folder, where no project's config is found. */
const codexPlugin = {
  ...about,
  ...origin,
  skills: "./skills/",
  mcpServers: { [name]: { command: npx, args: [...npxArgs, "serve"] } },
  interface: {
    displayName: name,
    shortDescription: description,
    developerName: author.name,
    category: "Developer Tools",
    websiteURL: repository,
  },
};

const geminiExtension = {
  ...about,
  mcpServers: { [name]: { command: `\${extensionPath}/bin/${name}`, args: ["serve"] } },
};

/** Only the user starts this command, so the model's context does not hold it. */
const markdownCommand = `---
description: ${setupDescription}
disable-model-invocation: true
---

${setupPrompt}`;

const tomlCommand = `description = ${JSON.stringify(setupDescription)}
prompt = '''
${setupPrompt}'''
`;

/** The repository's owner and name. */
const slug = new URL(repository).pathname.slice(1);

const readme = `# claudikins

This plugin adds the MCP server of [claudikins](${repository}) and a skill that explains it. claudikins puts all your other MCP servers
behind two tools: the agent searches for tools, writes a program that calls many of them in a sandbox, and sees only what the program
returns.

Install it in Claude Code with \`/plugin install claudikins --marketplace ${slug}\`, in Gemini CLI with
\`gemini extensions install ${repository}\`, and in Codex with \`codex plugin marketplace add ${slug}\` and
\`codex plugin add claudikins@claudikins\`.

After that, type \`/claudikins:setup\` in Claude Code or Gemini CLI, or run \`npx claudikins init\` in a terminal.
Both import the MCP servers of your agents into claudikins. Until then, its only server is a demo with made-up data.

The plugin starts the claudikins that is installed on your machine. Without one, it starts claudikins through npx, which comes with Node.js.
[Plugins](${repository}/blob/main/docs/plugins.md) has the details.
`;

export function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
