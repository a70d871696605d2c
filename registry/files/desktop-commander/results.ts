/** The results of the tools of desktop-commander. Written by `bun run results`. */
import type { CatalogResults } from "../../types.ts";

export const results = {
  package: "@wonderwhy-er/desktop-commander",
  version: "0.2.52",
  tools: {
    create_directory: {
      type: "string",
      text: "a sentence with the path",
    },
    edit_block: {
      type: "string",
      text: "what read_file returns of the changed part",
    },
    force_terminate: {
      type: "string",
      text: "a sentence with the pid",
    },
    get_config: {
      type: "{ config: unknown; uiHints: unknown; entries: unknown }",
      text: "config: the settings by name, with blockedCommands: string[], allowedDirectories: string[], defaultShell: string, fileReadLineLimit: number and others; entries: { key, value, valueType, editable }[]",
    },
    get_file_info: {
      type: "string",
      text: 'one "name: value" per line, with size, created, modified, accessed, isDirectory, isFile, permissions and, of text, lineCount',
    },
    get_more_search_results: {
      type: "string",
      text: "lines that begin with Search session, Status, Runtime and Total results found; matches follow after a blank line",
    },
    get_prompts: {
      type: "string",
      text: "Markdown: a prompt for the model, with a heading and a description",
    },
    get_recent_tool_calls: {
      type: "string",
      text: 'a line "Tool Call History …", a blank line, then JSON: { timestamp, toolName, arguments, output, duration }[]',
    },
    get_usage_stats: {
      type: "string",
      text: "Markdown",
    },
    give_feedback_to_desktop_commander: {
      type: "string",
      text: "Markdown with the address of a form, which it opens in a browser",
    },
    interact_with_process: {
      type: "string",
      text: "a line that names the process, then the output",
    },
    kill_process: {
      type: "string",
      text: "a sentence with the pid",
    },
    list_directory: {
      type: "string",
      text: 'one entry per line, "[FILE] path" or "[DIR] path", with paths below the folder; folders are listed with their content',
    },
    list_processes: {
      type: "string",
      text: 'one process per line: "PID: N, Command: …, CPU: 0.4, Memory: 0.1"',
    },
    list_searches: {
      type: "string",
      text: "per search a paragraph of lines: Session, Type, Pattern, Status, Runtime, Results",
    },
    list_sessions: {
      type: "string",
      text: 'one process per line: "PID: N, Blocked: true, Runtime: 2s"',
    },
    move_file: {
      type: "string",
      text: "a sentence with both paths",
    },
    read_file: {
      type: "string",
      text: 'a line "[Reading N lines from start (total: N lines, N remaining)]", a blank line, then the text',
    },
    read_multiple_files: {
      type: "string",
      text: 'per file a line "path: MIME type (kind)"; then per file a line "--- path contents: ---" and what read_file returns',
    },
    read_process_output: {
      type: "string",
      text: 'a line "[Reading N lines …]", a blank line, then the output',
    },
    set_config_value: {
      type: "string",
      text: 'a sentence, a blank line, a line "Updated configuration:", then JSON',
    },
    start_process: {
      type: "string",
      text: 'a line "Process started with PID N …", a line "Initial output:", then the output',
    },
    start_search: {
      type: "string",
      text: 'lines that begin with "Started … session: id", and then with Status, Runtime and Total results; matches follow',
    },
    stop_search: {
      type: "string",
      text: "a sentence with the session id",
    },
    write_file: {
      type: "string",
      text: "a sentence with the path and the number of lines",
    },
    write_pdf: {
      type: "string",
      text: "a sentence with the path",
    },
  },
  usual: {
    edit_block:
      "({ file_path, old_string?, new_string?, expected_replacements?: number, range?, content?: unknown, options?: Record<string, unknown>, origin? })",
    read_file:
      "({ path, isUrl?: boolean, offset?: number, length?: number, sheet?, range?, options?: Record<string, unknown>, origin? })",
    start_process: "({ command, timeout_ms: number, shell?, verbose_timing?: boolean, origin? })",
  },
} satisfies CatalogResults;
