/** The results of the tools of chrome-devtools. Written by `bun run results`. */
import type { CatalogResults } from "../../types.ts";

export const results = {
  package: "chrome-devtools-mcp",
  version: "1.11.0",
  tools: {
    click: {
      type: "string",
      text: 'a sentence; if a dialog opened, then "# Open dialog" and its text: handle_dialog closes it',
    },
    close_page: {
      type: "string",
      text: 'one page per line after "## Pages": "1: title (url) [selected]"',
    },
    drag: {
      type: "string",
      text: "a sentence",
    },
    emulate: {
      type: "string",
      text: "a sentence, then one line per setting that is emulated",
    },
    evaluate_script: {
      type: "string",
      text: "a sentence, then the JSON of the value between ```json and ```",
    },
    fill: {
      type: "string",
      text: "a sentence",
    },
    fill_form: {
      type: "string",
      text: "a sentence",
    },
    get_console_message: {
      type: "string",
      text: 'lines "ID: 1" and "Message: log> text"; then, where there are any, sections "### Arguments" ("Arg #0: text") and "### Stack trace"',
    },
    get_css_styles: {
      type: "string",
      text: "a line with the page numbers and a line with the element, then CSS: rules with their origin in brackets after the selector, and one property per line",
    },
    get_network_request: {
      type: "string",
      text: 'lines "## Request url" and "Status: 200", then sections "### Request Headers" and "### Response Headers" ("- name:value" per line) and "### Response Body"',
    },
    handle_dialog: {
      type: "string",
      text: 'a sentence, then one page per line after "## Pages": "1: title (url) [selected]"',
    },
    hover: {
      type: "string",
      text: "a sentence",
    },
    lighthouse_audit: {
      type: "string",
      text: 'Markdown: lines Mode, Device and URL; "### Category scores" ("- Name: 85 (id)"); "### Audit summary" ("Passed: 16", "Failed: 6"); "### Failed audits" ("- id [category]: text (score: 0)"); "### Reports" with the files',
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
    performance_analyze_insight: {
      type: "string",
      text: 'a report in Markdown: "## Insight Title: title", then sections such as "## Insight Summary:" and "## Detailed analysis:"',
    },
    performance_start_trace: {
      type: "string",
      text: 'a sentence; unless the trace goes on, then a report in Markdown: "URL: …" and, per navigation, a section "## insight set id: id" with metrics ("  - LCP: 154 ms, …", "  - CLS: 0.00") and lines "  - insight name: name"',
    },
    performance_stop_trace: {
      type: "string",
      text: 'a sentence; unless the trace goes on, then a report in Markdown: "URL: …" and, per navigation, a section "## insight set id: id" with metrics ("  - LCP: 154 ms, …", "  - CLS: 0.00") and lines "  - insight name: name"',
    },
    press_key: {
      type: "string",
      text: "a sentence",
    },
    resize_page: {
      type: "string",
      text: 'one page per line after "## Pages": "1: title (url) [selected]"',
    },
    screencast_start: {
      type: "string",
      text: "a sentence with the path of the file",
    },
    screencast_stop: {
      type: "string",
      text: "a sentence with the path of the file",
    },
    select_page: {
      type: "string",
      text: 'one page per line after "## Pages": "1: title (url) [selected]"',
    },
    take_heapsnapshot: {
      type: "string",
      text: "a sentence with the path of the file",
    },
    take_screenshot: {
      type: "{ type: string; text?: string; data?: string; mimeType?: string }[]",
      text: "a text block with a sentence, then an image block with the PNG in base64",
    },
    take_snapshot: {
      type: "string",
      text: 'a line "## Latest page snapshot", then one element per line, indented as a tree: uid=1_11 button "Save"; the uid is what the other tools take',
    },
    type_text: {
      type: "string",
      text: "a sentence",
    },
    upload_file: {
      type: "string",
      text: "a sentence with the path",
    },
    wait_for: {
      type: "string",
      text: "a sentence, then what take_snapshot returns",
    },
  },
  usual: {
    click: "({ pageId: number, uid, dblClick?: boolean, includeSnapshot?: boolean })",
    evaluate_script:
      "({ pageId: number, function?, sourcePath?, format?, args?: string[], filePath?, dialogAction?, waitForStableDom?: boolean })",
    fill: "({ pageId: number, uid, value, includeSnapshot?: boolean })",
    list_pages: "()",
    new_page: "({ url, background?: boolean, isolatedContext?, timeout?: number })",
    take_snapshot: "({ pageId: number, verbose?: boolean, filePath? })",
  },
} satisfies CatalogResults;
