/** Makes the variant of a published server that is reached at an address. */
import { headerName } from "../../config/address.ts";
import type { PublishedKeyValue, PublishedRemote } from "./published.ts";
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
import type { AddressVariant } from "./variant.ts";

const types: Readonly<Record<string, AddressVariant["kind"]>> = { "streamable-http": "http", sse: "sse" };

/** Headers that belong to HTTP and to MCP. */
const ofProtocol =
  /^(?:host|content-.*|transfer-encoding|connection|upgrade|te|trailer|keep-alive|proxy-.*|accept|accept-encoding|mcp-.*|last-event-id|origin)$/i;

/** Throws RegistryRefusal. */
export function remoteVariant({ type, url, headers, variables = {} }: PublishedRemote): AddressVariant {
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
