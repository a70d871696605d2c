/**
 * Runs the programs of the config and its doors that nobody starts: for events, and at their times if replicas share the store. One process
 * runs each.
 */
import type { App } from "../../app/app.ts";
import { savedProgramsOf } from "../../config/saved-programs-place.ts";
import { Events } from "../../programs/events/events.ts";
import { hasTriggers } from "../../programs/events/places.ts";
import { type ScheduledPlace, Scheduler } from "../../programs/saved/scheduler.ts";
import { unlockMs } from "../limits.ts";
import type { ContinueOptions } from "./continue-left.ts";
import type { Webhooks } from "./webhooks/webhooks.ts";

/** How often a process looks for programs that are due. */
const scheduleLookMs = 3_000;

/** The paths of webhooks begin with this. */
const webhooksPath = "/hooks/";

export const isWebhook = (pathname: string) => pathname.startsWith(webhooksPath);

/** What looks at the programs of a config with these doors. */
interface Looking {
  doors: string;
  places: ScheduledPlace[];
  scheduler: Scheduler;
  events: Events;
}

export class ScheduledPrograms implements AsyncDisposable {
  readonly #app: App;
  readonly #options: ContinueOptions;
  #timer: NodeJS.Timeout | undefined;
  #looking: Looking | undefined;
  #webhooks: Promise<Webhooks> | undefined;
  #isClosed = false;

  /** Without replicas, the daemon of the user runs programs at their times. There, nothing is looked at before something can start a program. */
  constructor(app: App, options: ContinueOptions) {
    this.#app = app;
    this.#options = options;
    if (app.store.continuations) this.#lookFromNowOn();
    else if (this.#placesOf(app).some(({ place }) => hasTriggers(place))) this.#lookFromNowOn();
  }

  /** Answers a webhook. Throws what opening a config that is not trusted throws. */
  async answer(request: Request, pathname: string): Promise<Response> {
    this.#webhooks ??= this.#openWebhooks();
    return (await this.#webhooks).answer(request, pathname.slice(webhooksPath.length));
  }

  async #openWebhooks(): Promise<Webhooks> {
    const { Webhooks } = await import("./webhooks/webhooks.ts");
    const { env, store } = this.#app;
    const places = async () => (await this.#look())?.places ?? [];
    const onOffered = () => {
      this.#lookFromNowOn();
      void this.#looking?.events.lookAgain();
    };
    return new Webhooks({ env, store, log: this.#options.log, places, onOffered });
  }

  #lookFromNowOn(): void {
    if (this.#isClosed) return;
    this.#timer ??= setInterval(() => void this.#lookNow(), scheduleLookMs);
  }

  async #lookNow(): Promise<void> {
    const looking = await this.#look();
    if (!looking) return;
    const { scheduler, events } = looking;
    const { continuations } = this.#app.store;
    await Promise.all([continuations && scheduler.look(), events.look()]);
  }

  /** Undefined before the config is trusted: nothing of it runs before. The config may get other doors. */
  async #look(): Promise<Looking | undefined> {
    const app = await this.#app.ready(AbortSignal.timeout(unlockMs)).catch(() => undefined);
    if (!app) return undefined;
    const doors = app.config.doors.join("\n");
    if (this.#looking?.doors === doors) return this.#looking;
    void this.#end();
    const places = this.#placesOf(app);
    const { log } = this.#options;
    const scheduler = new Scheduler(places, log);
    const events = new Events(places, { store: app.store, env: app.env, log, watches: false });
    this.#looking = { doors, places, scheduler, events };
    if (this.#isClosed) await this.#end();
    return this.#looking;
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

  async #end(): Promise<void> {
    await Promise.all([this.#looking?.scheduler.close(), this.#looking?.events.close()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#end();
  }
}
