/** Runs the scheduled programs of the config and its doors, if replicas share the store: then one of them runs each. */
import type { App } from "../../app/app.ts";
import { savedProgramsOf } from "../../config/saved-programs-place.ts";
import { type ScheduledPlace, Scheduler } from "../../programs/saved/scheduler.ts";
import { unlockMs } from "../limits.ts";
import type { ContinueOptions } from "./continue-left.ts";

/** How often a replica looks for scheduled programs that are due. */
const scheduleLookMs = 3_000;

export class ScheduledPrograms implements AsyncDisposable {
  readonly #app: App;
  readonly #options: ContinueOptions;
  readonly #timer: NodeJS.Timeout | undefined;
  #scheduler: Scheduler | undefined;
  #doors = "";

  /** Without replicas, the daemon of the user runs the programs. */
  constructor(app: App, options: ContinueOptions) {
    this.#app = app;
    this.#options = options;
    if (app.store.continuations) this.#timer = setInterval(() => void this.#look(), scheduleLookMs);
  }

  async #look(): Promise<void> {
    // Nothing of a config runs before it is trusted. The one that is then opened knows the doors.
    const app = await this.#app.ready(AbortSignal.timeout(unlockMs)).catch(() => undefined);
    if (!app) return;
    await this.#schedulerOf(app).look();
  }

  /** The config may get other doors. */
  #schedulerOf(app: App): Scheduler {
    const doors = app.config.doors.join("\n");
    if (this.#scheduler && doors === this.#doors) return this.#scheduler;
    void this.#scheduler?.close();
    this.#doors = doors;
    this.#scheduler = new Scheduler(this.#placesOf(app), this.#options.log);
    return this.#scheduler;
  }

  /** A server with a door runs only the programs behind it. */
  #placesOf({ config, env }: App): ScheduledPlace[] {
    const { door, partOf } = this.#options;
    const names = door === undefined ? [undefined, ...config.doors] : [door];
    return names.map((name) => ({
      place: savedProgramsOf(config.origin, env, name),
      open: async () => {
        // A door stays open for as long as the config has it.
        using part = await partOf({ door: name });
        return { executions: await part.app.executions(), parts: part.app };
      },
    }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#scheduler?.close();
  }
}
