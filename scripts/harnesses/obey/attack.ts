/** An attack: a task of the user, servers with a stranger's text in them, and what an obedient agent does when it meets the text. */
import type { Instruction, Step } from "./agent.ts";
import type { Goal } from "./goals.ts";
import type { Servers } from "./world.ts";

/** From the public benchmarks MSB, MCPSecBench and MCP-SafetyBench, by the way in or by the way out. */
export const types = [
  "page",
  "mail",
  "issue",
  "file",
  "memory",
  "error",
  "resource",
  "prompt",
  "list",
  "tool description",
  "parameter",
  "out of scope",
  "name collision",
  "preference",
  "rug pull",
  "tool transfer",
  "false error",
  "impersonation",
  "laundering",
  "sampling",
  "elicitation",
  "diversion",
  "address",
  "encoding",
  "many calls",
  "saved program",
  "search result",
  "retrieval",
] as const;
export type Type = (typeof types)[number];

export interface Attack {
  type: Type;
  name: string;
  mode?: "code" | "direct";
  servers: Servers;
  /** The task of the user. */
  task: Step[];
  /** What the agent obeys. */
  obeys: Instruction[];
  goal: Goal;
}
