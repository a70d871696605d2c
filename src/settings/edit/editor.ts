/** Changes the servers in a JSON or TOML file. The result is parsed again and compared with the expected document. */

import { ClaudikinsError } from "../../errors.ts";
import { isObject, type JsonObject, valueAt } from "../../json-object.ts";
import { appendItem, parseJson, removeItem, removeMembers, setMember } from "./json.ts";
import { addToTable, parseToml, removeFromTable } from "./toml.ts";

export interface Changes {
  /** Servers to remove, by section. */
  removed: readonly { section: readonly string[]; names: readonly string[] }[];
  added: readonly { section: readonly string[]; name: string; value: JsonObject }[];
  /** Lists to which a name is added. */
  listed?: readonly { path: readonly string[]; item: string }[];
  /** Lists from which a name is removed. */
  unlisted?: readonly { path: readonly string[]; item: string }[];
}

interface Source {
  path: string;
  format: "json" | "toml";
}

/** Throws CONFIG_INVALID with the file, the line, and what is wrong there. */
export function parseFile(text: string, { path, format }: Source): JsonObject {
  return format === "toml" ? parseToml(text, path) : parseJson(text, path);
}

/** The changed text. Throws CONFIG_INVALID if the edit would not have exactly these effects. */
export function changed(text: string, changes: Changes, file: Source): string {
  let edited = text;
  // Entries are added first, so that they are formatted like the existing ones.
  for (const { section, name, value } of changes.added) {
    edited =
      file.format === "toml"
        ? addToTable(edited, section, name, value)
        : setMember(edited, [...section, name], value, file.path);
  }
  for (const { section, names } of changes.removed) {
    edited =
      file.format === "toml"
        ? removeFromTable(edited, section, new Set(names))
        : removeMembers(edited, section, names, file.path);
  }
  for (const { path, item } of changes.listed ?? []) edited = appendItem(edited, path, item, file.path);
  for (const { path, item } of changes.unlisted ?? []) edited = removeItem(edited, path, item, file.path);
  if (!Bun.deepEquals(withoutEmpty(parseAgain(edited, file)), withoutEmpty(expected(parseFile(text, file), changes)))) {
    throw cannotEdit(file);
  }
  return edited;
}

function parseAgain(text: string, file: Source): JsonObject {
  try {
    return parseFile(text, file);
  } catch {
    throw cannotEdit(file);
  }
}

function cannotEdit({ path }: Source): ClaudikinsError {
  return new ClaudikinsError("CONFIG_INVALID", `claudikins cannot edit ${path} safely`, {
    hint: "Edit the file by hand: remove its servers and add claudikins. The file was not changed.",
  });
}

function expected(document: JsonObject, { removed, added, listed = [], unlisted = [] }: Changes): JsonObject {
  const copy = clone(document) as Record<string, unknown>;
  for (const { section, name, value } of added) objectAt(copy, section)[name] = value;
  for (const { section, names } of removed) {
    const object = valueAt(copy, section);
    if (isObject(object)) for (const name of names) delete (object as Record<string, unknown>)[name];
  }
  for (const { path, item } of listed) {
    const list = valueAt(copy, path);
    if (Array.isArray(list)) list.push(item);
  }
  for (const { path, item } of unlisted) {
    const list = valueAt(copy, path);
    if (Array.isArray(list)) list.splice(0, list.length, ...list.filter((each) => each !== item));
  }
  return copy;
}

function objectAt(document: Record<string, unknown>, path: readonly string[]): Record<string, unknown> {
  let object = document;
  for (const key of path) {
    if (!isObject(object[key])) object[key] = Object.create(null);
    object = object[key] as Record<string, unknown>;
  }
  return object;
}

function clone(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(clone);
  if (!isObject(value)) return value;
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, each] of Object.entries(value)) copy[key] = clone(each);
  return copy;
}

/** The document without empty members: removing the last server from a TOML table removes the table. */
function withoutEmpty(document: JsonObject): unknown {
  const entries = Object.entries(document).filter(([, value]) => !isObject(value) || Object.keys(value).length > 0);
  return clone(Object.fromEntries(entries));
}
