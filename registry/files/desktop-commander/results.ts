/** What the tools of desktop-commander return. Written by `bun run results`. */
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
    get_config: {
      type: "string",
      text: 'a line "Current configuration:", then JSON',
    },
    get_file_info: {
      type: "string",
      text: 'one "name: value" per line, with size, created, modified, accessed, isDirectory, isFile, permissions and, of text, lineCount',
    },
    get_more_search_results: {
      type: "string",
      text: "lines that begin with Search session, Status, Runtime and Total results found; matches follow after a blank line",
    },
    get_recent_tool_calls: {
      type: "string",
      text: 'a line "Tool Call History …", a blank line, then JSON: { timestamp, toolName, arguments, output, duration }[]',
    },
    get_usage_stats: {
      type: "string",
      text: "Markdown",
    },
    interact_with_process: {
      type: "string",
      text: "a line that names the process, then the output",
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
    start_process: {
      type: "string",
      text: 'a line "Process started with PID N …", a line "Initial output:", then the output',
    },
    start_search: {
      type: "string",
      text: 'lines that begin with "Started … session: id", and then with Status, Runtime and Total results; matches follow',
    },
    write_file: {
      type: "string",
      text: "a sentence with the path and the number of lines",
    },
  },
} satisfies CatalogResults;
