/** Changes the servers in a JSON or TOML file. The result is parsed again and compared with the expected document. */
import { ClaudikinsError } from "../../base/errors.ts";
import { isObject, type JsonObject, valueAt } from "../../base/json-object.ts";
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
  const { path, format } = file;
  const { removed, added, listed = [], unlisted = [] } = changes;
  const expected = parseFile(text, file);
  let edited = text;
  // Entries are added first, so that they are formatted like the existing ones.
  for (const { section, name, value } of added) {
    createdAt(expected, section)[name] = value;
    edited =
      format === "toml"
        ? addToTable(edited, section, name, value, path)
        : setMember(edited, [...section, name], value, path);
  }
  for (const { section, names } of removed) {
    const object = valueAt(expected, section);
    if (isObject(object)) for (const name of names) delete object[name];
    edited =
      format === "toml"
        ? removeFromTable(edited, section, new Set(names), path)
        : removeMembers(edited, section, names, path);
  }
  for (const { path: at, item } of listed) {
    const list = valueAt(expected, at);
    if (Array.isArray(list)) list.push(item);
    edited = appendItem(edited, at, item, path);
  }
  for (const { path: at, item } of unlisted) {
    const list = valueAt(expected, at);
    if (Array.isArray(list)) list.splice(0, list.length, ...list.filter((each) => each !== item));
    edited = removeItem(edited, at, item, path);
  }
  if (!hasContent(edited, expected, file)) {
    throw new ClaudikinsError("CONFIG_INVALID", `claudikins cannot edit ${path} safely`, {
      hint: "Edit the file by hand: remove its servers and add claudikins. The file was not changed.",
    });
  }
  return edited;
}

/** The object at the path. Missing ones are created without a prototype, so that `__proto__` is an ordinary key. */
function createdAt(document: JsonObject, path: readonly string[]): JsonObject {
  let object = document;
  for (const key of path) {
    if (!isObject(object[key])) object[key] = Object.create(null);
    object = object[key] as JsonObject;
  }
  return object;
}

function hasContent(text: string, expected: JsonObject, file: Source): boolean {
  try {
    return Bun.deepEquals(withoutEmpty(parseFile(text, file)), withoutEmpty(expected));
  } catch {
    return false;
  }
}

/** The document without empty members: removing the last server from a TOML table removes the table. */
function withoutEmpty(document: JsonObject): JsonObject {
  const entries = Object.entries(document).filter(([, value]) => !isObject(value) || Object.keys(value).length > 0);
  return Object.fromEntries(entries);
}
