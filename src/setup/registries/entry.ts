/** Makes the entry of `mcpServers` from a variant of a published server and its values. */

import { kindsOfHost, mayReach } from "../../base/address-reach.ts";
import type { JsonObject } from "../../base/json-object.ts";
import type { Registry } from "./registries.ts";
import { filled, isComplete, RegistryRefusal, type TemplateValues, type Wanted, wantedIn } from "./templates.ts";
import type { AddressVariant, ProgramVariant, Variant, VariantArgument } from "./variant.ts";
import { filledAddress } from "./variants.ts";

/** Returns the entry. Optional parts without a value are left out. Throws RegistryRefusal. */
export function entryOf(variant: Variant, values: TemplateValues): JsonObject {
  return "url" in variant ? addressEntry(variant, values) : programEntry(variant, values);
}

function addressEntry({ kind, url, headers }: AddressVariant, values: TemplateValues): JsonObject {
  const present = headers.filter(({ value, isOptional }) => !isOptional || isComplete(value, values));
  return {
    type: kind,
    url: filledAddress(url, first(values)),
    ...(present.length === 0
      ? {}
      : {
          headers: Object.fromEntries(
            present.map(({ name, value }) => [name, filled(value, first(values), oneLineOnly)]),
          ),
        }),
  };
}

function programEntry({ kind, runtime, spec, options, args, env }: ProgramVariant, values: TemplateValues): JsonObject {
  const present = env.filter(({ value, isOptional }) => !isOptional || isComplete(value, values));
  const own = options.flatMap((option) => wordsOf(option, values));
  const rest = args.flatMap((argument) => wordsOf(argument, values));
  // The container gets the variables by name, so that no secret is on the command line.
  const isNamed = (name: string) => own.some((word, at) => word === name && /^(?:-e|--env)$/.test(own[at - 1] ?? ""));
  const names = kind === "oci" ? present.flatMap(({ name }) => (isNamed(name) ? [] : ["-e", name])) : [];
  const words = {
    npm: ["-y", ...own, spec, ...rest],
    pypi: [...own, spec, ...rest],
    nuget: [spec, "--yes", ...own, ...(rest.length > 0 ? ["--", ...rest] : [])],
    oci: ["run", "-i", "--rm", ...own, ...names, spec, ...rest],
  }[kind];
  return {
    command: runtime,
    args: words,
    // A stranger's program gets no variables that lead to the user's other programs.
    inherit: "minimal",
    ...(present.length === 0
      ? {}
      : { env: Object.fromEntries(present.map(({ name, value }) => [name, filled(value, first(values))])) }),
  };
}

/** An argument is repeated for each of its values. */
function wordsOf({ flag, value, isJoined, isOptional }: VariantArgument, values: TemplateValues): string[] {
  if (value === undefined) return flag === undefined ? [] : [flag];
  if (isOptional && !isComplete(value, values)) return [];
  const times = Math.max(
    1,
    ...wantedIn(value).map(({ name, isRepeated }) => (isRepeated ? (values.get(name)?.length ?? 1) : 1)),
  );
  return Array.from({ length: times }, (_, at) => {
    const text = filled(
      value,
      ({ name, isRepeated }) => values.get(name)?.[isRepeated ? at : 0] ?? `\${${variableFor(name)}}`,
    );
    if (flag === undefined) return [text];
    return isJoined ? [`${flag}=${text}`] : [flag, text];
  }).flat();
}

/** The first value. A value that is still missing becomes a variable, which the user can set later. */
function first(values: TemplateValues): (wanted: Wanted) => string {
  return ({ name }) => values.get(name)?.[0] ?? `\${${variableFor(name)}}`;
}

/** The name of a variable for a value: `--api-key` becomes `API_KEY`. */
export function variableFor(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_]+/g, "_").replace(/^_+|_+$/g, "");
  const isVariable = /^[A-Za-z_]\w*$/.test(name);
  return isVariable ? name : `${/^\d/.test(plain) || plain === "" ? "V_" : ""}${plain.toUpperCase()}`;
}

function oneLineOnly(text: string): string {
  if (/[\0\r\n]/.test(text)) throw new RegistryRefusal("the value of a header must be one line");
  return text;
}

/**
 * Throws RegistryRefusal if a registry must not send the user to this address: a registry on the internet must not name addresses of this
 * machine or its network, and without TLS anyone on the network could read and change the data.
 */
export async function checkAddress(address: string, registry: Registry): Promise<void> {
  if (address.includes("${") || !URL.canParse(address)) return;
  const url = new URL(address);
  if (!(await mayReach(url, new URL(registry.url)))) {
    throw new RegistryRefusal(`${url.origin} can be reached only from this machine or its network`);
  }
  if (url.protocol === "https:") return;
  const kinds = await kindsOfHost(url);
  if (kinds.length === 0 || kinds.includes("public")) {
    throw new RegistryRefusal(`${url.origin} has no TLS, so anyone on the way could read and change what is sent`);
  }
}
