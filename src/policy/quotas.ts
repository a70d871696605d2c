/** Keeps the total usage of all programs and calls within the quotas of the config, the door and the server. */
import { setTimeout as sleep } from "node:timers/promises";
import { ClaudikinsError } from "../base/errors.ts";
import { Semaphore } from "../base/semaphore.ts";
import { dayMs, megabyte, minuteMs } from "../base/units.ts";
import type { Config, ServerConfig } from "../config/load.ts";
import type { QuotaOwner, Quotas } from "../config/quotas.ts";
import type { LimitedUse, QuotaRows, QuotaUse } from "../store/quotas.ts";
import type { Store } from "../store/store.ts";

/** Time until a call over a quota is refused. */
const refusedCallMs = 100;

interface QuotasOptions {
  /** The owners in the current config. */
  owners: () => readonly QuotaOwner[];
  servers: ReadonlyMap<string, Pick<ServerConfig, "quotas">>;
  /** The config, for the keys of its servers. */
  config: string;
  store: Store;
  /** Set behind a door: the quotas of the whole config. Concurrent calls and executions count for both. */
  parent?: UsageQuotas | undefined;
}

/** A quota that is used up until the end of its time span. */
interface Reached extends LimitedUse {
  owner: QuotaOwner;
  kind: keyof Quotas;
  /** `60 calls a minute`. */
  what: string;
}

interface CountedCall<T> {
  server: string;
  /** The execution that makes the call. Executions get places in turn. */
  execution: string | undefined;
  /** Its token or person. Owners get places in turn too. */
  owner: string | undefined;
  signal: AbortSignal | undefined;
  argumentBytes: () => number;
  resultBytes: (result: T) => number;
}

export class UsageQuotas {
  readonly #options: QuotasOptions;
  /** By owner and limit. */
  readonly #semaphores: Map<string, Semaphore>;
  /** The last quota that was found used up. It need not be checked again until the end of its time span. */
  #reached: Reached | undefined;

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
    { server, execution = "", owner: caller, signal, argumentBytes, resultBytes }: CountedCall<T>,
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
        if ((await semaphore.acquire(signal, key, caller)) === false) {
          throw new ClaudikinsError("CANCELLED", `The call of ${server} was cancelled before its turn`);
        }
        held.push(semaphore);
      }
      await this.#count(owners, signal);
      const result = await make();
      await this.#addBytes(owners, () => argumentBytes() + resultBytes(result));
      return result;
    } finally {
      for (const each of held) each.release(caller);
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
    return quotas ? [...owners(), ...ownerOfServer(server, quotas, config)] : owners();
  }

  /** A changed count creates another semaphore. Running calls keep the old one. */
  #semaphore(what: string, count: number): Semaphore {
    return this.#semaphores.getOrInsertComputed(`${what} ${count}`, () => Semaphore.shared(count));
  }

  /** Counts a call, unless a quota is used up. */
  async #count(owners: readonly QuotaOwner[], signal: AbortSignal | undefined): Promise<void> {
    if (owners.every(({ quotas }) => (quotas.callsPerMinute ?? quotas.mbPerDay) === undefined)) return;
    const now = Date.now();
    const known = this.#reached && this.#reached.to > now && owners.includes(this.#reached.owner);
    const reached = known ? this.#reached : await this.#options.store.quotas.take(usesOf(owners, now));
    this.#reached = reached;
    if (!reached) return;
    // A program that calls again and again must not keep others waiting.
    await sleep(refusedCallMs, undefined, { signal }).catch(() => {});
    const { owner, to, what } = reached;
    const seconds = Math.ceil((to - now) / 1_000);
    throw new ClaudikinsError("QUOTA_REACHED", `${what} is the quota of ${owner.name}, and it is used up`, {
      hint: `The next call is possible in ${seconds} s, at ${new Date(to).toISOString()}.`,
    });
  }

  async #addBytes(owners: readonly QuotaOwner[], bytes: () => number): Promise<void> {
    const counted = owners.filter(({ quotas }) => quotas.mbPerDay !== undefined);
    if (counted.length === 0) return;
    const amount = bytes();
    const day = spanOf(Date.now(), dayMs);
    await this.#options.store.quotas.add(counted.map((owner) => ({ ...bytesIn(owner, day), amount })));
  }
}

type Span = Pick<QuotaUse, "from" | "to">;

/** The usage of a call. Its bytes are counted later. */
function usesOf(owners: readonly QuotaOwner[], now: number): Reached[] {
  const [minute, day] = [spanOf(now, minuteMs), spanOf(now, dayMs)];
  return owners.flatMap((owner) => {
    const { callsPerMinute: calls, mbPerDay: mb } = owner.quotas;
    const uses: Reached[] = [];
    if (calls !== undefined) {
      const what = `${calls} ${calls === 1 ? "call" : "calls"} a minute`;
      uses.push({ ...callsIn(owner, minute), limit: calls, owner, kind: "callsPerMinute", what });
    }
    if (mb !== undefined) {
      uses.push({ ...bytesIn(owner, day), limit: mb * megabyte, owner, kind: "mbPerDay", what: `${mb} MB a day` });
    }
    return uses;
  });
}

function spanOf(now: number, lengthMs: number): Span {
  const from = now - (now % lengthMs);
  return { from, to: from + lengthMs };
}

/** One limit of an owner, and how much of it is used. */
export interface QuotaState {
  /** The owner of the quota: `the door "qa"`. */
  owner: string;
  kind: keyof Quotas;
  /** Calls, programs, or for `mbPerDay` megabytes. */
  limit: number;
  /** In the same unit. Undefined for what is used at the same time, which each process counts for itself. */
  used?: number | undefined;
  /** When the count begins again, in milliseconds since 1970. */
  to?: number | undefined;
}

/** The quotas of the config, its doors and its servers, with what is used of them now. Nothing is counted. */
export async function quotaStates(
  { quotas, doorQuotas = [], servers, origin }: Pick<Config, "quotas" | "doorQuotas" | "servers" | "origin">,
  rows: Pick<QuotaRows, "read">,
  now = Date.now(),
): Promise<QuotaState[]> {
  const config = origin.kind === "demo" ? "" : origin.file;
  const ofServers = [...servers].flatMap(([name, server]) => ownerOfServer(name, server.quotas, config));
  const owners = [...quotas, ...doorQuotas, ...ofServers];
  const uses = usesOf(owners, now);
  const used = await rows.read(uses);
  return owners.flatMap((owner) => {
    const counted = uses.flatMap((use, place): QuotaState[] => {
      if (use.owner !== owner) return [];
      const unit = use.kind === "mbPerDay" ? megabyte : 1;
      return [
        { owner: owner.name, kind: use.kind, limit: use.limit / unit, used: (used[place] ?? 0) / unit, to: use.to },
      ];
    });
    const atOnce = (["callsAtOnce", "executionsAtOnce"] as const).flatMap((kind): QuotaState[] => {
      const limit = owner.quotas[kind];
      return limit === undefined ? [] : [{ owner: owner.name, kind, limit }];
    });
    return [...counted, ...atOnce];
  });
}

function ownerOfServer(server: string, quotas: Quotas | undefined, config: string): QuotaOwner[] {
  const key = JSON.stringify([config, "server", server]);
  return quotas ? [{ name: `the server "${server}"`, key, quotas }] : [];
}

const callsIn = ({ key }: QuotaOwner, span: Span): QuotaUse => ({ key: `${key} calls`, ...span, amount: 1 });
const bytesIn = ({ key }: QuotaOwner, span: Span): QuotaUse => ({ key: `${key} bytes`, ...span, amount: 0 });
