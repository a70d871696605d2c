/** Calls of Desktop Commander: files, searches and processes. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeChromium } from "../chromium.ts";
import type { Plan, PlannedCall, World } from "../plan.ts";

const at =
  (name: string) =>
  ({ folder }: World) => ({ path: join(folder, name) });
const pidIn = ({ last }: World) => Number(/PID:? (\d+)/i.exec(last)?.[1]);

const started = {
  tool: "start_process",
  text: {
    says: 'a line "Process started with PID N …", a line "Initial output:", then the output',
    pattern: /^Process started with PID \d+ .*\nInitial output:/,
  },
};
const searched: PlannedCall = {
  tool: "start_search",
  args: ({ folder }) => ({ path: folder, pattern: "five", searchType: "content" }),
  text: {
    says: 'lines that begin with "Started … session: id", and then with Status, Runtime and Total results; matches follow',
    pattern: /^Started \w+ search session: search_\S+\n[\s\S]*\nTotal results: \d+/,
  },
};

export const desktopCommander: Plan = {
  server: "files/desktop-commander",
  package: "@wonderwhy-er/desktop-commander@0.2.52",
  usual: ["start_process", "read_file", "edit_block"],
  overrides: { "typedarray.prototype.slice": "1.0.5" },
  prepare({ folder }) {
    writeFileSync(join(folder, "a.txt"), "one\ntwo\nthree\n");
    writeChromium(join(folder, ".claude-server-commander/puppeteer-cache/chrome/linux-1.0.0.0/chrome-linux64/chrome"));
  },
  calls: [
    {
      tool: "get_config",
      text: {
        says: "config: the settings by name, with blockedCommands: string[], allowedDirectories: string[], defaultShell: string, fileReadLineLimit: number and others; entries: { key, value, valueType, editable }[]",
        pattern: /^\{"config":\{"blockedCommands":\["[\s\S]*"entries":\[\{"key":"/,
      },
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
    searched,
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
    { ...started, args: () => ({ command: "cat", timeout_ms: 1_000 }) },
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
    { ...started, args: () => ({ command: "echo hello; sleep 30", timeout_ms: 1_000 }) },
    {
      tool: "read_process_output",
      args: (world) => ({ pid: pidIn(world), offset: 0, timeout_ms: 1_000 }),
      text: {
        says: 'a line "[Reading N lines …]", a blank line, then the output',
        pattern: /^\[Reading \d+ .*lines.*\]\n\n/,
      },
    },
    { ...started, args: () => ({ command: "sleep 30", timeout_ms: 500 }) },
    {
      tool: "force_terminate",
      args: (world) => ({ pid: pidIn(world) }),
      text: { says: "a sentence with the pid", pattern: /^Successfully .* \d+$/ },
    },
    { ...started, args: () => ({ command: "sleep 30", timeout_ms: 500 }) },
    {
      tool: "kill_process",
      args: (world) => ({ pid: pidIn(world) }),
      text: { says: "a sentence with the pid", pattern: /^Successfully .* \d+$/ },
    },
    {
      tool: "list_processes",
      text: {
        says: 'one process per line: "PID: N, Command: …, CPU: 0.4, Memory: 0.1"',
        pattern: /^(?:PID: \d+, Command: .*, CPU: [\d.]+, Memory: [\d.]+\n?)+$/,
      },
    },
    searched,
    {
      tool: "stop_search",
      args: ({ last }) => ({ sessionId: /search_[\w-]+/.exec(last)?.[0] ?? "" }),
      text: { says: "a sentence with the session id", pattern: /^Search session search_\S+ / },
    },
    {
      tool: "write_pdf",
      args: ({ folder }) => ({ path: join(folder, "a.pdf"), content: "# Hello" }),
      text: { says: "a sentence with the path", pattern: /^Successfully wrote PDF to \// },
    },
    {
      tool: "set_config_value",
      args: () => ({ key: "fileReadLineLimit", value: 500 }),
      text: {
        says: 'a sentence, a blank line, a line "Updated configuration:", then JSON',
        pattern: /^Successfully set .*\n\nUpdated configuration:\n\{/,
      },
    },
    {
      tool: "get_prompts",
      args: () => ({ action: "get_prompt", promptId: "onb2_01" }),
      text: {
        says: "Markdown: a prompt for the model, with a heading and a description",
        pattern: /^# .*\n\n[\s\S]*\n## Description\n/,
      },
    },
    {
      tool: "give_feedback_to_desktop_commander",
      text: { says: "Markdown with the address of a form, which it opens in a browser", pattern: /https:\/\/\S+/ },
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
