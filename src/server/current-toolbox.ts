/** What the calls of a session work with: its toolbox, or the real one from where a locked toolbox has opened. */
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

  /** Throws CONFIG_NOT_TRUSTED as long as the config is not trusted. `listed` are the tools that the host has. */
  async unlocked(signal: AbortSignal, listed: () => readonly object[]): Promise<Toolbox> {
    if (!this.toolbox.isLocked) return this.toolbox;
    const opened = await (this.toolbox as LockedToolbox).unlock(signal);
    // Another call may have waited for it, too.
    if (this.toolbox === opened) return opened;
    this.toolbox = opened;
    this.count = new SessionCount(opened, this.#instructions);
    this.count.listed(listed());
    return opened;
  }
}
