/** Applies overlays, as the OpenAPI Overlay Specification 1.0 says: actions that change or remove parts of a document. */
import { isObject, type JsonObject } from "../../../base/json-object.ts";
import { type Found, select } from "./json-path.ts";
import { invalid } from "./parse-document.ts";

/** Actions of one overlay. */
const maxActions = 5_000;

/** Levels of an update. */
const maxUpdateLevels = 200;

/** The changed document. Throws CONFIG_INVALID. */
export function withOverlay(document: JsonObject, overlay: JsonObject): JsonObject {
  const { actions } = overlay;
  if (overlay["overlay"] === undefined || !Array.isArray(actions))
    throw invalid("The overlay has no version or no actions", 'An overlay begins with "overlay: 1.0.0".');
  if (actions.length > maxActions) throw invalid(`The overlay has more than ${maxActions} actions`);
  const top = { document };
  for (const action of actions) {
    if (!isObject(action) || typeof action["target"] !== "string")
      throw invalid("An action of the overlay has no target");
    const found = select(action["target"], top.document, { parent: top, key: "document" });
    if (action["remove"] === true) remove(found);
    else if ("update" in action) for (const each of found) update(each, action["update"]);
    else if (typeof action["copy"] === "string") copy(action["copy"], top, found);
  }
  return top.document;
}

/** From the end, so that places in lists stay right. */
function remove(found: readonly Found[]): void {
  for (const { parent, key } of found.toReversed()) {
    if (Array.isArray(parent)) parent.splice(key as number, 1);
    else delete (parent as JsonObject)[key];
  }
}

/** Objects are merged, and lists get one more item. */
function update({ parent, key, value }: Found, change: unknown): void {
  if (Array.isArray(value)) value.push(structuredClone(change));
  else if (isObject(value) && isObject(change)) merge(value, change, 0);
  else (parent as JsonObject)[key] = structuredClone(change);
}

function copy(from: string, top: { document: JsonObject }, found: readonly Found[]): void {
  const [source] = select(from, top.document, { parent: top, key: "document" });
  if (source) for (const each of found) update(each, source.value);
}

function merge(into: JsonObject, change: JsonObject, level: number): void {
  for (const [key, value] of Object.entries(change)) {
    const present = Object.hasOwn(into, key) ? into[key] : undefined;
    if (isObject(present) && isObject(value) && level < maxUpdateLevels) merge(present, value, level + 1);
    else if (Array.isArray(present) && Array.isArray(value)) present.push(...structuredClone(value));
    else
      Object.defineProperty(into, key, {
        value: structuredClone(value),
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
}
