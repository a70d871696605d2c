/** The key of a saved program on the page. */

/** Names a program uniquely among all doors. */
export function programKey({ name, door }: { name: string; door?: string | undefined }): string {
  return JSON.stringify([door ?? null, name]);
}
