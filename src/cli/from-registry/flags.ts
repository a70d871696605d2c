/** The flags and the JSON of `claudikins add` that are about registries. Help texts load this file, so it imports little. */
import { about, exactly, list, oneOf, record, text, texts, yesOrNo } from "../../base/json-shape.ts";
import { kinds } from "../../setup/registries/variant.ts";
import { type Args, type ArgumentValues, flag, option, repeatable } from "../command.ts";
import { oneWordOf } from "../flags/flags.ts";

export const registryArgs = {
  search: option("Find servers by these words in the catalog and the registries, and add nothing", {
    valueHint: "words",
  }),
  registry: option(
    'Use this registry instead of the catalog and the registries in your config: its address, or "official" (repeatable)',
    { valueHint: "url", ...repeatable },
  ),
  set: option("Value for a server from a registry or a bundle: a variable, a header or an argument (repeatable)", {
    valueHint: "name=value",
    ...repeatable,
  }),
  via: option(
    `How to start or reach a server from a registry: ${kinds.join(", ")} (default: the first way that works here)`,
    {
      valueHint: "kind",
      ...oneWordOf(kinds),
    },
  ),
  as: option("Name in your config for a server from the catalog, a registry or a bundle", { valueHint: "name" }),
  yes: flag(
    "Add a server from a registry or a bundle without asking; without a terminal, a registry needs its exact version",
    { short: "y" },
  ),
} as const satisfies Args;

export type RegistryFlags = ArgumentValues<typeof registryArgs>;

/** The given flags that only apply to a server from a registry. */
export function givenFlags({ registry, set, via, as, yes }: RegistryFlags): string[] {
  const given = { registry: registry.length > 0, set: set.length > 0, via, as, yes };
  return Object.entries(given).flatMap(([name, value]) =>
    value === undefined || value === false ? [] : [`--${name}`],
  );
}

const kind = oneOf(...kinds);

export const reviewShape = record({
  name: text,
  version: text,
  "title?": text,
  description: text,
  registry: text,
  status: oneOf("active", "deprecated", "deleted"),
  "statusMessage?": text,
  "publishedOn?": text,
  "repository?": text,
  "website?": text,
  via: about("How it is reached or started; --via chooses", kind),
  "command?": about("The command line, with values that are still missing in angle brackets", texts),
  "url?": text,
  sets: about("Headers, and variables that the description gives a value", texts),
  needs: list(
    record({
      name: about("For --set", text),
      required: yesOrNo,
      secret: yesOrNo,
      "description?": text,
      "default?": text,
      "choices?": texts,
      "fromEnvironment?": about("It is taken from your environment", exactly(true)),
    }),
  ),
  warnings: texts,
  others: about("Other ways to use the server", list(kind)),
  refused: about("Ways that claudikins does not use, and why", texts),
});

/** A server in a list. */
export const foundServerShape = record({
  name: text,
  "title?": text,
  description: text,
  "version?": about("Missing for a server of the catalog", text),
  status: oneOf("active", "deprecated", "deleted"),
  registry: about("The address of the registry, or catalog", text),
});
