/** The queue of events that start saved programs: a row for each delivery, with what became of it. It survives the end of any process. */
import { all, type Database, first, run, type Work } from "./work.ts";

/**
 * `waiting`: it was not begun. `running`: a process has claimed it. `failed`: it is begun again at `nextAt`. `dead`: it failed, and is begun
 * again only if its user says so.
 */
export type DeliveryState = "waiting" | "running" | "done" | "failed" | "dead";

/** Times are in milliseconds since 1970. */
export interface StoredDelivery {
  /** Ids sort by time. */
  id: string;
  /** The place of the saved programs: those of a config, or of a door. They are their user's. */
  place: string;
  /** The id of the trigger. */
  triggerId: string;
  program: string;
  /** What the sender calls the event. The same trigger gets no event twice. */
  event: string;
  state: DeliveryState;
  /** How often it was begun. */
  attempts: number;
  at: number;
  /** When it may begin next. */
  nextAt: number;
  /** When its last attempt was claimed. */
  claimedAt: number | null;
  endedAt: number | null;
  /** The execution of its last attempt. */
  execution: string | null;
  /** Why the last attempt failed. */
  message: string | null;
  /** How many deliveries follow from each other with this one: 1 unless the outcome of another one caused it. */
  depth: number;
  /** JSON of what the content of the event is, such as `[{"label":"untrusted","source":"…"}]`. */
  labels: string;
  /** JSON of the input of the program. */
  payload: string;
}

/** Without its content, for lists. */
export type BriefDelivery = Omit<StoredDelivery, "payload" | "labels">;

export type NewDelivery = Pick<
  StoredDelivery,
  "id" | "place" | "triggerId" | "program" | "event" | "at" | "depth" | "labels" | "payload"
> & {
  /** Given for one that is not to be run: why. */
  dead?: string | undefined;
};

/** The end of an attempt. Without `nextAt`, no other one follows. */
export interface AttemptEnd {
  state: "done" | "failed" | "dead";
  message?: string | undefined;
  nextAt?: number | undefined;
}

export interface DeliveryRows {
  /** Adds a delivery, unless the trigger had the event before. `full`: as many of the trigger are open as there may be. */
  add(delivery: NewDelivery, maxOpen: number): Promise<{ result: "added" | "known" | "full"; id: string }>;
  /** The events of the list that the trigger had before. */
  known(place: string, triggerId: string, events: readonly string[]): Promise<string[]>;
  /** The deliveries of a trigger that may begin now, in the order in which they came. New ones may, whatever the clock of their process said. */
  due(place: string, triggerId: string, now: number, count: number): Promise<StoredDelivery[]>;
  /** Those that a process has claimed, and that have not ended. */
  running(place: string): Promise<StoredDelivery[]>;
  /** Begins an attempt, the one after `attempts`. False if another process was first. */
  claim(id: string, attempts: number, execution: string, now: number): Promise<boolean>;
  /** Ends the attempt with this execution. False if it has ended already. */
  end(id: string, execution: string, end: AttemptEnd, now: number): Promise<boolean>;
  /** Lets a dead one begin again. False if it is not dead. */
  retry(id: string, now: number): Promise<boolean>;
  get(id: string): Promise<StoredDelivery | undefined>;
  /** The delivery that has started an execution. */
  ofExecution(execution: string): Promise<BriefDelivery | undefined>;
  /** Dead ones first, and the newest of each. `program` leaves out the others. */
  list(place: string, count: number, program?: string): Promise<BriefDelivery[]>;
  /** Removes the deliveries of a trigger that were not begun. Returns their number. */
  removeWaiting(place: string, triggerId: string): Promise<number>;
  /** Removes those that ended before a time, and dead ones that ended before another. */
  tidy(before: { done: number; dead: number }): Promise<void>;
}

const brief =
  "id, place, trigger_id, program, event, state, attempts, at, next_at, claimed_at, ended_at, execution, message, depth";
const whole = `${brief}, labels, payload`;

/** In the queue: it is not at its end. */
const isOpen = "state IN ('waiting', 'running', 'failed')";

/** `durable` is the database, with writes that survive a loss of power. */
export function deliveryRows(database: Database, durable: Database = database): DeliveryRows {
  return {
    async add(delivery, maxOpen) {
      // Whoever repeats an event costs no write.
      const before = await database.read(() => knownAs(delivery));
      return before ? { result: "known", id: before.id } : durable.write(() => added(delivery, maxOpen));
    },
    async known(place, triggerId, events) {
      const statement = `SELECT event FROM claudikins.deliveries
        WHERE place = $place AND trigger_id = $triggerId AND event IN (SELECT value FROM texts($events))`;
      const found = await database.read(() => all<{ event: string }>(statement, { place, triggerId, events }));
      return found.map(({ event }) => event);
    },
    due(place, triggerId, now, count) {
      const statement = `SELECT ${whole} FROM claudikins.deliveries
        WHERE place = $place AND trigger_id = $triggerId AND (state = 'waiting' OR (state = 'failed' AND next_at <= $now))
        ORDER BY id LIMIT $count`;
      return database.read(() => all(statement, { place, triggerId, now, count }));
    },
    running(place) {
      const statement = `SELECT ${whole} FROM claudikins.deliveries WHERE place = $place AND state = 'running' ORDER BY id`;
      return database.read(() => all(statement, { place }));
    },
    async claim(id, attempts, execution, now) {
      const statement = `UPDATE claudikins.deliveries
        SET state = 'running', attempts = attempts + 1, execution = $execution, claimed_at = $now, ended_at = NULL
        WHERE id = $id AND attempts = $attempts AND state IN ('waiting', 'failed')`;
      return (await durable.write(() => run(statement, { id, attempts, execution, now }))) === 1;
    },
    async end(id, execution, { state, message, nextAt }, now) {
      const statement = `UPDATE claudikins.deliveries
        SET state = $state, message = $message, next_at = $nextAt, ended_at = $now
        WHERE id = $id AND execution = $execution AND state = 'running'`;
      return (
        (await durable.write(() => run(statement, { id, execution, state, message, nextAt: nextAt ?? now, now }))) === 1
      );
    },
    async retry(id, now) {
      const statement =
        "UPDATE claudikins.deliveries SET state = 'waiting', next_at = $now WHERE id = $id AND state = 'dead'";
      return (await durable.write(() => run(statement, { id, now }))) === 1;
    },
    get: (id) => database.read(() => first(`SELECT ${whole} FROM claudikins.deliveries WHERE id = $id`, { id })),
    ofExecution: (execution) =>
      database.read(() =>
        first(`SELECT ${brief} FROM claudikins.deliveries WHERE execution = $execution`, { execution }),
      ),
    list(place, count, program) {
      const ofProgram = program === undefined ? "" : "AND program = $program";
      const statement = `SELECT ${brief} FROM claudikins.deliveries WHERE place = $place ${ofProgram}
        ORDER BY CASE WHEN state = 'dead' THEN 0 ELSE 1 END, id DESC LIMIT $count`;
      return database.read(() => all(statement, { place, count, ...(program === undefined ? {} : { program }) }));
    },
    removeWaiting(place, triggerId) {
      const statement = `DELETE FROM claudikins.deliveries
        WHERE place = $place AND trigger_id = $triggerId AND state IN ('waiting', 'failed')`;
      return database.write(() => run(statement, { place, triggerId }));
    },
    async tidy({ done, dead }) {
      await database.write(function* () {
        yield* run("DELETE FROM claudikins.deliveries WHERE state = 'done' AND ended_at < $done", { done });
        yield* run("DELETE FROM claudikins.deliveries WHERE state = 'dead' AND ended_at < $dead", { dead });
      });
    },
  };
}

/** The delivery of the same event. */
function knownAs({ place, triggerId, event }: NewDelivery): Work<{ id: string } | undefined> {
  const statement =
    "SELECT id FROM claudikins.deliveries WHERE place = $place AND trigger_id = $triggerId AND event = $event";
  return first<{ id: string }>(statement, { place, triggerId, event });
}

function* added(
  { dead, ...delivery }: NewDelivery,
  maxOpen: number,
): Work<{ result: "added" | "known" | "full"; id: string }> {
  const { id, place, triggerId, at } = delivery;
  const before = yield* knownAs(delivery);
  if (before) return { result: "known", id: before.id };
  const open = yield* first<{ count: number }>(
    `SELECT CAST(count(*) AS DOUBLE PRECISION) AS count FROM claudikins.deliveries
     WHERE place = $place AND trigger_id = $triggerId AND ${isOpen}`,
    { place, triggerId },
  );
  if (dead === undefined && (open?.count ?? 0) >= maxOpen) return { result: "full", id };
  const state = dead === undefined ? "waiting" : "dead";
  const ended = dead === undefined ? { endedAt: null, message: null } : { endedAt: at, message: dead };
  const count = yield* run(
    `INSERT INTO claudikins.deliveries
       (id, place, trigger_id, program, event, state, attempts, at, next_at, ended_at, message, depth, labels, payload)
     VALUES ($id, $place, $triggerId, $program, $event, $state, 0, $at, $at, $endedAt, $message, $depth, $labels, $payload)
     ON CONFLICT DO NOTHING`,
    { ...delivery, state, ...ended },
  );
  if (count === 1) return { result: "added", id };
  // Another process has added the same event at this moment.
  const other = yield* knownAs(delivery);
  return { result: "known", id: other?.id ?? id };
}
