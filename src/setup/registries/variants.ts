/** The variants of a published server: programs that this machine can start, and addresses. Some variants are refused, with a reason. */
import { remoteVariant } from "./address-variant.ts";
import { packageVariant } from "./package-variant.ts";
import type { PublishedServer } from "./published.ts";
import { RegistryRefusal, type Wanted } from "./templates.ts";
import type { Variant, VariantKind } from "./variant.ts";

export interface Variants {
  /** In the order of preference: an address runs no program here. */
  variants: Variant[];
  /** Why the other variants cannot be used, as sentences. */
  refused: string[];
}

export function variantsOf({ remotes, packages }: PublishedServer): Variants {
  const variants: Variant[] = [];
  const refused: string[] = [];
  const take = (name: string, make: () => Variant) => {
    try {
      variants.push(make());
    } catch (error) {
      if (!(error instanceof RegistryRefusal)) throw error;
      refused.push(`${name}: ${error.message}`);
    }
  };
  for (const remote of remotes) take("its address", () => remoteVariant(remote));
  for (const each of packages) take(`its ${each.registryType} package`, () => packageVariant(each));
  // The sort is stable, so the publisher's order counts within a kind.
  variants.sort((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind));
  return { variants, refused };
}

/** Containers are last: they take longest to start. */
const order: readonly VariantKind[] = ["http", "sse", "npm", "pypi", "nuget", "oci"];

/** The values that a variant takes, in the order in which they are asked for. Equal names are one value. */
export function wantedOfVariant(variant: Variant): Wanted[] {
  const templates =
    "url" in variant
      ? [variant.url, ...variant.headers.map(({ value }) => value)]
      : [
          ...variant.env.map(({ value }) => value),
          ...[...variant.options, ...variant.args].map(({ value }) => value ?? []),
        ];
  const byName = new Map<string, Wanted>();
  for (const part of templates.flat()) {
    if (typeof part === "string") continue;
    const known = byName.get(part.name);
    byName.set(part.name, known ? together(known, part) : part);
  }
  const all = [...byName.values()];
  return [...all.filter(({ isRequired }) => isRequired), ...all.filter(({ isRequired }) => !isRequired)];
}

/** Merges two places for one value. The value must meet the requirements of both. */
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
