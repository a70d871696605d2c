/** Calls of the reference server for files. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Plan, World } from "../plan.ts";

const at =
  (name: string) =>
  ({ folder }: World) => ({ path: join(folder, name) });

const file = { says: "content: the text of the file", pattern: /^one\ntwo\n$/ };

export const filesystem: Plan = {
  server: "files/filesystem",
  package: "@modelcontextprotocol/server-filesystem@2026.8.31",
  usual: ["read_text_file", "write_file", "list_directory"],
  args: ({ folder }) => [folder],
  prepare({ folder }) {
    mkdirSync(join(folder, "notes"));
    writeFileSync(join(folder, "a.txt"), "one\ntwo\n");
    writeFileSync(join(folder, "notes/b.txt"), "three\n");
    writeFileSync(join(folder, "dot.png"), Buffer.from("iVBORw0KGgo=", "base64"));
  },
  calls: [
    { tool: "read_file", args: at("a.txt"), text: file },
    { tool: "read_text_file", args: at("a.txt"), text: file },
    { tool: "read_media_file", args: at("dot.png") },
    {
      tool: "read_multiple_files",
      args: ({ folder }) => ({ paths: [join(folder, "a.txt"), join(folder, "notes/b.txt"), join(folder, "none")] }),
      text: {
        says: 'content: per file its path, a colon and a line break, then its text; files are separated by a line "---"; a file that failed is "path: Error - reason"',
        pattern: /^\/.+:\n[\s\S]+?\n---\n[\s\S]*: Error - /,
      },
    },
    {
      tool: "write_file",
      args: ({ folder }) => ({ path: join(folder, "c.txt"), content: "four\n" }),
      text: { says: "the folder must exist; content: a sentence with the path", pattern: /^Successfully wrote to / },
    },
    {
      tool: "edit_file",
      args: ({ folder }) => ({ path: join(folder, "a.txt"), edits: [{ oldText: "two", newText: "five" }] }),
      text: { says: "content: a unified diff between ``` fences", pattern: /^```diff\nIndex: [\s\S]*\n```\n\n$/ },
    },
    {
      tool: "create_directory",
      args: at("more"),
      text: { says: "content: a sentence with the path", pattern: /^Successfully / },
    },
    {
      tool: "list_directory",
      args: at(""),
      text: {
        says: 'content: one entry per line, "[FILE] name" or "[DIR] name"',
        pattern: /^(?:\[(?:FILE|DIR)\] .+\n?)+$/,
      },
    },
    {
      tool: "list_directory_with_sizes",
      args: at(""),
      text: {
        says: 'content: one entry per line, "[FILE] name  9 B" or "[DIR] name", padded with spaces; then a blank line, a line "Total: …" and a line "Combined size: …"',
        pattern: /^(?:\[(?:FILE|DIR)\] .+\n)+\nTotal: \d+ files, \d+ directories\nCombined size: /,
      },
    },
    {
      tool: "directory_tree",
      args: at(""),
      text: {
        says: 'content: JSON text of { name: string; type: "file" | "directory"; children?: [...] }[]',
        pattern: /^\[\s*\{\s*"name"/,
      },
    },
    {
      tool: "move_file",
      args: ({ folder }) => ({ source: join(folder, "c.txt"), destination: join(folder, "d.txt") }),
      text: { says: "content: a sentence with both paths", pattern: /^Successfully moved / },
    },
    {
      tool: "search_files",
      args: ({ folder }) => ({ path: folder, pattern: "**/*.txt" }),
      text: {
        says: 'content: one absolute path per line, or "No matches found"',
        pattern: /^(?:(?:\/.+\n?)+|No matches found)$/,
      },
    },
    {
      tool: "search_files",
      args: ({ folder }) => ({ path: folder, pattern: "**/*.none" }),
      text: {
        says: 'content: one absolute path per line, or "No matches found"',
        pattern: /^(?:(?:\/.+\n?)+|No matches found)$/,
      },
    },
    {
      tool: "get_file_info",
      args: at("a.txt"),
      text: {
        says: 'content: one "name: value" per line, with size (bytes), created, modified, accessed, isDirectory, isFile and permissions (octal)',
        pattern:
          /^size: \d+\ncreated: .+\nmodified: .+\naccessed: .+\nisDirectory: false\nisFile: true\npermissions: \d+$/,
      },
    },
    {
      tool: "list_allowed_directories",
      text: {
        says: 'content: a line "Allowed directories:", then one path per line',
        pattern: /^Allowed directories:\n\//,
      },
    },
  ],
};
