/** The ways to use a published server: programs that this machine can start, and addresses. Some ways are refused, with a reason. */
import { remoteWay } from "./address-way.ts";
import { packageWay } from "./package-way.ts";
import type { PublishedServer } from "./published.ts";
import { Refused, type Wanted } from "./templates.ts";
import type { Kind, Way } from "./way.ts";

export interface Ways {
  /** In the order of preference: an address runs no program here. */
  ways: Way[];
  /** What cannot be used, as sentences. */
  refused: string[];
}

export function waysOf({ remotes, packages }: PublishedServer): Ways {
  const ways: Way[] = [];
  const refused: string[] = [];
  const take = (name: string, make: () => Way) => {
    try {
      ways.push(make());
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      refused.push(`${name}: ${error.message}`);
    }
  };
  for (const remote of remotes) take("its address", () => remoteWay(remote));
  for (const each of packages) take(`its ${each.registryType} package`, () => packageWay(each));
  // The sort is stable, so the publisher's order counts within a kind.
  ways.sort((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind));
  return { ways, refused };
}

/** Containers are last: they take longest to start. */
const order: readonly Kind[] = ["http", "sse", "npm", "pypi", "nuget", "oci"];

/** The values that a way takes, in the order in which they are asked for. Equal names are one value. */
export function wantedOfWay(way: Way): Wanted[] {
  const templates =
    "url" in way
      ? [way.url, ...way.headers.map(({ value }) => value)]
      : [...way.env.map(({ value }) => value), ...[...way.options, ...way.args].map(({ value }) => value ?? [])];
  const byName = new Map<string, Wanted>();
  for (const part of templates.flat()) {
    if (typeof part === "string") continue;
    const known = byName.get(part.name);
    byName.set(part.name, known ? together(known, part) : part);
  }
  const all = [...byName.values()];
  return [...all.filter(({ isRequired }) => isRequired), ...all.filter(({ isRequired }) => !isRequired)];
}

/** One value in two places: what either place demands of it holds. */
function together(one: Wanted, other: Wanted): Wanted {
  const both = {
    ...other,
    ...one,
    isRequired: one.isRequired || other.isRequired,
    isSecret: one.isSecret || other.isSecret,
    isVariable: one.isVariable || other.isVariable,
    isTyped: Boolean(one.isTyped || other.isTyped),
    isInMount: Boolean(one.isInMount || other.isInMount),
  };
  if (!both.isTyped) return both;
  const format = both.isInMount ? "filepath" : both.format;
  return { ...both, format, default: undefined, choices: both.isInMount ? undefined : both.choices };
}
