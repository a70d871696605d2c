/** `lint-files` of ESLint. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Plan } from "../plan.ts";

export const eslint: Plan = {
  server: "code/eslint",
  package: "@eslint/mcp@0.3.13",
  usual: ["lint-files"],
  prepare({ folder }) {
    writeFileSync(join(folder, "eslint.config.js"), 'module.exports = [{ rules: { "no-unused-vars": "error" } }];\n');
    writeFileSync(join(folder, "a.js"), "const unused = 1;\n");
    writeFileSync(join(folder, "b.js"), "const other = 2;\n");
  },
  calls: [
    {
      tool: "lint-files",
      args: ({ folder }) => ({ filePaths: [join(folder, "a.js"), join(folder, "b.js")] }),
      text: {
        says: "a sentence, then one line of JSON per file with a problem: { filePath, messages: { ruleId, severity: 1 | 2, message, line, column }[], errorCount, warningCount }, then a sentence",
        pattern: /^.+\n(?:\{"filePath":".+","messages":\[.+\}\n){2}.+$/,
      },
    },
  ],
};
