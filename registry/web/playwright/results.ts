/** What the tools of playwright return. Written by `bun run results`. */
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
    browser_evaluate: {
      type: "string",
      text: 'Markdown sections: "### Result" with the JSON of the value, then "### Ran Playwright code"',
    },
    browser_fill_form: {
      type: "string",
      text: 'Markdown section "### Ran Playwright code"',
    },
    browser_find: {
      type: "string",
      text: 'Markdown section "### Result": the number of matches, then the parts of the tree with the matches',
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
} satisfies CatalogResults;
