/** The variants of a published server: programs that this machine can start, and addresses. Some variants are refused, with a reason. */

import { headerName } from "../../config/address.ts";
import { packageVariant } from "./package-variant.ts";
import type { PublishedKeyValue, PublishedRemote, PublishedServer } from "./published.ts";
import {
  checkText,
  filled,
  RegistryRefusal,
  type Template,
  templateOf,
  templateParts,
  type Wanted,
  wantedIn,
  wantedOf,
} from "./templates.ts";
import type { AddressVariant, Variant, VariantKind } from "./variant.ts";

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

const types: Readonly<Record<string, AddressVariant["kind"]>> = { "streamable-http": "http", sse: "sse" };

/** Headers that belong to HTTP and to MCP. */
const ofProtocol =
  /^(?:host|content-.*|transfer-encoding|connection|upgrade|te|trailer|keep-alive|proxy-.*|accept|accept-encoding|mcp-.*|last-event-id|origin)$/i;

/** Throws RegistryRefusal. */
function remoteVariant({ type, url, headers, variables = {} }: PublishedRemote): AddressVariant {
  const kind = Object.hasOwn(types, type) ? types[type] : undefined;
  if (!kind) throw new RegistryRefusal(`claudikins does not know the transport ${JSON.stringify(type.slice(0, 50))}`);
  checkText(url, "its address");
  const template = templateParts(url, (name) => {
    const field = Object.hasOwn(variables, name) ? variables[name] : undefined;
    // The specification wants a variable for each name in braces. Without one, the user enters the value.
    const usual = { isRequired: true, isSecret: false, format: "string" as const };
    if (!field) return /^[A-Za-z_]\w*$/.test(name) ? wantedOf(usual, name) : undefined;
    return field.value === undefined ? wantedOf({ ...field, isRequired: true }, name) : checkText(field.value, name);
  });
  // A preliminary check. The whole address is checked again once it has its values.
  const isOwn = typeof template[0] !== "string";
  // A digit is valid in a host, a port and a path.
  if (!isOwn) checkedAddress(template.map((part) => (typeof part === "string" ? part : "1")).join(""));
  return { kind, url: template, headers: headers.map((header) => headerOf(header, variables)), warnings: [] };
}

function headerOf(
  field: PublishedKeyValue,
  variables: PublishedRemote["variables"],
): AddressVariant["headers"][number] {
  const { name } = field;
  if (!headerName.test(name) || ofProtocol.test(name))
    throw new RegistryRefusal(`it sets the header ${JSON.stringify(name)}`);
  const value = templateOf({ ...field, variables: { ...variables, ...field.variables } }, name);
  return { name, value, isOptional: !field.isRequired && wantedIn(value).length > 0 };
}

/** Throws RegistryRefusal for anything but a plain web address. */
function checkedAddress(text: string): URL {
  const address = URL.canParse(text) ? new URL(text) : undefined;
  if (!address || !/^https?:$/.test(address.protocol) || /^\.|\.\./.test(address.hostname))
    throw new RegistryRefusal("it is not an address that starts with https://");
  if (address.username !== "" || address.password !== "")
    throw new RegistryRefusal("its address contains a user name or a password");
  return address;
}

/**
 * Fills in the address. A value cannot affect other parts: in the host it must be a part of a name, and after the host it is
 * percent-encoded. If the address begins with a value, the user enters that part of the address. Throws RegistryRefusal.
 */
export function filledAddress(template: Template, give: (wanted: Wanted) => string): string {
  const whole = filled(template, give, (piece, wanted, before) => {
    if (wanted === template[0]) return piece === "" ? "" : checkedAddress(piece).href.replace(/\/+$/, "");
    return /^https?:\/\/[^/?#]*$/i.test(before) ? hostPart(piece, wanted) : encodeURIComponent(piece);
  });
  if (!whole.includes("${")) checkedAddress(whole);
  return whole;
}

function hostPart(piece: string, { name }: Wanted): string {
  if (piece === "" || /^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(piece)) return piece;
  throw new RegistryRefusal(`the value of ${name} cannot be part of a host name`);
}
