/** Sets the states of tools for the page, says before what that would have meant, and undoes it. */

import type { Environment } from "../config/environment.ts";
import type { ToolState } from "../policy/decision.ts";
import { impactOf } from "../programs/call-log/impact.ts";
import { configOwner } from "../servers/logs/place.ts";
import {
  changePolicies,
  type PolicyChange,
  type PolicyChangeOptions,
  undoChange,
} from "../setup/settings/change-policy.ts";
import type { ChangedText } from "../setup/settings/policy-changes.ts";
import type { Body } from "./bodies.ts";
import { RefusedRequest } from "./guard.ts";
import type { PageParts } from "./parts.ts";
import { fileOfServer } from "./rules.ts";
import type { ToolViews } from "./servers.ts";
import type { PageImpact, PageUndo } from "./servers-contract.ts";
import type { UndoneChanges } from "./undone-changes.ts";

type StatesParts = Pick<PageParts, "app" | "env" | "isAnswered" | "approvals"> & { undone: UndoneChanges };

const place = "page";

export class ToolStates {
  readonly #options: StatesParts;
  readonly #views: ToolViews;

  constructor(options: StatesParts, views: ToolViews) {
    this.#options = options;
    this.#views = views;
  }

  /** What the change would have meant for the calls of the last days. */
  async preview({ tools, state }: Body<"states">): Promise<PageImpact> {
    const { app, approvals } = this.#options;
    const config = configOwner(app.config.origin);
    const open = state === "deny" ? await approvals.open() : [];
    const { calls, waiting, text } = await impactOf(tools, state, app.store.callLog, { config, open });
    return { calls, waiting, text };
  }

  /** Throws RefusedRequest for a pattern, and what `setToolStates` throws. */
  async set({ tools, state }: Body<"states">): Promise<PageUndo> {
    const { app, env, isAnswered, undone } = this.#options;
    if (tools.some(({ tool }) => tool.includes("*"))) {
      throw new RefusedRequest(400, 'A name contains "*", which stands for any text in the config');
    }
    for (const { server, tool } of tools) this.#views.touch(server, tool, app);
    const byFile = Map.groupBy(tools, ({ server }) => fileOfServer(server, app.config));
    const changed = await setToolStates(byFile, state, env, { isAnswered, place });
    await app.reload?.refresh();
    const undo = undone.keep(...changed);
    return { undo };
  }
}

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
async function setToolStates(
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
