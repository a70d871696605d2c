/** Sets the states of tools for the page, says before what that would have meant, and undoes it. */
import { randomUUID } from "node:crypto";
import type { App } from "../app/app.ts";
import type { Environment } from "../config/environment.ts";
import { impactOf } from "../programs/call-log/impact.ts";
import { configOwner } from "../servers/logs/place.ts";
import { type ChangedText, undoChange } from "../setup/settings/change-policy.ts";
import { setToolStates } from "../setup/settings/tool-states.ts";
import { RefusedRequest, type StatesBody } from "./guard.ts";
import { fileOfServer } from "./rules.ts";
import type { ToolViews } from "./servers.ts";
import type { PageImpact, PageStatesChanged } from "./tools-contract.ts";

/** Changes that can be undone: the latest ones. */
const maxUndoneChanges = 20;

interface StatesOptions {
  app: App;
  env: Environment;
  /** Whether the user has confirmed the config, so that it need not be trusted. */
  isAnswered: boolean;
}

const place = "page";

export class ToolStates {
  readonly #options: StatesOptions;
  readonly #views: ToolViews;
  /** By their ids, the oldest first. */
  readonly #changes = new Map<string, ChangedText[]>();

  constructor(options: StatesOptions, views: ToolViews) {
    this.#options = options;
    this.#views = views;
  }

  /** What the change would have meant for the calls of the last days. */
  async preview({ tools, state }: StatesBody): Promise<PageImpact> {
    const { store, config } = this.#options.app;
    const { calls, text } = await impactOf(tools, state, store.callLog, { config: configOwner(config.origin) });
    return { calls, text };
  }

  /** Throws RefusedRequest for a pattern, and what `setToolStates` throws. */
  async set({ tools, state }: StatesBody): Promise<PageStatesChanged> {
    const { app, env, isAnswered } = this.#options;
    if (tools.some(({ tool }) => tool.includes("*"))) {
      throw new RefusedRequest(400, 'A name contains "*", which stands for any text in the config');
    }
    for (const { server, tool } of tools) this.#views.touch(server, tool, app);
    const byFile = Map.groupBy(tools, ({ server }) => fileOfServer(server, app.config));
    const changed = await setToolStates(byFile, state, env, { isAnswered, place });
    await app.reload?.refresh();
    if (changed.length === 0) return {};
    const undo = randomUUID();
    this.#changes.set(undo, changed);
    const [oldest] = this.#changes.keys();
    if (this.#changes.size > maxUndoneChanges && oldest !== undefined) this.#changes.delete(oldest);
    return { undo };
  }

  /** Writes the files as they were. Throws RefusedRequest if the change is not known, and what `undoChange` throws. */
  async undo(id: string): Promise<void> {
    const { app, env, isAnswered } = this.#options;
    const changed = this.#changes.get(id);
    if (!changed) throw new RefusedRequest(404, "This change can no longer be undone");
    for (const each of changed.toReversed()) await undoChange(each, env, { isAnswered, place });
    this.#changes.delete(id);
    await app.reload?.refresh();
  }
}
