/** The results of the tools of playwright. Written by `bun run results`. */
import type { CatalogResults } from "../../types.ts";

export const results = {
  package: "@playwright/mcp",
  version: "0.0.83",
  tools: {
    browser_click: {
      type: "string",
      text: 'Markdown sections: "### Ran Playwright code", "### Page" ("- Page URL: …", "- Page Title: …") and "### Snapshot" (a link to a file: browser_snapshot returns it in the text)',
    },
    browser_close: {
      type: "string",
      text: 'Markdown sections "### Result" and "### Ran Playwright code"',
    },
    browser_console_messages: {
      type: "string",
      text: 'Markdown section "### Result": "Total messages: N …", a blank line, then one message per line: "[LOG] text @ url:line"',
    },
    browser_drag: {
      type: "string",
      text: 'Markdown sections: "### Ran Playwright code", "### Page" ("- Page URL: …", "- Page Title: …") and "### Snapshot" (a link to a file: browser_snapshot returns it in the text)',
    },
    browser_drop: {
      type: "string",
      text: 'Markdown sections: "### Ran Playwright code", "### Page" ("- Page URL: …", "- Page Title: …") and "### Snapshot" (a link to a file: browser_snapshot returns it in the text)',
    },
    browser_emulate_media: {
      type: "string",
      text: 'Markdown section "### Ran Playwright code"',
    },
    browser_evaluate: {
      type: "string",
      text: 'Markdown sections: "### Result" with the JSON of the value, then "### Ran Playwright code"',
    },
    browser_file_upload: {
      type: "string",
      text: 'Markdown sections: "### Ran Playwright code", "### Page" ("- Page URL: …", "- Page Title: …") and "### Snapshot" (a link to a file: browser_snapshot returns it in the text)',
    },
    browser_fill_form: {
      type: "string",
      text: 'Markdown section "### Ran Playwright code"',
    },
    browser_find: {
      type: "string",
      text: 'Markdown section "### Result": the number of matches, then the parts of the tree with the matches',
    },
    browser_handle_dialog: {
      type: "string",
      text: 'Markdown section "### Page" ("- Page URL: …", "- Page Title: …")',
    },
    browser_hover: {
      type: "string",
      text: 'Markdown sections: "### Ran Playwright code", "### Page" ("- Page URL: …", "- Page Title: …") and "### Snapshot" (a link to a file: browser_snapshot returns it in the text)',
    },
    browser_navigate: {
      type: "string",
      text: 'Markdown sections: "### Ran Playwright code", "### Page" ("- Page URL: …", "- Page Title: …") and "### Snapshot" (a link to a file: browser_snapshot returns it in the text)',
    },
    browser_navigate_back: {
      type: "string",
      text: 'Markdown sections: "### Ran Playwright code", "### Page" ("- Page URL: …", "- Page Title: …") and "### Snapshot" (a link to a file: browser_snapshot returns it in the text)',
    },
    browser_network_request: {
      type: "string",
      text: 'Markdown section "### Result": "#1 [GET] url", then indented "name: value" lines below General, Request headers and Response headers; with part, only the headers ("name: value" per line) or the body',
    },
    browser_network_requests: {
      type: "string",
      text: 'Markdown section "### Result": one request per line, "1. [GET] url => [200] OK"',
    },
    browser_press_key: {
      type: "string",
      text: 'Markdown section "### Ran Playwright code"',
    },
    browser_resize: {
      type: "string",
      text: 'Markdown section "### Ran Playwright code"',
    },
    browser_run_code_unsafe: {
      type: "string",
      text: 'Markdown sections: "### Result" with the JSON of the value, then "### Ran Playwright code"',
    },
    browser_select_option: {
      type: "string",
      text: 'Markdown sections: "### Ran Playwright code", "### Page" ("- Page URL: …", "- Page Title: …") and "### Snapshot" (a link to a file: browser_snapshot returns it in the text)',
    },
    browser_snapshot: {
      type: "string",
      text: 'Markdown sections: "### Page" ("- Page URL: …", "- Page Title: …"), and "### Snapshot" with a YAML tree of elements; [ref=e9] is the target for the other tools',
    },
    browser_tabs: {
      type: "string",
      text: 'Markdown section "### Result": one tab per line, "- 0: (current) [title](url)"',
    },
    browser_take_screenshot: {
      type: "{ type: string; text?: string; data?: string; mimeType?: string }[]",
      text: "a text block with Markdown that links the file, then an image block with the PNG in base64",
    },
    browser_type: {
      type: "string",
      text: 'Markdown section "### Ran Playwright code"',
    },
    browser_wait_for: {
      type: "string",
      text: 'Markdown sections "### Result", "### Ran Playwright code", "### Page" and "### Snapshot"',
    },
  },
  usual: {
    browser_click:
      '({ element?, target, doubleClick?: boolean, button?, modifiers?: ("Alt" | "Control" | "ControlOrMeta" | "Meta" | "Shift")[] })',
    browser_navigate: "({ url })",
    browser_snapshot: "({ target?, filename?, depth?: number, boxes?: boolean })",
    browser_take_screenshot: '({ element?, target?, type?, filename?, fullPage?: boolean, scale?: "css" | "device" })',
    browser_type: "({ element?, target, text, submit?: boolean, slowly?: boolean })",
  },
} satisfies CatalogResults;
