/** The servers of many hosts → one list with each of them once, and the decisions that only a person can make. */
import { networkTypeOf } from "../../config/address.ts";
import type { PortableEntry } from "../../hosts/model.ts";
import type { FoundServer } from "./find.ts";

/** Where an entry comes from: a host, or the config that is there already. */
export interface Origin {
  host: string;
  file: string;
  folder?: string | undefined;
}

export interface MergedServer {
  name: string;
  entry: PortableEntry;
  from: Origin[];
  notes: string[];
  /** Whether the config has it already. */
  isThere: boolean;
}

/** The same name for different servers. */
export interface Conflict {
  name: string;
  choices: Omit<MergedServer, "name">[];
}

export interface Merged {
  servers: MergedServer[];
  conflicts: Conflict[];
}

/** The config that is there is the first to be asked; its name among the origins is `claudikins`. */
export const ownOrigin = "claudikins";

/** In the order in which the names are found. */
export function merge(
  found: readonly FoundServer[],
  existing: ReadonlyMap<string, PortableEntry>,
  file: string,
): Merged {
  const byName = new Map<string, Conflict["choices"]>();
  for (const [name, entry] of existing) {
    byName.set(name, [{ entry, from: [{ host: ownOrigin, file }], notes: [], isThere: true }]);
  }
  const wanted = new Set<string>();
  for (const { name, entry, host, file, folder, notes } of found) {
    wanted.add(name);
    const choices = byName.get(name) ?? [];
    byName.set(name, choices);
    const origin = { host, file, folder };
    const same = choices.find((choice) => isSame(choice.entry, entry));
    if (!same) choices.push({ entry, from: [origin], notes, isThere: false });
    else {
      same.from.push(origin);
      // Switched off in one place is not switched off.
      if (!same.isThere && entry["disabled"] !== true) {
        const { disabled: _, ...rest } = same.entry;
        same.entry = rest;
      }
    }
  }
  const all = [...byName].filter(([name]) => wanted.has(name));
  return {
    servers: all.flatMap(([name, [only, ...others]]) => (only && others.length === 0 ? [{ name, ...only }] : [])),
    conflicts: all.flatMap(([name, choices]) => (choices.length > 1 ? [{ name, choices }] : [])),
  };
}

/** Whether both start or reach the same server in the same way. */
export function isSame(one: PortableEntry, other: PortableEntry): boolean {
  return Bun.deepEquals(essence(one), essence(other));
}

const besideThePoint = [
  "disabled",
  "description",
  "category",
  "startTimeoutMs",
  "callTimeoutMs",
  "idleTimeoutMs",
  "keepAlive",
];

function essence(entry: PortableEntry): object {
  const { type, command, args = [], env = {}, headers = {}, url, serverUrl, httpUrl, ...rest } = entry;
  for (const key of besideThePoint) delete rest[key];
  if (command !== undefined && url === undefined) return { ...rest, command, args, env };
  // Streamable HTTP is what is tried first anyway.
  const transport = networkTypeOf(type) ?? "auto";
  return { ...rest, headers, url: url ?? serverUrl ?? httpUrl, transport: transport === "http" ? "auto" : transport };
}

/** The conflict as the person decides it by the names of hosts, in their order; undefined where none of them is in it. */
export function preferred({ name, choices }: Conflict, order: readonly string[]): MergedServer | undefined {
  for (const wanted of order) {
    const of = choices.filter(({ from }) => from.some(({ host, folder }) => host === wanted || folder === wanted));
    if (of.length === 1 && of[0]) return { name, ...of[0] };
  }
  return undefined;
}

/** All of them: the first keeps the name, the others get that of their host or project behind it. */
export function keptBoth({ name, choices }: Conflict, taken: ReadonlySet<string>): MergedServer[] {
  const used = new Set(taken);
  return choices.map((choice, place) => {
    const origin = choice.from[0];
    const suffix = origin?.folder?.split(/[\\/]/).findLast(Boolean) ?? origin?.host ?? "other";
    let unique = place === 0 ? name : `${name}-${suffix}`;
    for (let count = 2; place > 0 && used.has(unique); count++) unique = `${name}-${suffix}-${count}`;
    used.add(unique);
    return { ...choice, name: unique };
  });
}
