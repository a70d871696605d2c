/** Keeps what all programs and calls together use within the quotas of the config, the door and the server. */
import { ClaudikinsError } from "../base/errors.ts";
import { Semaphore } from "../base/semaphore.ts";
import { dayMs, megabyte, minuteMs } from "../base/units.ts";
import type { ServerConfig } from "../config/load.ts";
import type { QuotaOwner } from "../config/quotas.ts";
import { QuotaTable, type QuotaUse } from "../store/quota-uses.ts";
import type { Store } from "../store/store.ts";

interface QuotasOptions {
  /** The owners as the config is now. */
  owners: () => readonly QuotaOwner[];
  servers: ReadonlyMap<string, Pick<ServerConfig, "quotas">>;
  /** The config, for the keys of its servers. */
  config: string;
  store: Store;
  /** Whose concurrent calls and executions count together with ours: those of the whole config, behind a door. */
  parent?: UsageQuotas | undefined;
}

interface CountedCall<T> {
  server: string;
  /** The execution that makes the call. Executions get places in turn. */
  execution: string | undefined;
  signal: AbortSignal | undefined;
  argumentBytes: () => number;
  resultBytes: (result: T) => number;
}

export class UsageQuotas {
  readonly #options: QuotasOptions;
  /** By the owner and what is limited. */
  readonly #semaphores: Map<string, Semaphore>;

  constructor(options: QuotasOptions) {
    this.#options = options;
    this.#semaphores = options.parent ? options.parent.#semaphores : new Map();
  }

  /** Whether a call of the server counts for a quota. */
  counts(server: string): boolean {
    return this.#ownersOf(server).some(({ quotas }) => quotas.callsPerMinute ?? quotas.callsAtOnce ?? quotas.mbPerDay);
  }

  /**
   * Makes the call when it is its turn. Throws QUOTA_REACHED if the calls of the minute or the megabytes of the day are used up, CANCELLED,
   * FILE_NOT_WRITABLE if the count cannot be kept, and what the call throws.
   */
  async call<T>(
    { server, execution = "", signal, argumentBytes, resultBytes }: CountedCall<T>,
    make: () => Promise<T>,
  ): Promise<T> {
    const owners = this.#ownersOf(server);
    const key = execution.split("-", 1)[0] ?? "";
    const held: Semaphore[] = [];
    try {
      for (const { key: owner, quotas } of owners) {
        const { callsAtOnce } = quotas;
        if (callsAtOnce === undefined) continue;
        const semaphore = this.#semaphore(`${owner} calls`, callsAtOnce);
        if ((await semaphore.acquire(signal, key)) === false) {
          throw new ClaudikinsError("CANCELLED", `The call of ${server} was cancelled before its turn`);
        }
        held.push(semaphore);
      }
      await this.#count(owners);
      const result = await make();
      await this.#addBytes(owners, () => argumentBytes() + resultBytes(result));
      return result;
    } finally {
      for (const each of held) each.release();
    }
  }

  /** The limits of concurrent executions. */
  executionTurns(): Semaphore[] {
    return this.#options.owners().flatMap(({ key, quotas: { executionsAtOnce } }) => {
      return executionsAtOnce === undefined ? [] : [this.#semaphore(`${key} executions`, executionsAtOnce)];
    });
  }

  #ownersOf(server: string): readonly QuotaOwner[] {
    const { owners, servers, config } = this.#options;
    const quotas = servers.get(server)?.quotas;
    if (!quotas) return owners();
    return [...owners(), { name: `the server "${server}"`, key: JSON.stringify([config, "server", server]), quotas }];
  }

  /** A changed count makes another semaphore. Calls that run keep the one that they have. */
  #semaphore(what: string, count: number): Semaphore {
    return this.#semaphores.getOrInsertComputed(`${what} ${count}`, () => new Semaphore(count));
  }

  /** Counts a call, unless a quota is used up. */
  async #count(owners: readonly QuotaOwner[]): Promise<void> {
    const now = Date.now();
    const minute = spanOf(now, minuteMs);
    const day = spanOf(now, dayMs);
    if (owners.every(({ quotas }) => (quotas.callsPerMinute ?? quotas.mbPerDay) === undefined)) return;
    const reached = await this.#options.store.write((database) => {
      const table = new QuotaTable(database);
      for (const owner of owners) {
        const { callsPerMinute, mbPerDay } = owner.quotas;
        if (callsPerMinute !== undefined && table.used(callsIn(owner, minute)) >= callsPerMinute) {
          return { owner, span: minute, what: `${callsPerMinute} ${callsPerMinute === 1 ? "call" : "calls"} a minute` };
        }
        if (mbPerDay !== undefined && table.used(bytesIn(owner, day)) >= mbPerDay * megabyte) {
          return { owner, span: day, what: `${mbPerDay} MB a day` };
        }
      }
      for (const owner of owners) if (owner.quotas.callsPerMinute !== undefined) table.add(callsIn(owner, minute));
      return undefined;
    });
    if (!reached) return;
    const { owner, span, what } = reached;
    const seconds = Math.ceil((span.to - now) / 1_000);
    throw new ClaudikinsError("QUOTA_REACHED", `${what} is the quota of ${owner.name}, and it is used up`, {
      hint: `The next call is possible in ${seconds} s, at ${new Date(span.to).toISOString()}.`,
    });
  }

  async #addBytes(owners: readonly QuotaOwner[], bytes: () => number): Promise<void> {
    const counted = owners.filter(({ quotas }) => quotas.mbPerDay !== undefined);
    if (counted.length === 0) return;
    const amount = bytes();
    const day = spanOf(Date.now(), dayMs);
    await this.#options.store.write((database) => {
      const table = new QuotaTable(database);
      for (const owner of counted) table.add({ ...bytesIn(owner, day), amount });
    });
  }
}

type Span = Pick<QuotaUse, "from" | "to">;

function spanOf(now: number, lengthMs: number): Span {
  const from = now - (now % lengthMs);
  return { from, to: from + lengthMs };
}

const callsIn = ({ key }: QuotaOwner, span: Span): QuotaUse => ({ key: `${key} calls`, ...span, amount: 1 });
const bytesIn = ({ key }: QuotaOwner, span: Span): QuotaUse => ({ key: `${key} bytes`, ...span, amount: 0 });
