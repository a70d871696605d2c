/** Writes the values of parameters and forms as their `style` says (OpenAPI 3.1.1, "Style Values" and Appendix C). */
import { exactDigits } from "../../base/exact-json.ts";
import { isObject } from "../../base/json-object.ts";
import type { ParameterStyle } from "./api.ts";

/** Levels of an object in the brackets of `deepObject`. */
const maxBracketDepth = 20;

export interface Written {
  name: string;
  style: ParameterStyle;
  explode: boolean;
  /** Characters with a meaning in addresses stay as they are. */
  allowReserved?: boolean | undefined;
}

/** The text of one value: of a nested object, its JSON. */
export function plainText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  return exactDigits(value) ?? (typeof value === "object" ? JSON.stringify(value) : String(value));
}

/** The encoding of RFC 3986, in which only letters, digits and `-._~` stay. */
export function percentEncoded(text: string, keepsReserved = false): string {
  const encoded = encodeURIComponent(text.toWellFormed()).replace(/[!'()*]/g, hex);
  if (!keepsReserved) return encoded;
  // `&`, `#` and `+` would end the value or change it.
  return encoded.replace(/%(?:2F|3A|3F|40|24|2C|3B|3D|21|27|28|29|2A|5B|5D)/g, decodeURIComponent);
}

const hex = (letter: string) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;

const isPlainObject = (value: unknown) => isObject(value) && exactDigits(value) === undefined;

/** The entries of an object, without those that have no value. */
function entriesOf(value: unknown): [string, unknown][] {
  return Object.entries(value as object).filter(([, each]) => each !== undefined && each !== null);
}

/** The value in a path: styles `simple`, `label` and `matrix`. */
export function inPath(value: unknown, { name, style, explode, allowReserved }: Written): string {
  const text = (each: unknown) => percentEncoded(plainText(each), allowReserved);
  const key = percentEncoded(name);
  const pair = ([field, each]: [string, unknown]) => `${percentEncoded(field)}${explode ? "=" : ","}${text(each)}`;
  if (Array.isArray(value)) {
    if (style === "matrix")
      return explode ? value.map((each) => `;${key}=${text(each)}`).join("") : `;${key}=${value.map(text).join(",")}`;
    return style === "label" ? `.${value.map(text).join(explode ? "." : ",")}` : value.map(text).join(",");
  }
  if (isPlainObject(value)) {
    const pairs = entriesOf(value).map(pair);
    if (style === "matrix") return explode ? pairs.map((each) => `;${each}`).join("") : `;${key}=${pairs.join(",")}`;
    return style === "label" ? `.${pairs.join(explode ? "." : ",")}` : pairs.join(",");
  }
  return style === "matrix" ? `;${key}=${text(value)}` : `${style === "label" ? "." : ""}${text(value)}`;
}

/** The value in a header: `simple`, without encoding. */
export function inHeader(value: unknown, { explode }: Pick<Written, "explode">): string {
  if (Array.isArray(value)) return value.map(plainText).join(",");
  if (!isPlainObject(value)) return plainText(value);
  return entriesOf(value)
    .map(([field, each]) => `${field}${explode ? "=" : ","}${plainText(each)}`)
    .join(",");
}

/** `name=value` parts of a query or a form, encoded: styles `form`, `spaceDelimited`, `pipeDelimited` and `deepObject`. */
export function queryParts(value: unknown, written: Written): string[] {
  const { name, style, explode, allowReserved } = written;
  const text = (each: unknown) => percentEncoded(plainText(each), allowReserved);
  const key = percentEncoded(name);
  const between = style === "spaceDelimited" ? "%20" : style === "pipeDelimited" ? "%7C" : ",";
  if (style === "deepObject" && typeof value === "object" && value !== null && exactDigits(value) === undefined) {
    return bracketParts(name, value, text, 1);
  }
  if (Array.isArray(value)) {
    if (value.length === 0) return explode ? [] : [`${key}=`];
    return explode ? value.map((each) => `${key}=${text(each)}`) : [`${key}=${value.map(text).join(between)}`];
  }
  if (!isPlainObject(value)) return [`${key}=${text(value)}`];
  const entries = entriesOf(value);
  if (explode) return entries.map(([field, each]) => `${percentEncoded(field)}=${text(each)}`);
  return [`${key}=${entries.flatMap(([field, each]) => [percentEncoded(field), text(each)]).join(between)}`];
}

/** The standard leaves open how arrays and nested objects are written. Servers that use them read `a[b][0]`. */
function bracketParts(name: string, value: object, text: (each: unknown) => string, depth: number): string[] {
  return entriesOf(value).flatMap(([field, each]) => {
    const inner = `${name}[${field}]`;
    const isNested = typeof each === "object" && each !== null && exactDigits(each) === undefined;
    return isNested && depth < maxBracketDepth
      ? bracketParts(inner, each, text, depth + 1)
      : [`${percentEncoded(inner)}=${text(each)}`];
  });
}
