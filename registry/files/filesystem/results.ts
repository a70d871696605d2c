/** The results of the tools of filesystem. Written by `bun run results`. */
import type { CatalogResults } from "../../types.ts";

export const results = {
  package: "@modelcontextprotocol/server-filesystem",
  version: "2026.8.31",
  tools: {
    create_directory: {
      text: "content: a sentence with the path",
    },
    directory_tree: {
      text: 'content: JSON text of { name: string; type: "file" | "directory"; children?: [...] }[]',
    },
    edit_file: {
      text: "content: a unified diff between ``` fences",
    },
    get_file_info: {
      text: 'content: one "name: value" per line, with size (bytes), created, modified, accessed, isDirectory, isFile and permissions (octal)',
    },
    list_allowed_directories: {
      text: 'content: a line "Allowed directories:", then one path per line',
    },
    list_directory: {
      text: 'content: one entry per line, "[FILE] name" or "[DIR] name"',
    },
    list_directory_with_sizes: {
      text: 'content: one entry per line, "[FILE] name  9 B" or "[DIR] name", padded with spaces; then a blank line, a line "Total: …" and a line "Combined size: …"',
    },
    move_file: {
      text: "content: a sentence with both paths",
    },
    read_file: {
      text: "content: the text of the file",
    },
    read_multiple_files: {
      text: 'content: per file its path, a colon and a line break, then its text; files are separated by a line "---"; a file that failed is "path: Error - reason"',
    },
    read_text_file: {
      text: "content: the text of the file",
    },
    search_files: {
      text: 'content: one absolute path per line, or "No matches found"',
    },
    write_file: {
      text: "the folder must exist; content: a sentence with the path",
    },
  },
  usual: {
    list_directory: "({ path }): { content }",
    read_text_file: "({ path, tail?: number, head?: number }): { content }",
    write_file: "({ path, content }): { content }",
  },
} satisfies CatalogResults;
