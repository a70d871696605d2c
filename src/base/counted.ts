/** Writes numbers for people. Nothing here may need Bun, because the page uses it too. */

/** Writes a number of things: `1 call`, `1,234 calls`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${grouped(count)} ${count === 1 ? noun : plural}`;
}

/** Writes a number with commas, as in 1,234,567. Loading `Intl` would take longer than a small execution. */
export function grouped(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ",");
}
