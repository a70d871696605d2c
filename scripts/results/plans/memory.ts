/** Calls of the reference server for memory. Its tools declare their results. */
import { join } from "node:path";
import type { Plan } from "../plan.ts";

const entities = [
  { name: "Ada", entityType: "person", observations: ["keeps the shop"] },
  { name: "shop", entityType: "project", observations: ["sells lamps"] },
];
const relations = [{ from: "Ada", to: "shop", relationType: "keeps" }];

export const memory: Plan = {
  server: "knowledge/memory",
  package: "@modelcontextprotocol/server-memory@2026.8.31",
  usual: ["search_nodes", "create_entities", "create_relations"],
  env: ({ folder }) => ({ MEMORY_FILE_PATH: join(folder, "memory.jsonl") }),
  calls: [
    { tool: "create_entities", args: () => ({ entities }) },
    { tool: "create_relations", args: () => ({ relations }) },
    { tool: "add_observations", args: () => ({ observations: [{ entityName: "Ada", contents: ["likes desks"] }] }) },
    { tool: "read_graph" },
    { tool: "search_nodes", args: () => ({ query: "lamps" }) },
    { tool: "open_nodes", args: () => ({ names: ["Ada"] }) },
    {
      tool: "delete_observations",
      args: () => ({ deletions: [{ entityName: "Ada", observations: ["likes desks"] }] }),
    },
    { tool: "delete_relations", args: () => ({ relations }) },
    { tool: "delete_entities", args: () => ({ entityNames: ["Ada"] }) },
  ],
};
