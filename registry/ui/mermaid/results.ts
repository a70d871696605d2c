/** The results of the tools of mermaid. Written by `bun run results`. */
import type { CatalogResults } from "../../types.ts";

export const results = {
  package: "mcp-mermaid",
  version: "0.4.1",
  tools: {
    generate_mermaid_diagram: {
      type: "string | { type: string; data: string; mimeType: string }[]",
      text: "base64: an image block with the PNG; svg: the SVG; mermaid: the source; file: a sentence with the path; svg_url and png_url: the address",
    },
  },
} satisfies CatalogResults;
