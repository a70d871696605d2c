/** Calls of Playwright in a headless Chromium. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "../chromium.ts";
import type { Plan } from "../plan.ts";

const onPage = {
  says: 'Markdown sections: "### Ran Playwright code", "### Page" ("- Page URL: …", "- Page Title: …") and "### Snapshot" (a link to a file: browser_snapshot returns it in the text)',
  pattern: /^### Ran Playwright code\n[\s\S]*### Page\n- Page URL: /,
};
const ran = { says: 'Markdown section "### Ran Playwright code"', pattern: /^### Ran Playwright code/ };
const evaluated = {
  says: 'Markdown sections: "### Result" with the JSON of the value, then "### Ran Playwright code"',
  pattern: /^### Result\n[{"][\s\S]*\n### Ran Playwright code/,
};

export const playwright: Plan = {
  server: "web/playwright",
  package: "@playwright/mcp@0.0.83",
  usual: ["browser_navigate", "browser_snapshot", "browser_click", "browser_type", "browser_take_screenshot"],
  args: () => ["--headless", "--isolated", "--no-sandbox", "--executable-path", chromium],
  prepare: ({ folder }) => writeFileSync(join(folder, "page.json"), "{}"),
  calls: [
    {
      tool: "browser_navigate",
      args: ({ page }) => ({ url: page }),
      text: onPage,
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
      text: evaluated,
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
      text: onPage,
    },
    {
      tool: "browser_type",
      args: () => ({ element: "Name", target: "input[name=name]", text: "Ada" }),
      text: ran,
    },
    {
      tool: "browser_hover",
      args: () => ({ element: "Save", target: "button:has-text('Save')" }),
      text: onPage,
    },
    {
      tool: "browser_select_option",
      args: () => ({ element: "size", target: "select", values: ["large"] }),
      text: onPage,
    },
    {
      tool: "browser_fill_form",
      args: () => ({ fields: [{ name: "Name", type: "textbox", target: "input[name=name]", value: "Bob" }] }),
      text: ran,
    },
    {
      tool: "browser_press_key",
      args: () => ({ key: "Tab" }),
      text: ran,
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
    {
      tool: "browser_network_request",
      args: () => ({ index: 1 }),
      text: {
        says: 'Markdown section "### Result": "#1 [GET] url", then indented "name: value" lines below General, Request headers and Response headers; with part, only the headers ("name: value" per line) or the body',
        pattern: /^### Result\n#1 \[GET\] \S+\n\n +General\n +status: [\s\S]*\n +Response headers\n +\S+: /,
      },
    },
    { tool: "browser_emulate_media", args: () => ({ colorScheme: "light" }), text: ran },
    {
      tool: "browser_run_code_unsafe",
      args: () => ({ code: "async (page) => page.title()" }),
      text: evaluated,
    },
    {
      tool: "browser_drag",
      args: () => ({
        startElement: "Save",
        startTarget: "button:has-text('Save')",
        endElement: "Name",
        endTarget: "input[name=name]",
      }),
      text: onPage,
    },
    {
      tool: "browser_drop",
      args: () => ({ element: "Drop here", target: "#drop", data: { "text/plain": "hello" } }),
      text: onPage,
    },
    {
      tool: "browser_click",
      args: () => ({ element: "Ask", target: "button:has-text('Ask')" }),
      text: onPage,
    },
    {
      tool: "browser_handle_dialog",
      args: () => ({ accept: true }),
      text: {
        says: 'Markdown section "### Page" ("- Page URL: …", "- Page Title: …")',
        pattern: /^### Page\n- Page URL: /,
      },
    },
    {
      tool: "browser_click",
      args: () => ({ element: "Choose", target: "input[type=file]" }),
      text: onPage,
    },
    {
      tool: "browser_file_upload",
      args: ({ folder }) => ({ paths: [join(folder, "page.json")] }),
      text: onPage,
    },
    {
      tool: "browser_take_screenshot",
      args: () => ({ scale: "css" }),
      text: {
        says: "a text block with Markdown that links the file, then an image block with the PNG in base64",
        pattern: /^### Result\n- \[.*\]\(.*\)\n[\s\S]*\n\[image\]$/,
      },
    },
    {
      tool: "browser_resize",
      args: () => ({ width: 800, height: 600 }),
      text: ran,
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
      text: onPage,
    },
    {
      tool: "browser_close",
      text: { says: 'Markdown sections "### Result" and "### Ran Playwright code"', pattern: /^### Result\n/ },
    },
  ],
};
