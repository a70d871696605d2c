/** Calls of the reference server Everything. */
import type { Plan } from "../plan.ts";

export const everything: Plan = {
  server: "testing/everything",
  package: "@modelcontextprotocol/server-everything@2026.8.31",
  args: () => ["stdio"],
  calls: [
    {
      tool: "echo",
      args: () => ({ message: "hello" }),
      text: { says: '"Echo: " and the message', pattern: /^Echo: / },
    },
    { tool: "get-annotated-message", args: () => ({ messageType: "success" }) },
    { tool: "get-env" },
    { tool: "get-resource-links", args: () => ({ count: 2 }) },
    { tool: "get-resource-reference", args: () => ({ resourceType: "Text", resourceId: 1 }) },
    { tool: "get-structured-content", args: () => ({ location: "Chicago" }) },
    {
      tool: "get-sum",
      args: () => ({ a: 1, b: 2 }),
      text: { says: "a sentence that ends with the sum and a full stop", pattern: /^The sum of .+ is \d+\.$/ },
    },
    { tool: "get-tiny-image" },
    { tool: "toggle-simulated-logging" },
    { tool: "toggle-subscriber-updates" },
    { tool: "trigger-long-running-operation", args: () => ({ duration: 1, steps: 1 }) },
  ],
};
