/** Finds the arguments of the call that returns the next page of a list. */

import { exactDigits } from "../base/exact-json.ts";
import { isObject, type JsonObject } from "../base/json-object.ts";
import type { Operation, Pages, Parameter } from "./openapi/api.ts";

export type { Pages };

/** A result, and the call that it answers. */
export interface Page {
  pages: Pages;
  parameters: Operation["parameters"];
  args: JsonObject;
  /** The address that was asked. */
  url: string;
  /** The `Link` header. */
  link?: string | undefined;
  value: unknown;
}

/** Undefined if there is no next page, or if the result does not say where it is. */
export function nextArguments({ pages, parameters, args, url, link, value }: Page): JsonObject | undefined {
  const items = fieldAt(value, pages.items);
  const length = Array.isArray(items) ? items.length : undefined;
  const more = "more" in pages && pages.more ? fieldAt(value, pages.more) : undefined;
  if (more === false) return undefined;
  const next = (argument: string, each: unknown) => ({ [argument]: each });
  switch (pages.by) {
    case "link":
      return fromAddress(nextLink(link), { url, args, parameters });
    case "address": {
      const address = fieldAt(value, pages.field);
      return fromAddress(typeof address === "string" ? address : undefined, { url, args, parameters });
    }
    case "cursor": {
      const cursor = scalarOf(fieldAt(value, pages.field));
      // An API that answers with the cursor that it got would never end.
      return cursor === undefined || cursor === "" || cursor === args[pages.argument]
        ? undefined
        : next(pages.argument, cursor);
    }
    case "last item": {
      const last = Array.isArray(items) ? items.at(-1) : undefined;
      const key = isObject(last) ? scalarOf(last[pages.key]) : undefined;
      return key === undefined || key === args[pages.argument] ? undefined : next(pages.argument, key);
    }
    case "offset": {
      const offset = Number(args[pages.argument] ?? 0) + (length ?? 0);
      return hasMore(pages, { value, length, more, args, seen: offset }) ? next(pages.argument, offset) : undefined;
    }
    case "page": {
      const page = Number(args[pages.argument] ?? pages.first);
      const limit = limitOf(pages, args) ?? length ?? 0;
      const seen = (page - pages.first) * limit + (length ?? 0);
      return hasMore(pages, { value, length, more, args, seen }) ? next(pages.argument, page + 1) : undefined;
    }
  }
}

type Counted = Extract<Pages, { by: "offset" | "page" }>;

interface Seen {
  value: unknown;
  /** The number of items on this page. */
  length: number | undefined;
  more: unknown;
  args: JsonObject;
  /** The number of items on this page and those before it. */
  seen: number;
}

function hasMore(pages: Counted, { value, length, more, args, seen }: Seen): boolean {
  if (!length) return false;
  const total = pages.total ? Number(fieldAt(value, pages.total) ?? Number.NaN) : Number.NaN;
  if (Number.isFinite(total)) return seen < total;
  if (more !== undefined) return more === true;
  const limit = limitOf(pages, args);
  return limit === undefined || length >= limit;
}

function limitOf({ limit }: Counted, args: JsonObject): number | undefined {
  const value = limit === undefined ? Number.NaN : Number(args[limit] ?? Number.NaN);
  return Number.isFinite(value) ? value : undefined;
}

export function fieldAt(value: unknown, path: readonly string[]): unknown {
  let at: unknown = value;
  for (const name of path) at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  return at;
}

/** Numbers that JavaScript cannot hold are texts, as programs see them. */
function scalarOf(value: unknown): string | number | undefined {
  if (typeof value === "string" || typeof value === "number") return value;
  return exactDigits(value);
}

/** The address of `rel="next"` (RFC 8288). */
function nextLink(header: string | undefined): string | undefined {
  for (const [, address, parameters = ""] of (header ?? "").matchAll(
    /<([^>]*)>((?:\s*;\s*[\w-]+\s*=\s*(?:"[^"]*"|[^\s",;]+))*)/g,
  )) {
    if (/;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next\b)/i.test(parameters)) return address;
  }
  return undefined;
}

/** The arguments of the same operation at another address: its query has them. */
function fromAddress(
  address: string | undefined,
  { url, args, parameters }: { url: string; args: JsonObject; parameters: readonly Parameter[] },
): JsonObject | undefined {
  const next = address === undefined || address === "" ? null : URL.parse(address, url);
  if (!next || next.href === url) return undefined;
  const changed: JsonObject = {};
  for (const { in: place, name, argument, style, explode } of parameters) {
    if (place !== "query") continue;
    const values = next.searchParams.getAll(name);
    const before = args[argument];
    if (values.length === 0) continue;
    // A parameter that the call had keeps its type. The address has nothing but texts.
    if (Array.isArray(before) || values.length > 1) {
      if (before === undefined && style === "form" && explode) changed[argument] = values;
      continue;
    }
    const [value = ""] = values;
    if (before === undefined || String(before) !== value) changed[argument] = typedLike(value, before);
  }
  return Object.keys(changed).length === 0 ? undefined : changed;
}

function typedLike(value: string, before: unknown): string | number {
  const number = Number(value);
  return typeof before !== "string" && Number.isSafeInteger(number) && String(number) === value ? number : value;
}
