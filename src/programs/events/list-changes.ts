/** Changed lists of servers, as events. The list is compared with what the trigger has noted, so that changes are also found after a restart. */
import { messageOf, toClaudikinsError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { sha256 } from "../../base/sha256.ts";
import { minuteMs } from "../../base/units.ts";
import type { Pool } from "../../servers/pool.ts";
import type { OfferedEvent } from "./event-queue.ts";
import type { ListedKind, ListSource, Trigger, Triggers } from "./stored-triggers.ts";

/** Time after which a list is asked for although its server has announced nothing: the server may have been restarted, or announce nothing. */
const listAgainMs = 10 * minuteMs;

/** Time until a list that has failed is asked for again. */
const failedListMs = minuteMs;

/** Entries of a list that are compared. The others are left out. */
const maxComparedEntries = 5_000;

/** Names of one kind in an event. */
const maxNamedEntries = 1_000;

/** Letters of the digest of an entry. */
const digestLetters = 16;

/** The entry that counts the changes, so that the same change later is another event. No tool, resource or prompt has this name. */
const changesKey = "";

export type ListTrigger = Trigger & { on: ListSource };

type ListingPool = Pick<
  Pool,
  "keepConnected" | "listPrompts" | "listResources" | "listTools" | "onListChanged" | "refuseRequest"
>;

interface Listed {
  /** The digests of the entries by their names, since the last look. */
  entries: Map<string, string> | undefined;
  againAt: number;
  isAsking: boolean;
  /** Lets the server become idle. */
  leave: () => void;
}

export class ListChanges {
  readonly #log: Log;
  readonly #triggers: Triggers;
  readonly #closing = new AbortController();
  /** By the ids of triggers. */
  readonly #listed = new Map<string, Listed>();
  #stopListening: (() => void) | undefined;

  constructor(triggers: Triggers, log: Log) {
    this.#triggers = triggers;
    this.#log = log;
  }

  /** Gives the changes of the list since the last look to `put`, as one event, and notes them once `put` has kept it. */
  async look(trigger: ListTrigger, pool: ListingPool, put: (event: OfferedEvent) => Promise<boolean>): Promise<void> {
    this.#stopListening ??= pool.onListChanged((server, list) => this.#changed(server, list));
    const make = () => ({ entries: undefined, againAt: 0, isAsking: false, leave: () => {} });
    const found = this.#listed.getOrInsertComputed(trigger.id, make);
    const { entries } = found;
    found.entries = undefined;
    if (entries) await this.#compare(entries, trigger, put);
    if (found.isAsking || Date.now() < found.againAt) return;
    void this.#ask(trigger, pool, found);
  }

  #changed(server: string, list: ListedKind): void {
    for (const { id, on } of this.#triggers.all()) {
      const found = on.kind === "list" && on.server === server && on.list === list ? this.#listed.get(id) : undefined;
      if (found) found.againAt = 0;
    }
  }

  async #ask({ id, on }: ListTrigger, pool: ListingPool, found: Listed): Promise<void> {
    const { signal } = this.#closing;
    found.isAsking = true;
    found.againAt = Date.now() + listAgainMs;
    try {
      const listed = await entriesOf(on, pool, signal);
      if (signal.aborted) return;
      found.leave();
      found.leave = pool.keepConnected(on.server);
      found.entries = listed;
    } catch (error) {
      found.againAt = Date.now() + failedListMs;
      if (!signal.aborted)
        this.#log.warn(`The trigger ${id} cannot list the ${on.list} of ${on.server}: ${messageOf(error)}`);
    } finally {
      found.isAsking = false;
    }
  }

  async #compare(
    entries: ReadonlyMap<string, string>,
    { id, on }: ListTrigger,
    put: (event: OfferedEvent) => Promise<boolean>,
  ): Promise<void> {
    const noted = this.#triggers.seenFiles(id);
    const before = new Map(noted);
    const changes = Number(before.get(changesKey) ?? 0);
    before.delete(changesKey);
    const change = {
      added: [...entries.keys()].filter((name) => !before.has(name)),
      removed: [...before.keys()].filter((name) => !entries.has(name)),
      changed: [...entries].flatMap(([name, look]) => (before.has(name) && before.get(name) !== look ? [name] : [])),
    };
    if (noted && Object.values(change).every((names) => names.length === 0)) return;
    const named = Object.entries(change).map(([kind, names]) => [kind, names.slice(0, maxNamedEntries)]);
    const content = { kind: "list", server: on.server, list: on.list, ...Object.fromEntries(named) };
    // If the process ends before it has noted the change, the next one finds the same change again, or a larger one.
    const name = `change ${changes + 1} ${sha256(JSON.stringify([...entries])).slice(0, digestLetters)}`;
    // The list that is there when the trigger is added is no event.
    if (noted && !(await put({ name, content }))) return;
    await this.#triggers.noteFiles(id, new Map([...entries, [changesKey, String(noted ? changes + 1 : 0)]]));
  }

  close(): void {
    this.#closing.abort();
    this.#stopListening?.();
    for (const { leave } of this.#listed.values()) leave();
  }
}

/** The digests of the entries by their names, or by their URIs. Tools that the config denies are left out. */
async function entriesOf(
  { server, list }: ListSource,
  pool: ListingPool,
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const listed: readonly object[] =
    list === "tools"
      ? (await pool.listTools(server, { signal })).filter(({ name }) => !isDenied(server, name, pool))
      : list === "resources"
        ? await pool.listResources(server, { signal })
        : await pool.listPrompts(server, { signal });
  const all = listed.slice(0, maxComparedEntries).map((entry): [string, string] => {
    const { name, uri } = entry as { name?: unknown; uri?: unknown };
    return [String(list === "resources" ? uri : name), sha256(JSON.stringify(entry)).slice(0, digestLetters)];
  });
  return new Map(all.filter(([name]) => name !== changesKey));
}

function isDenied(server: string, name: string, pool: ListingPool): boolean {
  try {
    pool.refuseRequest(server, { method: "tools/call", params: { name } });
    return false;
  } catch (error) {
    return toClaudikinsError(error).code === "POLICY_DENIED";
  }
}
