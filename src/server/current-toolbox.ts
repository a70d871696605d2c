/** The toolbox of a session: a locked one is replaced by the real one once it opens. */
import type { LockedToolbox } from "../toolbox/locked-toolbox.ts";
import type { Toolbox } from "../toolbox/toolbox.ts";
import { SessionCount } from "./session-count.ts";

export class CurrentToolbox {
  toolbox: Toolbox;
  count: SessionCount;
  readonly #instructions: string;

  constructor(toolbox: Toolbox, count: SessionCount, instructions: string) {
    this.toolbox = toolbox;
    this.count = count;
    this.#instructions = instructions;
  }

  /** Throws CONFIG_NOT_TRUSTED until the config is trusted. `listed` are the tools that the agent has seen. */
  async unlocked(signal: AbortSignal, listed: () => readonly object[]): Promise<Toolbox> {
    if (!this.toolbox.isLocked) return this.toolbox;
    const opened = await (this.toolbox as LockedToolbox).unlock(signal);
    // Another call may have replaced it meanwhile.
    if (this.toolbox === opened) return opened;
    this.toolbox = opened;
    this.count = new SessionCount(opened, this.#instructions);
    this.count.listed(listed());
    return opened;
  }
}
