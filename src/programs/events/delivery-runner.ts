/** Runs saved programs for what has happened: each delivery of the queue once, whatever process is killed meanwhile. */
import { setTimeout as sleep } from "node:timers/promises";
import { ClaudikinsError, messageOf, toClaudikinsError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import type { Log } from "../../base/log.ts";
import { atMost } from "../../base/time-limit.ts";
import { hourMs, minuteMs } from "../../base/units.ts";
import type { Environment } from "../../config/environment.ts";
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import type { Read } from "../../policy/flow/session-reads.ts";
import type { AttemptEnd, StoredDelivery } from "../../store/deliveries.ts";
import type { LimitedUse } from "../../store/quotas.ts";
import type { Store } from "../../store/store.ts";
import type { ExecutionParts } from "../execute.ts";
import type { Executions } from "../execution/executions.ts";
import type { FollowedExecution } from "../execution/running-execution.ts";
import { earlier, requestFor } from "../saved/run.ts";
import type { ScheduledPlace } from "../saved/scheduler.ts";
import { newId } from "../trace/id.ts";
import { endOfFailedStart, endOfOutcome } from "./attempts.ts";
import { inputFor } from "./conditions.ts";
import type { Notification } from "./notify.ts";
import { newsOf, type ProgramNews } from "./outcomes.ts";
import { placeName } from "./places.ts";
import { eventInput, type Trigger } from "./stored-triggers.ts";

/** Programs that events have started and that one process runs at once. */
const maxBusyDeliveries = 8;

/** How long a program keeps others from beginning: it may wait for a person for days. */
const busyMs = minuteMs;

/** How long another process that has claimed a delivery may take to store its execution. */
const claimMs = 5_000;

/** How long after the claim an execution may still be begun if there is none: later, it may have been removed after its end. */
const beginMs = hourMs;

/** How long a notification may take at most, with all that happens around it. Afterwards, its process has died. */
const lostMs = { command: 1.5 * minuteMs, webhook: 0.5 * minuteMs, agent: 0.5 * minuteMs };

/** Time for notifications that are under way when the process ends. */
const lastNotificationMs = 5_000;

const unknown: AttemptEnd = { state: "dead", message: "nobody knows whether it was notified" };

export interface RunnerOptions {
  store: Store;
  env: Environment;
  log: Log;
  /** Called when a program has ended or could not be begun, before its delivery ends. */
  onNews(news: ProgramNews, place: ScheduledPlace): Promise<void>;
  /** Called when a delivery has ended, so that there is room for the next one. */
  onRoom(): void;
  now: () => number;
  /** Whether nothing may be started any more. */
  isClosing: () => boolean;
}

interface Opened {
  executions: Executions;
  parts: ExecutionParts;
}

export class DeliveryRunner {
  readonly #options: RunnerOptions;
  /** The deliveries that this process runs or waits for. */
  readonly #running = new Set<string>();
  /** Commands and webhooks that are under way. */
  readonly #notifying = new Set<Promise<void>>();
  /** Those that this process has begun, and that keep others from beginning: each until its time is over. */
  readonly #busy = new Map<string, NodeJS.Timeout>();

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** Waits for what other processes have claimed, and begins it if they have died before they could. */
  async recover(triggers: readonly Trigger[], place: ScheduledPlace): Promise<void> {
    const { store, now } = this.#options;
    const { Triggers } = await import("./stored-triggers.ts");
    const kept = new Triggers(place.place);
    const removed = kept.removed();
    const running = await store.deliveries.running(placeName(place.place));
    for (const delivery of running) {
      if (this.#options.isClosing()) return;
      // A clock that was set back since then makes a claim look as if it were to come.
      const claimedMs = Math.abs(now() - delivery.claimedAt!);
      if (this.#running.has(delivery.id) || claimedMs < claimMs) continue;
      const trigger = [...triggers, ...removed].find(({ id }) => id === delivery.triggerId);
      if (!trigger?.notify || trigger.notify.kind === "tool") this.#run(delivery, trigger, place);
      else if (claimedMs > lostMs[trigger.notify.kind]) await this.#end(delivery, unknown);
    }
    for (const { id } of removed) if (!running.some(({ triggerId }) => triggerId === id)) await kept.forget(id);
  }

  /** Begins what may begin now. */
  async begin(triggers: readonly Trigger[], place: ScheduledPlace): Promise<void> {
    const { store, now } = this.#options;
    for (const trigger of triggers) {
      // The next session takes it.
      if (trigger.notify?.kind === "agent") continue;
      const room = maxBusyDeliveries - this.#busy.size;
      if (room <= 0 || this.#options.isClosing()) return;
      for (const delivery of await store.deliveries.due(placeName(place.place), trigger.id, now(), room)) {
        const at = now();
        const use = this.#oneRun(trigger, place, at);
        if (this.#options.isClosing() || (await store.quotas.take([use]))) break;
        const execution = newId(at);
        const { id, attempts } = delivery;
        if (!(await store.deliveries.claim(id, attempts, execution, at))) {
          // Another process runs it, and has counted it.
          await store.quotas.add([{ ...use, amount: -1 }]);
          continue;
        }
        this.#keepBusy(id);
        this.#run({ ...delivery, attempts: attempts + 1, execution, claimedAt: at }, trigger, place);
      }
    }
  }

  /** One more run of the trigger in this minute, by all processes together. */
  #oneRun({ id, perMinute }: Trigger, { place }: ScheduledPlace, at: number): LimitedUse {
    const from = Math.floor(at / minuteMs) * minuteMs;
    const key = `events ${placeName(place)} ${id}`;
    return { key, from, to: from + minuteMs, amount: 1, limit: perMinute };
  }

  #run(delivery: StoredDelivery, trigger: Trigger | undefined, place: ScheduledPlace): void {
    const { id } = delivery;
    this.#running.add(id);
    void this.#untilEnd(delivery, trigger, place)
      .catch((error: unknown) => this.#options.log.warn(`The delivery ${id}: ${messageOf(error)}`))
      .finally(() => {
        this.#running.delete(id);
        this.#free(id);
      });
  }

  #keepBusy(id: string): void {
    this.#busy.set(id, setTimeout(() => this.#free(id), busyMs).unref());
  }

  #free(id: string): void {
    clearTimeout(this.#busy.get(id));
    if (this.#busy.delete(id)) this.#options.onRoom();
  }

  async #untilEnd(delivery: StoredDelivery, trigger: Trigger | undefined, place: ScheduledPlace): Promise<void> {
    const { now, log, onNews } = this.#options;
    const { id, program, attempts } = delivery;
    if (trigger?.notify && trigger.notify.kind !== "tool") {
      const notifying = this.#notify(delivery, { ...trigger, notify: trigger.notify }, place);
      this.#notifying.add(notifying);
      await notifying.finally(() => this.#notifying.delete(notifying));
      return;
    }
    let execution: FollowedExecution;
    let opened: Opened;
    try {
      opened = await place.open();
      const isOld = now() > delivery.claimedAt! + beginMs;
      const found = await this.#found(delivery.execution!, opened, isOld);
      if (!found && isOld) {
        const message = "nobody knows whether its program has run";
        await this.#fail(delivery, trigger, { state: "dead", message }, place);
        return;
      }
      execution = found ?? (await this.#begun(delivery, trigger, opened, place));
    } catch (error) {
      if (this.#options.isClosing()) return;
      // Its program may run elsewhere. The delivery stays claimed, and is looked at again.
      const { code } = toClaudikinsError(error);
      if (code === "DATABASE_UNAVAILABLE") throw error;
      // A program that is lost has a record of its own.
      const event = code === "EXECUTION_LOST" ? delivery.execution! : undefined;
      await this.#fail(delivery, trigger, endOfFailedStart(error, attempts, now()), place, event);
      return;
    }
    log.info(`runs ${program} for the delivery ${id}`);
    const outcome = await execution.outcome;
    // Another process continues it.
    if (this.#options.isClosing() || execution.isReleased) return;
    if (!trigger?.notify) await onNews(newsOf(delivery.execution!, program, outcome.ok, outcome), place);
    await this.#end(delivery, endOfOutcome(outcome, { attempts, now: now() }, opened.parts.catalog));
  }

  async #notify(delivery: StoredDelivery, trigger: Notification, { place }: ScheduledPlace): Promise<void> {
    const { env, now } = this.#options;
    const { notify } = await import("./notify.ts");
    await this.#end(delivery, await notify(trigger, delivery, { place, env, now }));
  }

  /** Resolves when no command and no webhook is under way, or when that takes too long. Never rejects. */
  async notified(): Promise<void> {
    await atMost(lastNotificationMs, Promise.allSettled(this.#notifying));
  }

  /** With `isPatient`, waits for a process that has claimed the delivery by another clock, and is about to store its execution. */
  async #found(id: string, { executions, parts }: Opened, isPatient: boolean): Promise<FollowedExecution | undefined> {
    const found = await earlier(id, executions, parts);
    if (found || !isPatient) return found;
    await sleep(claimMs, undefined, { ref: false });
    if (this.#options.isClosing()) throw new ClaudikinsError("CANCELLED", "claudikins is closing");
    return earlier(id, executions, parts);
  }

  /** Only one process can store an execution with this id, and it runs when it is stored. */
  async #begun(
    delivery: StoredDelivery,
    trigger: Trigger | undefined,
    { executions, parts }: Opened,
    { place }: ScheduledPlace,
  ): Promise<FollowedExecution> {
    const request = trigger?.notify
      ? (await import("./notify.ts")).callRequest(trigger, delivery)
      : await this.#programRequest(delivery, trigger, place, parts);
    // The process that claims the delivery next begins it.
    if (this.#options.isClosing()) throw new ClaudikinsError("CANCELLED", "claudikins is closing");
    const labels = [...(request.program.labels ?? []), ...(JSON.parse(delivery.labels) as Read[])];
    const asked = { ...request, program: { ...request.program, labels }, unattended: "event" } as const;
    const execution = executions.start(asked, parts, { id: delivery.execution!, isBackground: true });
    try {
      await execution.stored();
      return execution;
    } catch (error) {
      const other = await earlier(delivery.execution!, executions, parts);
      if (other) return other;
      throw error;
    }
  }

  async #programRequest(
    delivery: StoredDelivery,
    trigger: Trigger | undefined,
    place: SavedProgramsPlace,
    parts: ExecutionParts,
  ) {
    const { unattendedProgram } = await import("../saved/unattended.ts");
    const program = await unattendedProgram(delivery.program, place, parts);
    const event = JSON.parse(delivery.payload) as JsonObject;
    const takesEvent = Object.hasOwn(Object(program.input["properties"]), eventInput);
    const given = trigger ? inputFor(trigger, event) : {};
    return requestFor(program, { ...given, ...(takesEvent ? { [eventInput]: event } : {}) });
  }

  /** The end of an attempt without an outcome. `event` names the news about it. */
  async #fail(
    delivery: StoredDelivery,
    trigger: Trigger | undefined,
    end: AttemptEnd,
    place: ScheduledPlace,
    event = `delivery ${delivery.id}`,
  ): Promise<void> {
    const { program } = delivery;
    if (end.state === "dead" && !trigger?.notify) {
      const news = { program, state: "failed", event, why: end.message } as const;
      await this.#options.onNews(news, place);
    }
    await this.#end(delivery, end);
  }

  async #end(delivery: StoredDelivery, end: AttemptEnd): Promise<void> {
    const { store, log, now } = this.#options;
    const { id, program, execution } = delivery;
    if (end.message !== undefined) log.warn(`${program}, delivery ${id}, ${end.state}: ${end.message}`);
    await store.deliveries.end(id, execution!, end, now());
  }
}
