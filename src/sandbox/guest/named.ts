/** Restores the names of functions, which programs can see and minifying changes. */

/** Names the functions of an object after their keys. */
export function named<T extends object>(members: T): T {
  for (const [key, { value }] of Object.entries(Object.getOwnPropertyDescriptors(members)) as [
    string,
    { value?: unknown },
  ][]) {
    if (typeof value !== "function" || value.name === key) continue;
    if (Object.getOwnPropertyDescriptor(value, "name")?.configurable ?? true) {
      Object.defineProperty(value, "name", { value: key, configurable: true });
    }
  }
  return members;
}
