/** Runs saved programs for what has happened: each delivery of the queue once, whatever process is killed meanwhile. */
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import type { Log } from "../../base/log.ts";
import { hourMs, minuteMs } from "../../base/units.ts";
import type { Read } from "../../policy/flow/session-reads.ts";
import type { Outcome } from "../../sandbox/contract.ts";
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
import { mappedInput } from "./conditions.ts";
import { placeName } from "./places.ts";
import { eventInput, type Trigger } from "./triggers.ts";

/** Programs that events have started and that one process runs at once. */
const maxBusyDeliveries = 8;

/** How long a program keeps others from beginning: it may wait for a person for days. */
const busyMs = minuteMs;

/** How long another process that has claimed a delivery may take to store its execution. */
const claimMs = 5_000;

/** How long after the claim an execution may still be begun if there is none: later, it may have been removed after its end. */
const beginMs = hourMs;

export interface RunnerOptions {
  store: Store;
  log: Log;
  /** Called after the outcome of a program, before its delivery ends. */
  onEnded(delivery: StoredDelivery, outcome: Outcome, place: ScheduledPlace): Promise<void>;
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
  /** Those that this process has begun, and that keep others from beginning: each until its time is over. */
  readonly #busy = new Map<string, NodeJS.Timeout>();

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** Waits for what other processes have claimed, and begins it if they have died before they could. */
  async recover(triggers: readonly Trigger[], place: ScheduledPlace): Promise<void> {
    const { store, now } = this.#options;
    for (const delivery of await store.deliveries.running(placeName(place.place), now() - claimMs)) {
      if (this.#options.isClosing()) return;
      if (this.#running.has(delivery.id)) continue;
      const trigger = triggers.find(({ id }) => id === delivery.triggerId);
      this.#run(delivery, trigger, place);
    }
  }

  /** Begins what may begin now. */
  async begin(triggers: readonly Trigger[], place: ScheduledPlace): Promise<void> {
    const { store, now } = this.#options;
    for (const trigger of triggers) {
      const room = maxBusyDeliveries - this.#busy.size;
      if (room <= 0 || this.#options.isClosing()) return;
      for (const delivery of await store.deliveries.due(placeName(place.place), trigger.id, now(), room)) {
        const use = this.#oneRun(trigger, place);
        if (this.#options.isClosing() || (await store.quotas.take([use]))) break;
        const execution = newId(now());
        const { id, attempts } = delivery;
        if (!(await store.deliveries.claim(id, attempts, execution, now()))) {
          // Another process runs it, and has counted it.
          await store.quotas.add([{ ...use, amount: -1 }]);
          continue;
        }
        this.#keepBusy(id);
        this.#run({ ...delivery, attempts: attempts + 1, execution, claimedAt: now() }, trigger, place);
      }
    }
  }

  /** One more run of the trigger in this minute, by all processes together. */
  #oneRun({ id, perMinute }: Trigger, { place }: ScheduledPlace): LimitedUse {
    const from = Math.floor(this.#options.now() / minuteMs) * minuteMs;
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
    const { now, log, onEnded } = this.#options;
    const { id, program, attempts } = delivery;
    let execution: FollowedExecution;
    let opened: Opened;
    let isWhole = false;
    try {
      opened = await place.open();
      const found = await earlier(delivery.execution!, opened.executions, opened.parts);
      if (!found && now() > delivery.claimedAt! + beginMs) {
        await this.#end(delivery, { state: "dead", message: "nobody knows whether its program has run" });
        return;
      }
      isWhole = found === undefined;
      execution = found ?? (await this.#begun(delivery, trigger, opened, place));
    } catch (error) {
      if (!this.#options.isClosing()) await this.#end(delivery, endOfFailedStart(error, attempts, now()));
      return;
    }
    log.info(`runs ${program} for the delivery ${id}`);
    const outcome = await execution.outcome;
    // Another process continues it.
    if (this.#options.isClosing()) return;
    await onEnded(delivery, outcome, place);
    await this.#end(delivery, endOfOutcome(outcome, { attempts, now: now(), isWhole }, opened.parts.catalog));
  }

  /** Only one process can store an execution with this id, and it runs when it is stored. */
  async #begun(
    delivery: StoredDelivery,
    trigger: Trigger | undefined,
    { executions, parts }: Opened,
    { place }: ScheduledPlace,
  ): Promise<FollowedExecution> {
    const { unattendedProgram } = await import("../saved/unattended.ts");
    const program = await unattendedProgram(delivery.program, place, parts);
    const event = JSON.parse(delivery.payload) as JsonObject;
    const takesEvent = Object.hasOwn(Object(program.input["properties"]), eventInput);
    const input = {
      ...trigger?.input,
      ...(trigger ? mappedInput(trigger, event) : {}),
      ...(takesEvent ? { [eventInput]: event } : {}),
    };
    const request = await requestFor(program, input);
    // The process that claims the delivery next begins it.
    if (this.#options.isClosing()) throw new ClaudikinsError("CANCELLED", "claudikins is closing");
    const labels = [...(program.labels ?? []), ...(JSON.parse(delivery.labels) as Read[])];
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

  async #end(delivery: StoredDelivery, end: AttemptEnd): Promise<void> {
    const { store, log, now } = this.#options;
    const { id, program, execution } = delivery;
    if (end.message !== undefined) log.warn(`${program}, delivery ${id}, ${end.state}: ${end.message}`);
    await store.deliveries.end(id, execution!, end, now());
  }
}
