/** The tool of the reference server for thinking in steps. It declares its result. */
import type { Plan } from "../plan.ts";

const thought = { thought: "Count the lamps.", totalThoughts: 2, nextThoughtNeeded: true };

export const sequentialThinking: Plan = {
  server: "reasoning/sequential-thinking",
  package: "@modelcontextprotocol/server-sequential-thinking@2026.8.31",
  calls: [
    { tool: "sequentialthinking", args: () => ({ ...thought, thoughtNumber: 1 }) },
    {
      tool: "sequentialthinking",
      args: () => ({ ...thought, thoughtNumber: 2, branchFromThought: 1, branchId: "desks" }),
    },
  ],
};
