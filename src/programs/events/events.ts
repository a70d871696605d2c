/** The events of a process: finds what has happened, puts it into the queue, and runs what is in the queue. */
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { dayMs, hourMs } from "../../base/units.ts";
import type { Environment } from "../../config/environment.ts";
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import type { Store } from "../../store/store.ts";
import type { ScheduledPlace } from "../saved/scheduler.ts";
import type { ChangedFiles, FileTrigger } from "./changed-files.ts";
import type { DeliveryRunner } from "./delivery-runner.ts";
import type { ListChanges, ListTrigger } from "./list-changes.ts";
import type { ProgramNews } from "./outcomes.ts";
import { hasTriggers, placeName } from "./places.ts";
import type { ResourceTrigger, ResourceUpdates } from "./resource-updates.ts";
import type { OutcomeSource, Trigger } from "./stored-triggers.ts";

/** How long deliveries are kept after their end. */
const keptMs = { done: 7 * dayMs, dead: 30 * dayMs };

/** Outcomes that are known to be in the queue. Beyond it, the queue is asked again. */
const maxKnownOutcomes = 10_000;

/** Time between looks for deliveries that are no longer kept. */
const tidyMs = hourMs;

export interface EventsOptions {
  store: Store;
  env: Environment;
  log: Log;
  /** Whether this process watches files and resources. Only one process of a user does. */
  watches: boolean;
  now?: (() => number) | undefined;
}

type OutcomeTrigger = Trigger & { on: OutcomeSource };

export class Events {
  readonly #places: readonly ScheduledPlace[];
  readonly #options: EventsOptions;
  readonly #now: () => number;
  /** Loaded when there is a trigger. */
  #runner: DeliveryRunner | undefined;
  #isClosing = false;
  /** By the names of the places. */
  readonly #files = new Map<string, ChangedFiles>();
  readonly #resources = new Map<string, ResourceUpdates>();
  readonly #lists = new Map<string, ListChanges>();
  /** Ended programs that are in the queue: the execution and the trigger. */
  readonly #passed = new Set<string>();
  #looking: Promise<void> | undefined;
  #isAskedAgain = false;
  #tidiedAt = 0;

  constructor(places: readonly ScheduledPlace[], { now = Date.now, ...options }: EventsOptions) {
    this.#places = places;
    this.#options = options;
    this.#now = now;
  }

  async #loadRunner(): Promise<DeliveryRunner> {
    const { DeliveryRunner } = await import("./delivery-runner.ts");
    this.#runner ??= new DeliveryRunner({
      ...this.#options,
      now: this.#now,
      isClosing: () => this.#isClosing,
      onRoom: () => void this.lookAgain(),
      onNews: async (news, place) => this.#pass(news, await triggersAt(place.place), place),
    });
    return this.#runner;
  }

  /** Whether something can start a program, so that the daemon must stay. */
  get isNeeded(): boolean {
    return this.#places.some(({ place }) => hasTriggers(place));
  }

  /** Finds what has happened, and begins what may begin. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
      if (!this.#isAskedAgain) return;
      this.#isAskedAgain = false;
      void this.look();
    });
    return this.#looking;
  }

  /** Looks soon, and once more if it is looking now. */
  lookAgain(): Promise<void> {
    if (this.#isClosing) return Promise.resolve();
    this.#isAskedAgain = this.#looking !== undefined;
    return this.look();
  }

  /** Starts nothing from now on. Resolves when nothing is being started. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const updates of [...this.#resources.values(), ...this.#lists.values()]) updates.close();
    await this.#looking;
    await this.#runner?.notified();
  }

  async #look(): Promise<void> {
    for (const place of this.#places) {
      if (this.#isClosing) return;
      try {
        await this.#lookAt(place);
      } catch (error) {
        this.#options.log.warn(`The triggers of programs: ${messageOf(error)}`);
      }
    }
  }

  async #lookAt(place: ScheduledPlace): Promise<void> {
    if (!hasTriggers(place.place)) return;
    const triggers = await triggersAt(place.place);
    await this.#lookAtFiles(triggers, place);
    await this.#lookAtResources(triggers, place);
    await this.#lookAtLists(triggers, place);
    await this.#lookAtOutcomes(triggers, place);
    const runner = await this.#loadRunner();
    await runner.recover(triggers, place);
    await runner.begin(triggers, place);
    await this.#tidy();
  }

  async #lookAtFiles(triggers: readonly Trigger[], place: ScheduledPlace): Promise<void> {
    const watched = triggers.filter((each): each is FileTrigger => each.on.kind === "file");
    if (watched.length === 0 || !this.#options.watches) return;
    const { log, store } = this.#options;
    const [{ ChangedFiles }, { Triggers }, { offer }] = await Promise.all([
      import("./changed-files.ts"),
      import("./stored-triggers.ts"),
      import("./event-queue.ts"),
    ]);
    const make = () => new ChangedFiles(new Triggers(place.place));
    const files = this.#files.getOrInsertComputed(placeName(place.place), make);
    for (const trigger of watched) {
      const { isFull } = await files.look(trigger, async (event) => {
        const { result } = await offer(trigger, event, { place: place.place, store });
        return result !== "full";
      });
      if (isFull) log.debug(`The trigger ${trigger.id} does not watch all of its files: there are too many`);
    }
  }

  async #lookAtResources(triggers: readonly Trigger[], place: ScheduledPlace): Promise<void> {
    const watched = triggers.filter((each): each is ResourceTrigger => each.on.kind === "resource");
    if (watched.length === 0 || !this.#options.watches) return;
    const { log, store } = this.#options;
    const [{ ResourceUpdates }, { offer }] = await Promise.all([
      import("./resource-updates.ts"),
      import("./event-queue.ts"),
    ]);
    const make = () => new ResourceUpdates(log);
    const updates = this.#resources.getOrInsertComputed(placeName(place.place), make);
    const { parts } = await place.open();
    for (const trigger of watched) {
      await updates.look(trigger, parts.pool, async (event) => {
        const { result } = await offer(trigger, event, { place: place.place, store });
        return result !== "full";
      });
    }
  }

  async #lookAtLists(triggers: readonly Trigger[], place: ScheduledPlace): Promise<void> {
    const watched = triggers.filter((each): each is ListTrigger => each.on.kind === "list");
    if (watched.length === 0 || !this.#options.watches) return;
    const { log, store } = this.#options;
    const [{ ListChanges }, { Triggers }, { offer }] = await Promise.all([
      import("./list-changes.ts"),
      import("./stored-triggers.ts"),
      import("./event-queue.ts"),
    ]);
    const make = () => new ListChanges(new Triggers(place.place), log);
    const lists = this.#lists.getOrInsertComputed(placeName(place.place), make);
    const { parts } = await place.open();
    for (const trigger of watched) {
      await lists.look(trigger, parts.pool, async (event) => {
        const { result } = await offer(trigger, event, { place: place.place, store });
        return result !== "full";
      });
    }
  }

  /** What has become of programs, whatever has started them. */
  async #lookAtOutcomes(triggers: readonly Trigger[], place: ScheduledPlace): Promise<void> {
    const following = triggers.filter((each): each is OutcomeTrigger => each.on.kind === "after");
    if (following.length === 0) return;
    const { endedPrograms, unbegunPrograms, waitingPrograms } = await import("./outcomes.ts");
    const { parts } = await place.open();
    const now = this.#now();
    const all = [
      ...(await waitingPrograms(following, parts)),
      ...(await endedPrograms(following, parts, now)),
      ...(await unbegunPrograms(following, place.place, now)),
    ];
    for (const news of all) await this.#pass(news, following, place);
  }

  /** Puts news of a program into the queue of each trigger that follows it. */
  async #pass(news: ProgramNews, triggers: readonly Trigger[], place: ScheduledPlace): Promise<void> {
    const [{ follows, outcomeEvent }, { offer }] = await Promise.all([
      import("./outcomes.ts"),
      import("./event-queue.ts"),
    ]);
    const passed = (trigger: Trigger) => JSON.stringify([placeName(place.place), trigger.id, news.event]);
    const following = triggers.filter((each) => follows(each, news) && !this.#passed.has(passed(each)));
    if (following.length === 0) return;
    if (this.#passed.size > maxKnownOutcomes) this.#passed.clear();
    const { executions, parts } = await place.open();
    const { store } = this.#options;
    for (const trigger of following) {
      const { id, notify, hasContents } = trigger;
      const known = await store.deliveries.known(placeName(place.place), id, [news.event]);
      const told = { hasContents: !notify || hasContents === true };
      const event = known.length > 0 ? undefined : await outcomeEvent(news, executions, parts, told);
      const { result } = event ? await offer(trigger, event, { place: place.place, store }) : { result: "known" };
      if (result !== "full" || notify?.kind === "agent") this.#passed.add(passed(trigger));
    }
  }

  async #tidy(): Promise<void> {
    const now = this.#now();
    if (now < this.#tidiedAt + tidyMs) return;
    this.#tidiedAt = now;
    const { store } = this.#options;
    if (!(await store.mayTidy("deliveries"))) return;
    await store.deliveries.tidy({ done: now - keptMs.done, dead: now - keptMs.dead });
  }
}

/** In the order of their ids. */
async function triggersAt(place: SavedProgramsPlace): Promise<Trigger[]> {
  const { Triggers } = await import("./stored-triggers.ts");
  return new Triggers(place).all();
}
