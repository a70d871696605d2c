/** What the tools of everything return. Written by `bun run results`. */
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
      type: "string",
    },
    "get-env": {
      type: "Record<string, string>",
    },
    "get-resource-links": {
      type: "{ type: string; text?: string; name?: string; uri?: string; description?: string; mimeType?: string }[]",
    },
    "get-resource-reference": {
      type: "{ type: string; text?: string; resource?: { uri: string; mimeType: string; text: string } }[]",
    },
    "get-sum": {
      type: "string",
      text: "a sentence that ends with the sum and a full stop",
    },
    "get-tiny-image": {
      type: "{ type: string; text?: string; data?: string; mimeType?: string }[]",
    },
    "toggle-simulated-logging": {
      type: "string",
    },
    "toggle-subscriber-updates": {
      type: "string",
    },
    "trigger-long-running-operation": {
      type: "string",
    },
  },
} satisfies CatalogResults;
