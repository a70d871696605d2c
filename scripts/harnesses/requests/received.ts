/** Compares a request that has arrived with the document, and with the values that were meant to be sent. */
import { isDeepStrictEqual } from "node:util";
import { type DocumentBody, type DocumentParameter, isRecord, type OpenDocument } from "./document.ts";
import { isBytes } from "./schemas.ts";

export interface Received {
  method: string;
  /** As it was sent. */
  path: string;
  query: string;
  headers: Headers;
  body: Uint8Array<ArrayBuffer>;
}

export interface Meant {
  parameters: { parameter: DocumentParameter; value: unknown }[];
  body?: { value: unknown; bodies: Map<string, DocumentBody> } | undefined;
  /** The bytes of the files of the workspace. */
  files: (path: string) => string;
}

type Written = Pick<DocumentParameter, "style" | "explode">;

/** Empty if the request is as the document says. */
export function faultsOf(document: OpenDocument, path: string, meant: Meant, received: Received): string[] {
  const faults: string[] = [];
  const of = (where: string) => meant.parameters.filter(({ parameter }) => parameter.in === where);
  faults.push(...pathFaults(path, received.path, of("path")));
  faults.push(
    ...pairFaults("query", pairsIn(received.query, "&"), of("query"), pairsIn(/\?([^#]*)/.exec(path)?.[1] ?? "", "&")),
  );
  const cookie = received.headers.get("cookie") ?? "";
  faults.push(...pairFaults("cookie", pairsIn(cookie, "; "), of("cookie"), []));
  for (const { parameter, value } of of("header")) {
    const sent = received.headers.get(parameter.name);
    const shown = parameter.mediaType ? JSON.stringify(value) : simpleText(value, parameter.explode);
    if (sent?.trim() !== shown.trim()) faults.push(`header ${parameter.name}: ${sent} in place of ${shown}`);
  }
  if (!meant.body) {
    if (received.body.length > 0) faults.push("a body that the document does not have");
  } else faults.push(...bodyFaults(document, meant.body, meant.files, received));
  return faults;
}

const same = (one: unknown, other: unknown) => isDeepStrictEqual(asTexts(one), asTexts(other));

/** Values as a text of an address can tell them. */
function asTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asTexts);
  if (isRecord(value))
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, each]) => (each === null ? [] : [[key, asTexts(each)]])),
    );
  return value === null || value === undefined ? "" : String(value);
}

const leafText = (value: unknown) =>
  typeof value === "object" && value !== null ? JSON.stringify(value) : String(asTexts(value));

function simpleText(value: unknown, explode: boolean): string {
  if (Array.isArray(value)) return value.map(leafText).join(",");
  if (!isRecord(value)) return leafText(value);
  return Object.entries(value)
    .map(([key, each]) => `${key}${explode ? "=" : ","}${leafText(each)}`)
    .join(",");
}

function pathFaults(whole: string, path: string, meant: Meant["parameters"]): string[] {
  // A query or a fragment in a path tells operations apart that have the same address.
  const template = whole.replace(/\?(?![^{]*\}).*|#.*/, "");
  // Nothing says where the first of two values ends.
  if (template.includes("}{")) return [];
  const named = Array.from(template.matchAll(/\{([^{}]+)\}/g), ([, name]) => name!);
  const parts = `/${template.replace(/^\/+/, "")}`.split(/\{[^{}]+\}/).map((each) => RegExp.escape(encodeURI(each)));
  const expression = new RegExp(`^${parts.join("([^/]*?)")}$`);
  const found = expression.exec(path);
  if (!found) return [`path: ${path} is not ${template}`];
  return named.flatMap((name, at) => {
    const one = meant.find(({ parameter }) => parameter.name === name);
    if (!one) return [];
    const { parameter, value } = one;
    const read = parameter.mediaType ? decodeURIComponent(found[at + 1]!) : readPath(found[at + 1]!, parameter, value);
    const wanted = parameter.mediaType ? JSON.stringify(value) : value;
    return same(read, leaves(wanted)) ? [] : [`path ${name}: ${found[at + 1]} in place of ${JSON.stringify(value)}`];
  });
}

/** Nested values are JSON where the standard says nothing. */
function leaves(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(leafText);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== null)
      .map(([key, each]) => [key, leafText(each)]),
  );
}

function readPath(text: string, { name, style, explode }: DocumentParameter, value: unknown): unknown {
  if (style === "matrix") {
    const pairs = pairsIn(text.replace(/^;/, ""), ";");
    return explode
      ? readPairs(pairs, name, { style: "form", explode }, value)
      : split(pairs.find(([key]) => key === name)?.[1] ?? "", ",", false, value);
  }
  return split(style === "label" ? text.slice(1) : text, style === "label" && explode ? "." : ",", explode, value);
}

/** A text with separators, as the shape of the value says. */
function split(text: string, separator: string | RegExp, isPaired: boolean, shape: unknown): unknown {
  const parts = text.split(separator);
  if (Array.isArray(shape)) return parts.map(decode);
  if (!isRecord(shape)) return decode(text);
  if (isPaired) return Object.fromEntries(parts.map((part) => part.split("=").map(decode) as [string, string]));
  return Object.fromEntries(
    parts.flatMap((key, at) => (at % 2 === 0 ? [[decode(key), decode(parts[at + 1] ?? "")]] : [])),
  );
}

const decode = (text: string) => decodeURIComponent(text.replaceAll("+", "%20"));

type Pair = [name: string, text: string];

function pairsIn(text: string, separator: string): Pair[] {
  return text
    .split(separator)
    .filter(Boolean)
    .map((part) => {
      const at = part.indexOf("=");
      return at === -1 ? [decode(part), ""] : [decode(part.slice(0, at)), part.slice(at + 1)];
    });
}

function pairFaults(
  where: string,
  pairs: readonly Pair[],
  meant: Meant["parameters"],
  fixed: readonly Pair[],
): string[] {
  const left = new Set(pairs.map(([name]) => name));
  const faults = meant.flatMap(({ parameter, value }) => {
    const { name, mediaType } = parameter;
    for (const key of namesOf(parameter, value)) left.delete(key);
    if (mediaType !== undefined) {
      const text = decode(pairs.find(([key]) => key === name)?.[1] ?? "");
      return text === JSON.stringify(value) ? [] : [`${where} ${name}: ${text} is not the JSON`];
    }
    const read = readPairs(pairs, name, parameter, value);
    const wanted = parameter.style === "deepObject" ? value : leaves(value);
    return same(read, wanted) ? [] : [`${where} ${name}: ${JSON.stringify(read)} in place of ${JSON.stringify(value)}`];
  });
  for (const [name, text] of fixed) {
    if (!text.includes("{") && !pairs.some(([key]) => key === name)) faults.push(`${where} ${name} is in the path`);
    left.delete(name);
  }
  return [...faults, ...[...left].map((name) => `${where} ${name} is not in the document`)];
}

function namesOf({ name, style, explode, mediaType }: DocumentParameter, value: unknown): string[] {
  if (mediaType !== undefined) return [name];
  if (style === "deepObject") return bracketNames(name, value);
  if (!isRecord(value)) return [name];
  return explode ? Object.keys(value) : [name];
}

function bracketNames(name: string, value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [name];
  return Object.entries(value).flatMap(([key, each]) => bracketNames(`${name}[${key}]`, each));
}

function readPairs(pairs: readonly Pair[], name: string, { style, explode }: Written, shape: unknown): unknown {
  const all = pairs.filter(([key]) => key === name).map(([, text]) => text);
  const separator = { spaceDelimited: /%20|\+| /, pipeDelimited: /%7C|\|/i, tabDelimited: /%09/ }[style] ?? ",";
  if (style === "deepObject" && typeof shape === "object" && shape !== null) return fromBrackets(pairs, name, shape);
  // A space or a bar in an item cannot be told from a separator.
  const isOdd = (each: unknown) => typeof separator !== "string" && separator.test(encodeURIComponent(String(each)));
  if (typeof shape === "object" && shape !== null && Object.values(shape).some(isOdd)) return shape;
  // An empty list looks like a list of one empty text.
  if (Array.isArray(shape) && shape.length === 0 && all.join("") === "") return shape;
  if (Array.isArray(shape)) return explode ? all.map(decode) : split(all[0] ?? "", separator, false, shape);
  if (!isRecord(shape)) return all.length === 1 ? decode(all[0]!) : undefined;
  if (!explode) return split(all[0] ?? "", separator, false, shape);
  const keys = Object.keys(shape);
  return Object.fromEntries(pairs.filter(([key]) => keys.includes(key)).map(([key, text]) => [key, decode(text)]));
}

function fromBrackets(pairs: readonly Pair[], name: string, shape: object): unknown {
  const read = (at: string, part: unknown): unknown => {
    if (typeof part !== "object" || part === null) return decode(pairs.find(([key]) => key === at)?.[1] ?? "");
    const entries = Object.entries(part).map(([key, each]) => [key, read(`${at}[${key}]`, each)] as const);
    return Array.isArray(part) ? entries.map(([, each]) => each) : Object.fromEntries(entries);
  };
  return read(name, shape);
}

function bodyFaults(
  document: OpenDocument,
  { value, bodies }: NonNullable<Meant["body"]>,
  files: Meant["files"],
  { headers, body }: Received,
): string[] {
  if (value === undefined) return body.length > 0 ? ["a body that was not given"] : [];
  const type = headers.get("content-type") ?? "";
  const essence = type.split(";")[0]!.trim().toLowerCase();
  const fits = (mediaType: string) => {
    const own = mediaType.split(";")[0]!.trim().toLowerCase();
    return own === essence || new RegExp(`^${own.split("*").map(RegExp.escape).join(".*")}$`).test(essence);
  };
  const found =
    [...bodies].find(([mediaType]) => mediaType === type) ?? [...bodies].find(([mediaType]) => fits(mediaType));
  if (!found) return [`body: ${type} is not one of ${[...bodies.keys()].join(", ")}`];
  const [, described] = found;
  const text = new TextDecoder().decode(body);
  if (/[/+]json$/.test(essence))
    return isDeepStrictEqual(JSON.parse(text), value) ? [] : [`body: ${text} in place of ${JSON.stringify(value)}`];
  if (essence === "application/x-www-form-urlencoded")
    return text === value ? [] : formFaults(pairsIn(text, "&"), value, described);
  if (essence.startsWith("multipart/")) return partFaults(document, partsIn(text, type), value, described, files);
  return text ===
    (isBytes(document, described.schema) || !/text|xml|yaml|json|graphql|javascript/.test(essence)
      ? files(String(value))
      : leafText(value))
    ? []
    : [`body: ${text.slice(0, 100)} in place of ${JSON.stringify(value)}`];
}

function formFaults(pairs: readonly Pair[], value: unknown, { encoding }: DocumentBody): string[] {
  if (!isRecord(value)) return ["body: a form that is no object"];
  return Object.entries(value).flatMap(([name, each]) => {
    const { style, explode, mediaType } = encoding(name);
    const isDocument = style === undefined && (mediaType?.includes("json") ?? isRecord(each));
    const read = isDocument
      ? JSON.parse(decode(pairs.find(([key]) => key === name)?.[1] ?? "null"))
      : readPairs(pairs, name, { style: style ?? "form", explode: explode ?? (style ?? "form") === "form" }, each);
    return same(read, isDocument || style === "deepObject" ? each : leaves(each))
      ? []
      : [`form ${name}: ${JSON.stringify(read)} in place of ${JSON.stringify(each)}`];
  });
}

function partFaults(
  document: OpenDocument,
  found: readonly Part[],
  value: unknown,
  { schema, encoding }: DocumentBody,
  files: Meant["files"],
): string[] {
  if (!isRecord(value)) return ["body: a form that is no object"];
  return Object.entries(value).flatMap(([name, each]) => {
    const items = Array.isArray(each) ? each : [each];
    const parts = found.filter((part) => part.name === name);
    const isFile = isBytes(document, schema) || isBytes(document, document.at(document.at(schema, "properties"), name));
    const wanted = items.map((item) => (isFile ? files(String(item)) : leafText(item)));
    const sent = parts.map(({ text }) => text);
    if (!isDeepStrictEqual(sent, wanted))
      return [`part ${name}: ${JSON.stringify(sent)} in place of ${JSON.stringify(wanted)}`];
    if (parts.some(({ hasFileName }) => hasFileName !== isFile)) return [`part ${name}: only files have a file name`];
    const { mediaType } = encoding(name);
    const types = mediaType?.split(",").map((type) => type.split(";")[0]!.trim());
    const isRight =
      !types ||
      types.some((type) => type.includes("*")) ||
      types.length > 1 ||
      parts.every(({ type }) => types.includes(type));
    return isRight ? [] : [`part ${name}: ${parts.map(({ type }) => type).join()} in place of ${mediaType}`];
  });
}

interface Part {
  name: string;
  type: string;
  hasFileName: boolean;
  text: string;
}

function partsIn(text: string, type: string): Part[] {
  const boundary = /boundary="?([^";]+)/.exec(type)?.[1] ?? "";
  return text
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => {
      const [head = "", ...content] = part.replace(/^\r\n/, "").split("\r\n\r\n");
      return {
        name: /; name="([^"]*)"/.exec(head)?.[1] ?? "",
        type: /content-type: *([^;\r\n]+)/i.exec(head)?.[1] ?? "text/plain",
        hasFileName: /; filename=/.test(head),
        text: content.join("\r\n\r\n").replace(/\r\n$/, ""),
      };
    });
}
