/** What the tools of chrome-devtools return. Written by `bun run results`. */
import type { CatalogResults } from "../../types.ts";

export const results = {
  package: "chrome-devtools-mcp",
  version: "1.11.0",
  tools: {
    click: {
      type: "string",
      text: "a sentence",
    },
    close_page: {
      type: "string",
      text: 'one page per line after "## Pages": "1: title (url) [selected]"',
    },
    evaluate_script: {
      type: "string",
      text: "a sentence, then the JSON of the value between ```json and ```",
    },
    fill: {
      type: "string",
      text: "a sentence",
    },
    list_console_messages: {
      type: "string",
      text: 'a line "## Console messages" and a line with the page numbers, then one message per line: "msgid=1 [log] text (1 args)"',
    },
    list_network_requests: {
      type: "string",
      text: 'a line "## Network requests" and a line with the page numbers, then one request per line: "reqid=1 GET url [200]"',
    },
    list_pages: {
      type: "string",
      text: 'a line "## Pages", then one page per line: "1: url [selected]" or "1: title (url) [selected]"',
    },
    navigate_page: {
      type: "string",
      text: 'a sentence, then one page per line after "## Pages": "1: title (url) [selected]"',
    },
    new_page: {
      type: "string",
      text: 'one page per line after "## Pages": "1: title (url) [selected]"',
    },
    press_key: {
      type: "string",
      text: "a sentence",
    },
    resize_page: {
      type: "string",
      text: 'one page per line after "## Pages": "1: title (url) [selected]"',
    },
    select_page: {
      type: "string",
      text: 'one page per line after "## Pages": "1: title (url) [selected]"',
    },
    take_screenshot: {
      type: "{ type: string; text?: string; data?: string; mimeType?: string }[]",
    },
    take_snapshot: {
      type: "string",
      text: 'a line "## Latest page snapshot", then one element per line, indented as a tree: uid=1_11 button "Save"; the uid is what the other tools take',
    },
    wait_for: {
      type: "string",
      text: "a sentence, then what take_snapshot returns",
    },
  },
} satisfies CatalogResults;
