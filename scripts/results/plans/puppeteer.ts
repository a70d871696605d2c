/** Calls of Puppeteer in a headless Chromium. */
import { chromium } from "../chromium.ts";
import type { Plan } from "../plan.ts";

const done = { says: "a sentence", pattern: /^(?:Navigated|Clicked|Filled|Selected|Hovered)\b.+$/ };

export const puppeteer: Plan = {
  server: "web/puppeteer",
  package: "@modelcontextprotocol/server-puppeteer@2025.5.12",
  usual: ["puppeteer_navigate", "puppeteer_screenshot", "puppeteer_evaluate"],
  env: () => ({
    PUPPETEER_EXECUTABLE_PATH: chromium,
    PUPPETEER_LAUNCH_OPTIONS: JSON.stringify({ headless: true, args: ["--no-sandbox"] }),
    ALLOW_DANGEROUS: "true",
  }),
  calls: [
    { tool: "puppeteer_navigate", args: ({ page }) => ({ url: page }), text: done },
    { tool: "puppeteer_click", args: () => ({ selector: "button" }), text: done },
    { tool: "puppeteer_fill", args: () => ({ selector: "input", value: "Ada" }), text: done },
    { tool: "puppeteer_select", args: () => ({ selector: "select", value: "large" }), text: done },
    { tool: "puppeteer_hover", args: () => ({ selector: "button" }), text: done },
    {
      tool: "puppeteer_evaluate",
      args: () => ({ script: "console.log('hello'); ({ title: document.title })" }),
      text: {
        says: 'a line "Execution result:", the JSON of the value, a blank line, a line "Console output:", then one message per line: "[log] text"',
        pattern: /^Execution result:\n\{[\s\S]*\n\nConsole output:\n\[log\] hello$/,
      },
    },
    {
      tool: "puppeteer_screenshot",
      args: () => ({ name: "page" }),
      text: {
        says: "a text block with a sentence, then an image block with the PNG in base64",
        pattern: /^Screenshot .*\n\[image\]$/,
      },
    },
  ],
};
