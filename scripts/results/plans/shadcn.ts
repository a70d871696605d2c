/** Calls of shadcn with a registry of components on this machine. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Plan } from "../plan.ts";

const registries = ["@shop"];
const list = {
  says: 'lines "Found N items …" and "Showing items 1-2 of 2:"; then per item "- name (type) - description [@registry]", and indented "Add command: `…`"',
  pattern:
    /^Found \d+ items .*\n\nShowing items .*:\n\n- [\w-]+ \(registry:\w+\) - .* \[@shop\] *\n {2}Add command: `.+`\n/,
};

export const shadcn: Plan = {
  server: "ui/shadcn",
  package: "shadcn@4.23.0",
  args: () => ["mcp"],
  prepare({ folder, page }) {
    const config = {
      style: "new-york",
      rsc: false,
      tsx: true,
      tailwind: { config: "", css: "page.css", baseColor: "neutral", cssVariables: true },
      aliases: { components: "@/components", utils: "@/utils" },
      registries: { "@shop": `${page}/r/{name}.json` },
    };
    writeFileSync(join(folder, "components.json"), JSON.stringify(config));
  },
  calls: [
    {
      tool: "get_project_registries",
      text: { says: 'a sentence, one registry per line ("- @name"), then help', pattern: /:\n\n(?:- @\w+\n)+/ },
    },
    { tool: "list_items_in_registries", args: () => ({ registries }), text: list },
    { tool: "search_items_in_registries", args: () => ({ registries, query: "lamp" }), text: list },
    {
      tool: "view_items_in_registries",
      args: () => ({ items: ["@shop/lamp"] }),
      text: {
        says: 'per item a section "## name": its description, then "**Type:** type", "**Files:** N file(s)" and "**Dependencies:** …"; without the code',
        pattern:
          /^Item Details:\n\n## lamp\n\n.*\n\n\*\*Type:\*\* registry:ui\n\*\*Files:\*\* 1 file\(s\)\n\*\*Dependencies:\*\* /,
      },
    },
    {
      tool: "get_item_examples_from_registries",
      args: () => ({ registries, query: "lamp-demo" }),
      text: {
        says: 'Markdown: per example a section "## Example: name" with "### Code (path):" and the code between ```tsx and ```',
        pattern: /^# Usage Examples\n[\s\S]*## Example: lamp-demo\n[\s\S]*### Code \(.+\):\n\n```tsx\n[\s\S]*\n```/,
      },
    },
    {
      tool: "get_add_command_for_items",
      args: () => ({ items: ["@shop/lamp"] }),
      text: { says: "the command, and nothing else", pattern: /^npx shadcn@\S+ add @shop\/lamp$/ },
    },
    {
      tool: "get_audit_checklist",
      text: { says: 'Markdown: a list of things to check, "- [ ] text"', pattern: /\n- \[ \] / },
    },
  ],
};
