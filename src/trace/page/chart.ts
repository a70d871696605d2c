/** How many calls ran at each time, as a curve: of all of them, however many there are. */
import { openCalls } from "../overlap.ts";
import type { RecordedCall } from "../record.ts";
import { type Html, html } from "./html.ts";

const width = 600;
const height = 40;

export function inFlightChart(calls: readonly RecordedCall[], totalMs: number, most: number): Html {
  const columns = new Array<number>(width).fill(0);
  let [open, from] = [0, 0];
  for (const step of [...openCalls(calls), { atMs: totalMs, open: 0 }]) {
    const to = Math.min(width, Math.ceil((step.atMs / totalMs) * width));
    for (let column = Math.floor(from); column < to; column++) columns[column] = Math.max(columns[column]!, open);
    [open, from] = [step.open, (step.atMs / totalMs) * width];
  }
  const top = (count: number) => Math.round((1 - count / most) * height * 10) / 10;
  const path = columns
    .map((count, column) => (count === columns[column + 1] ? "" : `V${top(count)}H${column + 1}`))
    .join("");
  return html`<svg class="flight" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="Concurrent calls: up to ${most}"><path d="M0 ${height}${path}V${height}Z"/></svg>`;
}
