/** Calls of Playwright in a headless Chromium. */
import type { Plan } from "../plan.ts";

export const playwright: Plan = {
  server: "web/playwright",
  package: "@playwright/mcp@0.0.83",
  args: () => ["--headless", "--isolated", "--no-sandbox", "--executable-path", "/usr/bin/chromium"],
  calls: [
    {
      tool: "browser_navigate",
      args: ({ page }) => ({ url: page }),
      text: {
        says: 'Markdown sections: "### Ran Playwright code", "### Page" ("- Page URL: …", "- Page Title: …") and "### Snapshot" (a link to a file: browser_snapshot returns it in the text)',
        pattern: /^### Ran Playwright code\n[\s\S]*### Page\n- Page URL: /,
      },
    },
    {
      tool: "browser_snapshot",
      text: {
        says: 'Markdown sections: "### Page" ("- Page URL: …", "- Page Title: …"), and "### Snapshot" with a YAML tree of elements; [ref=e9] is the target for the other tools',
        pattern: /^### Page\n- Page URL: [\s\S]*### Snapshot\n```yaml\n/,
      },
    },
    {
      tool: "browser_evaluate",
      args: () => ({ function: "() => ({ title: document.title })" }),
      text: {
        says: 'Markdown sections: "### Result" with the JSON of the value, then "### Ran Playwright code"',
        pattern: /^### Result\n\{[\s\S]*\n### Ran Playwright code/,
      },
    },
    {
      tool: "browser_find",
      args: () => ({ text: "Save" }),
      text: {
        says: 'Markdown section "### Result": the number of matches, then the parts of the tree with the matches',
        pattern: /^### Result\nFound \d+ match/,
      },
    },
    {
      tool: "browser_click",
      args: () => ({ element: "Save", target: "button:has-text('Save')" }),
      text: {
        says: 'Markdown sections: "### Ran Playwright code", "### Page" ("- Page URL: …", "- Page Title: …") and "### Snapshot" (a link to a file: browser_snapshot returns it in the text)',
        pattern: /^### Ran Playwright code\n[\s\S]*### Page\n- Page URL: /,
      },
    },
    {
      tool: "browser_type",
      args: () => ({ element: "Name", target: "input", text: "Ada" }),
      text: { says: 'Markdown section "### Ran Playwright code"', pattern: /^### Ran Playwright code/ },
    },
    {
      tool: "browser_hover",
      args: () => ({ element: "Save", target: "button:has-text('Save')" }),
      text: {
        says: 'Markdown sections: "### Ran Playwright code", "### Page" ("- Page URL: …", "- Page Title: …") and "### Snapshot" (a link to a file: browser_snapshot returns it in the text)',
        pattern: /^### Ran Playwright code\n[\s\S]*### Page\n- Page URL: /,
      },
    },
    {
      tool: "browser_select_option",
      args: () => ({ element: "size", target: "select", values: ["large"] }),
      text: {
        says: 'Markdown sections: "### Ran Playwright code", "### Page" ("- Page URL: …", "- Page Title: …") and "### Snapshot" (a link to a file: browser_snapshot returns it in the text)',
        pattern: /^### Ran Playwright code\n[\s\S]*### Page\n- Page URL: /,
      },
    },
    {
      tool: "browser_fill_form",
      args: () => ({ fields: [{ name: "Name", type: "textbox", target: "input", value: "Bob" }] }),
      text: { says: 'Markdown section "### Ran Playwright code"', pattern: /^### Ran Playwright code/ },
    },
    {
      tool: "browser_press_key",
      args: () => ({ key: "Tab" }),
      text: { says: 'Markdown section "### Ran Playwright code"', pattern: /^### Ran Playwright code/ },
    },
    {
      tool: "browser_console_messages",
      args: () => ({ level: "info" }),
      text: {
        says: 'Markdown section "### Result": "Total messages: N …", a blank line, then one message per line: "[LOG] text @ url:line"',
        pattern: /^### Result\nTotal messages: \d+ .*\n\n\[/,
      },
    },
    {
      tool: "browser_network_requests",
      args: () => ({ static: true }),
      text: {
        says: 'Markdown section "### Result": one request per line, "1. [GET] url => [200] OK"',
        pattern: /^### Result\n\d+\. \[GET\] \S+ => \[\d+\]/,
      },
    },
    {
      tool: "browser_tabs",
      args: () => ({ action: "list" }),
      text: {
        says: 'Markdown section "### Result": one tab per line, "- 0: (current) [title](url)"',
        pattern: /^### Result\n- 0: \(current\) \[.*\]\(.*\)$/,
      },
    },
    { tool: "browser_take_screenshot", args: () => ({ scale: "css" }) },
    {
      tool: "browser_resize",
      args: () => ({ width: 800, height: 600 }),
      text: { says: 'Markdown section "### Ran Playwright code"', pattern: /^### Ran Playwright code/ },
    },
    {
      tool: "browser_wait_for",
      args: () => ({ text: "Orders" }),
      text: {
        says: 'Markdown sections "### Result", "### Ran Playwright code", "### Page" and "### Snapshot"',
        pattern: /^### Result\nWaited for /,
      },
    },
    {
      tool: "browser_navigate_back",
      text: {
        says: 'Markdown sections: "### Ran Playwright code", "### Page" ("- Page URL: …", "- Page Title: …") and "### Snapshot" (a link to a file: browser_snapshot returns it in the text)',
        pattern: /^### Ran Playwright code\n[\s\S]*### Page\n- Page URL: /,
      },
    },
    {
      tool: "browser_close",
      text: { says: 'Markdown sections "### Result" and "### Ran Playwright code"', pattern: /^### Result\n/ },
    },
  ],
};
