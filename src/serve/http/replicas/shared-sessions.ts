/** The sessions of one place in the store, so that other replicas find them, and take them over when this one is dead. */
import type { InitializeRequest } from "@modelcontextprotocol/server";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { AdoptedSession, Replica, SessionRows } from "../../../store/replicas.ts";

/** A session of this replica. */
export interface OwnSession {
  /** The digest of its id. */
  id: string;
  /** Time without use, in milliseconds. */
  unusedMs: number;
  /** Whether its client is connected. */
  isConnected: boolean;
}

/**
 * The row of a session lasts for this many times `idleMs` while its client is connected, and for at most `idleMs` afterwards. Rows are
 * renewed before `idleMs` is over, so the time of a row tells other replicas whether the client is connected.
 */
const connectedIdles = 2;

export interface SharedSessionsOptions {
  rows: SessionRows;
  /** This replica. It has joined the others before any session begins. */
  replica: () => Replica;
  /** The config and the door. */
  place: string;
  /** A session without requests and connections ends after this time. */
  idleMs: number;
  log: Log;
  /**
   * The sessions of this process, by the digests of their ids. The value is how often the others may have counted this replica as dead, as of
   * the moment when it last knew that the session was its own.
   */
  here: Map<string, number>;
}

export interface NewSession {
  /** The digest of its id. */
  id: string;
  owner: string | undefined;
  client: string;
  parameters: InitializeRequest["params"];
}

export class SharedSessions {
  readonly #options: SharedSessionsOptions;
  /** The contents of the rows when they were written last. A session that begins at this moment has no row. */
  readonly #renewed = new Map<string, { at: number; isConnected: boolean }>();
  /** Sessions that have ended, and whose rows are not removed yet. */
  readonly #ended = new Set<string>();
  readonly #working = new Map<string, Promise<void>>();
  #lapses = 0;

  constructor(options: SharedSessionsOptions) {
    this.#options = options;
  }

  get #replica(): Replica {
    return this.#options.replica();
  }

  /** Resolves when other replicas can find the session. */
  async begin({ id, owner, client, parameters }: NewSession): Promise<void> {
    const { rows, place, idleMs } = this.#options;
    const session = { id, place, owner: owner ?? null, client, parameters: JSON.stringify(parameters), kept: "{}" };
    await rows.begin(session, this.#replica.name, connectedIdles * idleMs);
    this.#isHere(id);
  }

  /** Whether the client of a session is connected to a replica that is alive. */
  async isConnected(id: string): Promise<boolean> {
    const { rows, idleMs } = this.#options;
    return rows.outlasts(id, idleMs);
  }

  /** Takes over a session whose replica is dead. Undefined if this owner has no such session. */
  adopt(id: string, owner: string | undefined): Promise<AdoptedSession | undefined> {
    const { rows, place, idleMs } = this.#options;
    return rows.adopt({ id, place, owner: owner ?? null }, this.#replica.name, connectedIdles * idleMs);
  }

  /** Whether another replica that is alive has a session. */
  async isElsewhere(id: string): Promise<boolean> {
    const found = await this.#options.rows.find(id);
    return found !== undefined && found.replica !== this.#replica.name;
  }

  /** The session that was adopted is open. */
  adopted(id: string): void {
    this.#isHere(id);
  }

  /** Stores what the client has set. Never throws. */
  keep(id: string, kept: string): void {
    const { rows } = this.#options;
    const work = async () => {
      await this.#working.get(id);
      await rows.keep(id, this.#replica.name, kept);
    };
    this.#later(id, work());
  }

  /** Whether no other replica can have taken over a session. */
  get isSure(): boolean {
    const replica = this.#replica;
    return replica.holds && replica.lapses === this.#lapses;
  }

  /** Checks which sessions this replica still has. Returns the lost ones. Throws DATABASE_UNAVAILABLE. */
  async confirm(sessions: readonly OwnSession[]): Promise<string[]> {
    const replica = this.#replica;
    await replica.confirm();
    const { lapses } = replica;
    const lost = await this.#renew(sessions.filter(({ id }) => this.#renewed.has(id)));
    this.#lapses = lapses;
    return lost;
  }

  /** Prolongs the sessions from time to time. Returns the sessions that another replica has. Never throws. */
  async tend(sessions: readonly OwnSession[]): Promise<string[]> {
    const { idleMs, log } = this.#options;
    const before = performance.now() - idleMs / 8;
    try {
      for (const id of this.#ended) await this.#remove(id);
      if (!this.isSure) return await this.confirm(sessions);
      const due = sessions.filter(({ id, isConnected }) => {
        const last = this.#renewed.get(id);
        return last && (last.at < before || last.isConnected !== isConnected);
      });
      return due.length === 0 ? [] : await this.#renew(due);
    } catch (error) {
      log.debug(`Cannot renew sessions: ${messageOf(error)}`);
      return [];
    }
  }

  async #renew(sessions: readonly OwnSession[]): Promise<string[]> {
    const { rows, idleMs } = this.#options;
    const times = sessions.map(({ id, unusedMs, isConnected }) => {
      return { id, ms: isConnected ? connectedIdles * idleMs : Math.max(idleMs - unusedMs, 1) };
    });
    const { name, lapses } = this.#replica;
    const kept = await rows.renew(times, name);
    // A session may have ended meanwhile.
    for (const { id, isConnected } of sessions)
      if (kept.has(id) && this.#options.here.has(id)) this.#isHere(id, { isConnected, lapses });
    return sessions.flatMap(({ id }) => (kept.has(id) ? [] : [id]));
  }

  /**
   * Leaves sessions to the replica that gets their next requests. Requests for them are no longer taken here. Throws DATABASE_UNAVAILABLE: then
   * they are free when the lease of this replica has ended.
   */
  async handOver(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#forget(id);
    // The next replica reads what is being written now.
    await Promise.all(ids.map((id) => this.#working.get(id)));
    await this.#options.rows.leave(ids, this.#replica.name);
  }

  #forget(id: string): void {
    this.#options.here.delete(id);
    this.#renewed.delete(id);
  }

  /** The session has ended, or another replica continues it. */
  end(id: string, isHandedOver: boolean): void {
    this.#forget(id);
    if (isHandedOver) return;
    this.#ended.add(id);
    this.#later(id, this.#remove(id));
  }

  /** Resolves when everything so far is written. */
  async settled(): Promise<void> {
    await Promise.all(this.#working.values());
  }

  async #remove(id: string): Promise<void> {
    const { rows } = this.#options;
    await rows.end(id, this.#replica.name);
    this.#ended.delete(id);
  }

  /** `lapses` are those before it was asked whether the session is here. */
  #isHere(id: string, { isConnected = true, lapses = this.#replica.lapses } = {}): void {
    this.#options.here.set(id, lapses);
    this.#renewed.set(id, { at: performance.now(), isConnected });
  }

  #later(id: string, work: Promise<void>): void {
    const { log } = this.#options;
    const done = work
      .catch((error) => log.warn(`Cannot write a session: ${messageOf(error)}`))
      .finally(() => {
        if (this.#working.get(id) === done) this.#working.delete(id);
      });
    this.#working.set(id, done);
  }
}
