/** Defines what programs can see of functions: their names, which minifying changes, and properties that are not enumerable. */

/** Names the functions of an object after their keys. */
export function named<T extends object>(members: T): T {
  for (const [key, { value }] of Object.entries<PropertyDescriptor>(Object.getOwnPropertyDescriptors(members))) {
    if (typeof value !== "function" || value.name === key) continue;
    if (Object.getOwnPropertyDescriptor(value, "name")?.configurable ?? true) {
      Object.defineProperty(value, "name", { value: key, configurable: true });
    }
  }
  return members;
}

/** Defines or replaces properties that are not enumerable, like the methods of a class. */
export function define<T extends object>(object: T, members: Record<PropertyKey, unknown>): T {
  for (const key of Reflect.ownKeys(members)) {
    Object.defineProperty(object, key, { value: members[key], writable: true, configurable: true });
  }
  return object;
}
