/** The results of the tools of eslint. Written by `bun run results`. */
import type { CatalogResults } from "../../types.ts";

export const results = {
  package: "@eslint/mcp",
  version: "0.3.13",
  tools: {
    "lint-files": {
      type: "string",
      text: "a sentence, then one line of JSON per file with a problem: { filePath, messages: { ruleId, severity: 1 | 2, message, line, column }[], errorCount, warningCount }, then a sentence",
    },
  },
  usual: {
    "lint-files": "({ filePaths: string[] })",
  },
} satisfies CatalogResults;
