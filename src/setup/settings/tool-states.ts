/** Sets several tools to allow, ask or deny at once. */
import type { Environment } from "../../config/environment.ts";
import type { ToolState } from "../../policy/decision.ts";
import { changePolicies, type PolicyChange, type PolicyChangeOptions, undoChange } from "./change-policy.ts";
import type { ChangedText } from "./policy-changes.ts";

interface NamedTool {
  server: string;
  /** The tool's own name. */
  tool: string;
}

/** The changes with which a tool gets the state. A denied tool keeps its setting of when a person is asked. */
function changesFor({ server, tool }: NamedTool, state: ToolState): PolicyChange[] {
  if (state === "deny") return [{ server, tool, access: "denied" }];
  return [
    { server, tool, access: "allowed" },
    { server, tool, confirm: state === "ask" ? "always" : "never" },
  ];
}

/**
 * Sets the tools in their files, by the files that have their servers. If a later file cannot be changed, the earlier ones are changed back. Returns
 * what was changed. Throws what `changePolicies` throws.
 */
export async function setToolStates(
  byFile: ReadonlyMap<string, readonly NamedTool[]>,
  state: ToolState,
  env: Environment,
  options: PolicyChangeOptions,
): Promise<ChangedText[]> {
  const changed: ChangedText[] = [];
  try {
    for (const [file, tools] of byFile) {
      const changes = tools.flatMap((tool) => changesFor(tool, state));
      const change = await changePolicies(changes, { flag: file, cwd: "/", env }, options);
      if (change) changed.push(change);
    }
  } catch (error) {
    for (const each of changed.reverse()) await undoChange(each, env, options);
    throw error;
  }
  return changed;
}
