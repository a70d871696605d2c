/** The results of the tools of memory. Written by `bun run results`. */
import type { CatalogResults } from "../../types.ts";

export const results = {
  package: "@modelcontextprotocol/server-memory",
  version: "2026.8.31",
  tools: {},
  usual: {
    create_entities: "({ entities: { name, entityType, observations: string[] }[] }): { entities }",
    create_relations: "({ relations: { from, to, relationType }[] }): { relations }",
    search_nodes: "({ query }): { entities, relations }",
  },
} satisfies CatalogResults;
