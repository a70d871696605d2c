/** Writes numbers for people. */

/** Writes a number of things: `1 call`, `1,234 calls`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Writes a number with commas, as in 1,234,567. Loading `Intl` would take longer than a small execution. */
export function grouped(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ",");
}
