/** Calls of Desktop Commander: files, searches and processes. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Plan, World } from "../plan.ts";

const at =
  (name: string) =>
  ({ folder }: World) => ({ path: join(folder, name) });
const pidIn = ({ last }: World) => Number(/PID:? (\d+)/i.exec(last)?.[1]);

export const desktopCommander: Plan = {
  server: "files/desktop-commander",
  package: "@wonderwhy-er/desktop-commander@0.2.52",
  overrides: { "typedarray.prototype.slice": "1.0.5" },
  prepare({ folder }) {
    writeFileSync(join(folder, "a.txt"), "one\ntwo\nthree\n");
  },
  calls: [
    {
      tool: "get_config",
      text: { says: 'a line "Current configuration:", then JSON', pattern: /^Current configuration:\n\{/ },
    },
    {
      tool: "read_file",
      args: at("a.txt"),
      text: {
        says: 'a line "[Reading N lines from start (total: N lines, N remaining)]", a blank line, then the text',
        pattern: /^\[Reading \d+ lines from .+\]\n\n/,
      },
    },
    {
      tool: "read_multiple_files",
      args: ({ folder }) => ({ paths: [join(folder, "a.txt")] }),
      text: {
        says: 'per file a line "path: MIME type (kind)"; then per file a line "--- path contents: ---" and what read_file returns',
        pattern: /^\/.+: \S+ \(\w+\)\n[\s\S]*\n--- .+ contents: ---\n/,
      },
    },
    {
      tool: "write_file",
      args: ({ folder }) => ({ path: join(folder, "b.txt"), content: "four\n" }),
      text: { says: "a sentence with the path and the number of lines", pattern: /^Successfully wrote to / },
    },
    {
      tool: "create_directory",
      args: at("notes"),
      text: { says: "a sentence with the path", pattern: /^Successfully created / },
    },
    {
      tool: "list_directory",
      args: at(""),
      text: {
        says: 'one entry per line, "[FILE] path" or "[DIR] path", with paths below the folder; folders are listed with their content',
        pattern: /^(?:\[(?:FILE|DIR)\] .+\n?)+$/,
      },
    },
    {
      tool: "move_file",
      args: ({ folder }) => ({ source: join(folder, "b.txt"), destination: join(folder, "notes/b.txt") }),
      text: { says: "a sentence with both paths", pattern: /^Successfully moved / },
    },
    {
      tool: "get_file_info",
      args: at("a.txt"),
      text: {
        says: 'one "name: value" per line, with size, created, modified, accessed, isDirectory, isFile, permissions and, of text, lineCount',
        pattern: /^size: \d+\n[\s\S]*\nlineCount: \d+/,
      },
    },
    {
      tool: "edit_block",
      args: ({ folder }) => ({ file_path: join(folder, "a.txt"), old_string: "two", new_string: "five" }),
      text: { says: "what read_file returns of the changed part", pattern: /^\[Reading \d+ lines from / },
    },
    {
      tool: "start_search",
      args: ({ folder }) => ({ path: folder, pattern: "five", searchType: "content" }),
      text: {
        says: 'lines that begin with "Started … session: id", and then with Status, Runtime and Total results; matches follow',
        pattern: /^Started \w+ search session: search_\S+\n[\s\S]*\nTotal results: \d+/,
      },
    },
    {
      tool: "get_more_search_results",
      args: ({ last }) => ({ sessionId: /search_[\w-]+/.exec(last)?.[0] ?? "" }),
      text: {
        says: "lines that begin with Search session, Status, Runtime and Total results found; matches follow after a blank line",
        pattern: /^Search session: [\s\S]*\nTotal results found: \d+/,
      },
    },
    {
      tool: "list_searches",
      text: {
        says: "per search a paragraph of lines: Session, Type, Pattern, Status, Runtime, Results",
        pattern: /^Active Searches \(\d+\):\n\nSession: /,
      },
    },
    {
      tool: "start_process",
      args: () => ({ command: "cat", timeout_ms: 1_000 }),
      text: {
        says: 'a line "Process started with PID N …", a line "Initial output:", then the output',
        pattern: /^Process started with PID \d+ .*\nInitial output:/,
      },
    },
    {
      tool: "interact_with_process",
      args: (world) => ({ pid: pidIn(world), input: "hello", timeout_ms: 1_000 }),
      text: { says: "a line that names the process, then the output", pattern: /process \d+/ },
    },
    {
      tool: "list_sessions",
      text: {
        says: 'one process per line: "PID: N, Blocked: true, Runtime: 2s"',
        pattern: /^PID: \d+, Blocked: \w+, Runtime: \d+s/,
      },
    },
    {
      tool: "list_processes",
      text: {
        says: 'one process per line: "PID: N, Command: …, CPU: 0.4, Memory: 0.1"',
        pattern: /^(?:PID: \d+, Command: .*, CPU: [\d.]+, Memory: [\d.]+\n?)+$/,
      },
    },
    { tool: "get_usage_stats", text: { says: "Markdown", pattern: /Usage Summary/ } },
    {
      tool: "get_recent_tool_calls",
      args: () => ({ maxResults: 2 }),
      text: {
        says: 'a line "Tool Call History …", a blank line, then JSON: { timestamp, toolName, arguments, output, duration }[]',
        pattern: /^Tool Call History .*\n\n\[/,
      },
    },
  ],
};
