/** The results of the tools of everything. Written by `bun run results`. */
import type { CatalogResults } from "../../types.ts";

export const results = {
  package: "@modelcontextprotocol/server-everything",
  version: "2026.8.31",
  tools: {
    echo: {
      type: "string",
      text: '"Echo: " and the message',
    },
    "get-annotated-message": {
      type: "string | { type: string; text?: string; annotations: { audience: string[]; priority: number }; data?: string; mimeType?: string }[]",
      text: "a sentence; with includeImage, a text block with it and an image block",
    },
    "get-env": {
      type: "Record<string, string>",
    },
    "get-resource-links": {
      type: "{ type: string; text?: string; name?: string; uri?: string; description?: string; mimeType?: string }[]",
      text: "a text block with a sentence, then one resource_link block per link",
    },
    "get-resource-reference": {
      type: "{ type: string; text?: string; resource?: { uri: string; mimeType: string; text: string } }[]",
      text: "a text block with a sentence, a resource block, a text block with a sentence",
    },
    "get-sum": {
      type: "string",
      text: "a sentence that ends with the sum and a full stop",
    },
    "get-tiny-image": {
      type: "{ type: string; text?: string; data?: string; mimeType?: string }[]",
      text: "a text block with a sentence, an image block with a PNG in base64, a text block with a sentence",
    },
    "gzip-file-as-resource": {
      type: "{ name?: string; uri?: string; mimeType?: string; type: string; resource?: { uri: string; mimeType: string; blob: string } }[]",
      text: "one block: a resource_link, or with outputType resource the resource, with the gzip file in base64 as its blob",
    },
    "toggle-simulated-logging": {
      type: "string",
      text: "a sentence that begins with Started or Stopped",
    },
    "toggle-subscriber-updates": {
      type: "string",
      text: "a sentence that begins with Started or Stopped",
    },
    "trigger-long-running-operation": {
      type: "string",
      text: "a sentence with the duration and the number of steps",
    },
  },
  usual: {
    "get-sum": "({ a: number, b: number })",
  },
} satisfies CatalogResults;
