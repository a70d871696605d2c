/** Selects the parts of a result's shape that a model needs to read: the parts with known types, or the changed parts. */
import { isObject, type JsonObject } from "../../base/json-object.ts";

/** The shape without fields of unknown types. Undefined if nothing is left. */
export function tellingPart(shape: JsonObject): JsonObject | undefined {
  const { properties, items, additionalProperties } = shape;
  const inner = (value: unknown) => (isObject(value) ? tellingPart(value) : undefined);
  if (isObject(properties)) {
    const telling = Object.entries(properties).flatMap(([name, each]) => {
      const part = inner(each);
      return part ? [[name, part] as const] : [];
    });
    return telling.length === 0 ? undefined : withFields(shape, telling);
  }
  const types = [shape["type"] ?? []].flat().filter((type) => type !== "null");
  if (types.join() === "array") return inner(items) && { ...shape, items: inner(items) };
  if (types.join() === "object") return inner(additionalProperties) && shape;
  return types.length === 0 ? undefined : shape;
}

/** The parts of a shape that differ from the shape before. Undefined if none does. */
export function changedPart(before: JsonObject, now: JsonObject): JsonObject | undefined {
  const { properties, items } = now;
  const { properties: fieldsBefore, items: itemsBefore } = before;
  const isSame = JSON.stringify(before["type"]) === JSON.stringify(now["type"]);
  if (isSame && isObject(properties) && isObject(fieldsBefore)) {
    const changed = Object.entries(properties).flatMap(([name, each]) => {
      const earlier = Object.hasOwn(fieldsBefore, name) ? fieldsBefore[name] : undefined;
      if (!isObject(each) || !isObject(earlier)) return [[name, each] as const];
      const isKept = isRequired(before, name) === isRequired(now, name);
      const part = isKept ? changedPart(earlier, each) : each;
      return part ? [[name, part] as const] : [];
    });
    return changed.length > 0 ? withFields(now, changed) : undefined;
  }
  if (isSame && isObject(items) && isObject(itemsBefore)) {
    const part = changedPart(itemsBefore, items);
    return part && { ...now, items: part };
  }
  return JSON.stringify(before) === JSON.stringify(now) ? undefined : now;
}

function isRequired({ required }: JsonObject, name: string): boolean {
  return Array.isArray(required) && required.includes(name);
}

/** The shape with these fields alone. Allows any name, even `__proto__`. */
function withFields(shape: JsonObject, fields: readonly (readonly [string, unknown])[]): JsonObject {
  const required = fields.flatMap(([name]) => (isRequired(shape, name) ? [name] : []));
  return { ...shape, required, properties: Object.assign(Object.create(null), Object.fromEntries(fields)) };
}
