/** The results of the tools of puppeteer. Written by `bun run results`. */
import type { CatalogResults } from "../../types.ts";

export const results = {
  package: "@modelcontextprotocol/server-puppeteer",
  version: "2025.5.12",
  tools: {
    puppeteer_click: {
      type: "string",
      text: "a sentence",
    },
    puppeteer_evaluate: {
      type: "string",
      text: 'a line "Execution result:", the JSON of the value, a blank line, a line "Console output:", then one message per line: "[log] text"',
    },
    puppeteer_fill: {
      type: "string",
      text: "a sentence",
    },
    puppeteer_hover: {
      type: "string",
      text: "a sentence",
    },
    puppeteer_navigate: {
      type: "string",
      text: "a sentence",
    },
    puppeteer_screenshot: {
      type: "{ type: string; text?: string; data?: string; mimeType?: string }[]",
      text: "a text block with a sentence, then an image block with the PNG in base64",
    },
    puppeteer_select: {
      type: "string",
      text: "a sentence",
    },
  },
  usual: {
    puppeteer_evaluate: "({ script })",
    puppeteer_navigate: "({ url, launchOptions?: Record<string, unknown>, allowDangerous?: boolean })",
    puppeteer_screenshot: "({ name, selector?, width?: number, height?: number, encoded?: boolean })",
  },
} satisfies CatalogResults;
