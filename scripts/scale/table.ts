/** The table of docs/scale.md about the database, and its numbers. */
import { grouped } from "../../src/base/counted.ts";
import type { MeasuredPiece } from "./pieces-of-work.ts";

const head = ["work", "rows", "in tables", "WAL", "transactions"] as const;

export function tableOf(measured: readonly MeasuredPiece[]): string {
  const rows = measured.map(({ name, rows: counts, bytes, walBytes, transactions }) => [
    name,
    rowsText(counts),
    bytesText(bytes),
    bytesText(walBytes),
    Number.isNaN(transactions) ? "" : transactions < 0.5 ? "0" : grouped(Math.round(transactions)),
  ]);
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** A row of this table is for all programs of a moment. */
const shared = "counts";

/** Such as "1 in `records`, 52 in `pages`". Rows that not every second piece of work has are left out. */
export function rowsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([table, count]) => table !== shared && Math.abs(count) >= 0.5)
    .map(([table, count]) => `${grouped(Math.round(count))} in \`${table}\``)
    .join(", ");
}

/** In KB or MB with one digit after the point. */
function bytesText(bytes: number): string {
  const [kilobytes, megabytes] = [bytes / 1_000, bytes / 1_000_000];
  return Math.abs(megabytes) >= 1 ? `${megabytes.toFixed(1)} MB` : `${kilobytes.toFixed(1)} KB`;
}

/** The bytes of a cell. */
export function bytesOf(cell: string): number {
  const [, number, unit] = /^(-?[\d.]+) (KB|MB)/.exec(cell) ?? [];
  return Number(number) * (unit === "MB" ? 1_000_000 : 1_000);
}
