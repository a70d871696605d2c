/** The results of the tools of shadcn. Written by `bun run results`. */
import type { CatalogResults } from "../../types.ts";

export const results = {
  package: "shadcn",
  version: "4.23.0",
  tools: {
    get_add_command_for_items: {
      type: "string",
      text: "the command, and nothing else",
    },
    get_audit_checklist: {
      type: "string",
      text: 'Markdown: a list of things to check, "- [ ] text"',
    },
    get_item_examples_from_registries: {
      type: "string",
      text: 'Markdown: per example a section "## Example: name" with "### Code (path):" and the code between ```tsx and ```',
    },
    get_project_registries: {
      type: "string",
      text: 'a sentence, one registry per line ("- @name"), then help',
    },
    list_items_in_registries: {
      type: "string",
      text: 'lines "Found N items …" and "Showing items 1-2 of 2:"; then per item "- name (type) - description [@registry]", and indented "Add command: `…`"',
    },
    search_items_in_registries: {
      type: "string",
      text: 'lines "Found N items …" and "Showing items 1-2 of 2:"; then per item "- name (type) - description [@registry]", and indented "Add command: `…`"',
    },
    view_items_in_registries: {
      type: "string",
      text: 'per item a section "## name": its description, then "**Type:** type", "**Files:** N file(s)" and "**Dependencies:** …"; without the code',
    },
  },
} satisfies CatalogResults;
