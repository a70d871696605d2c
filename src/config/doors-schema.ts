/** The schema of `doors`. */
import { z } from "zod";
import { modes } from "./defaults.ts";
import { quotasSchema, someLimitsSchema } from "./limits-schema.ts";
import { doorToolsSchema } from "./tools-schema.ts";

/** Every session loads the text, within `surfaceTokens`. */
const maxDoorInstructionsChars = 1_000;

/** A door's name is a part of addresses and of folders. */
const doorName = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/;

/** Paths of `serve --http` that are not doors. */
const reserved: readonly string[] = ["mcp", "health", "healthz", "metrics", "readyz", "ui"];

export const doorFields = {
  /**
   * The servers behind the door. If the key is missing: the servers with a pattern in `tools.allow`, or all servers if there is no pattern.
   */
  servers: z.array(z.string().min(1)).optional(),
  /** Servers that have processes of their own for the door. The others are shared with all doors. */
  private: z.array(z.string().min(1)).optional(),
  /**
   * The tools behind the door, and the ones that need a person's consent. Patterns are `server.tool`. A key with a dot is a tool, and its
   * entry changes how agents see it.
   */
  tools: doorToolsSchema([]),
  mode: z.enum(modes).optional(),
  workspace: z.string().min(1).optional(),
  /** For the agent, before the list of servers. */
  instructions: z.string().min(1).max(maxDoorInstructionsChars).optional(),
  limits: someLimitsSchema.optional(),
  /** Quotas for all programs and calls behind the door together. */
  quotas: quotasSchema,
};

/** `servers` are the names of all servers of the file. */
export const doorsSchema = (servers: readonly string[]) =>
  z
    .record(
      z
        .string()
        .regex(doorName, "use at most 32 lower-case letters, digits and dashes as the name of a door")
        .refine((name) => !reserved.includes(name), "this name is reserved"),
      z.object({ ...doorFields, tools: doorToolsSchema(servers) }),
    )
    .optional();
