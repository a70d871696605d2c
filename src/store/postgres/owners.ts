/** The processes that run executions or wait for approvals. Each is alive for the others as long as it renews its lease. */
import type { Owner, Reached, Replica } from "../replicas.ts";
import type { Connections } from "./connections.ts";

/** A process that does not renew its lease for this long counts as dead. */
const leaseMs = 15_000;

/** How often a lease is renewed. */
const leaseRenewedMs = 4_000;

const expiry = `clock_timestamp() + interval '${leaseMs} milliseconds'`;

/**
 * The condition that an owner is alive. Only the clock of the database counts. While the database was away, nobody could renew: after its
 * start, each lease holds for its full length.
 */
export const leaseHolds = `greatest(expires_at, pg_postmaster_start_time() + interval '${leaseMs} milliseconds') > clock_timestamp()`;

/** A condition: the process that `column` names is alive. */
export function isAliveIn(column: string): string {
  return `EXISTS (SELECT FROM claudikins.owners WHERE name = ${column} AND ${leaseHolds})`;
}

export class Owners {
  readonly #connections: Connections;
  readonly #leasing: Connections;
  readonly #leases = new Map<string, Lease>();
  /** How other processes find and reach this one. It stands in the row of each lease. */
  #reached: Reached | undefined;

  /** `leasing` is used for renewals alone, so that none of them waits behind other work: a process that cannot renew counts as dead. */
  constructor(connections: Connections, leasing: Connections) {
    this.#connections = connections;
    this.#leasing = leasing;
  }

  /** Says where other processes reach this one, and returns a lease for it. Throws DATABASE_UNAVAILABLE. */
  async join(url: string): Promise<Replica> {
    const { lease, end } = await this.#take();
    this.#reached = { replica: lease.name, url };
    await Promise.all([...this.#leases.values()].map((each) => each.renew()));
    return {
      name: lease.name,
      get holds() {
        return lease.holds;
      },
      get lapses() {
        return lease.lapses;
      },
      confirm: async () => {
        if (!lease.holds) await lease.renew();
      },
      [Symbol.asyncDispose]: end,
    };
  }

  /** This process, under a new name. Throws DATABASE_UNAVAILABLE. */
  async take(): Promise<Owner> {
    const { lease, end } = await this.#take();
    return { name: lease.name, [Symbol.asyncDispose]: end };
  }

  async #take(): Promise<{ lease: Lease; end: () => Promise<void> }> {
    await this.#forgetDead();
    const lease = new Lease(this.#leasing, () => this.#reached);
    await lease.begin();
    this.#leases.set(lease.name, lease);
    const end = async () => {
      this.#leases.delete(lease.name);
      await lease.end();
    };
    return { lease, end };
  }

  /** Whether a process is alive. */
  async isAlive(name: string): Promise<boolean> {
    const statement = `SELECT ${isAliveIn("$name")} AS is_alive`;
    const row = await this.#connections.each((querying) => querying.get<{ isAlive: boolean }>(statement, { name }));
    return row?.isAlive === true;
  }

  /** Resolves when the lease of this process is sure to hold. Throws DATABASE_UNAVAILABLE if it cannot be renewed. */
  async requireAlive(name: string): Promise<void> {
    const lease = this.#leases.get(name);
    if (lease && !lease.holds) await lease.renew();
  }

  /** Removes the leases that ended long ago. */
  async #forgetDead(): Promise<void> {
    const statement = "DELETE FROM claudikins.owners WHERE expires_at < clock_timestamp() - interval '1 day'";
    await this.#connections.each((querying) => querying.run(statement));
  }
}

/** The lease of this process. It is renewed until it is ended. */
class Lease {
  readonly name = crypto.randomUUID();
  readonly #connections: Connections;
  readonly #reached: () => Reached | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** How often it was renewed after it may have run out. */
  lapses = 0;
  /** A time before the last renewal, on a clock that nobody sets. */
  #renewedAt = Number.NEGATIVE_INFINITY;
  #renewing: Promise<void> | undefined;
  #hasEnded = false;

  constructor(connections: Connections, reached: () => Reached | undefined) {
    this.#connections = connections;
    this.#reached = reached;
  }

  async begin(): Promise<void> {
    await this.renew();
    // A renewal that fails is made up for by the next one.
    this.#timer = setInterval(() => void this.renew().catch(() => {}), leaseRenewedMs).unref();
  }

  /** Whether the lease surely has not run out. */
  get holds(): boolean {
    return performance.now() < this.#renewedAt + leaseMs;
  }

  renew(): Promise<void> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renew(): Promise<void> {
    await this.#connections.each(async (querying) => {
      // It may have ended between two attempts.
      if (this.#hasEnded) return;
      const before = performance.now();
      await querying.run(
        `INSERT INTO claudikins.owners (name, expires_at, replica, url) VALUES ($name, ${expiry}, $replica, $url)
         ON CONFLICT (name) DO UPDATE SET expires_at = excluded.expires_at, replica = excluded.replica, url = excluded.url`,
        { name: this.name, replica: null, url: null, ...this.#reached() },
      );
      if (!this.holds && this.#renewedAt > Number.NEGATIVE_INFINITY) this.lapses += 1;
      this.#renewedAt = before;
    });
  }

  /** Without the database, the lease runs out by itself. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    this.#hasEnded = true;
    await this.#renewing?.catch(() => {});
    const statement = "DELETE FROM claudikins.owners WHERE name = $name";
    await this.#connections.once((querying) => querying.run(statement, { name: this.name })).catch(() => {});
  }
}
