/** The table of docs/scale.md about the database, and its numbers. */
import { grouped } from "../../src/base/counted.ts";
import { type MeasuredPeople, storedPages } from "./known-people.ts";
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

/** The figures about people who are known, by their names: for one of them, and for all. */
export function peopleFigures({ known, room }: MeasuredPeople): Map<string, string[]> {
  const row = (name: string, text: (each: (typeof known)[number]) => string): [string, string[]] => [
    name,
    known.map(text),
  ];
  return new Map([
    row("rows", ({ rows }) => rowsText(rows)),
    row("their tables, with indexes", ({ tablesMb }) => bytesText(tablesMb * 1_000_000)),
    row("memory of a replica after a program of one of them", ({ replicaMb }) => `${Math.round(replicaMb)} MB`),
    row("a small program of one of them, in the median", ({ programMs }) => `${Math.round(programMs)} ms`),
    row("rows that a replica without work reads in a second", ({ rowsRead }) => grouped(Math.round(rowsRead))),
    [
      `a look for room with ${grouped(storedPages)} pages, every 3 seconds`,
      ["", `${room.lookMs.toFixed(1)} ms, ${room.corePercent.toFixed(3)} % of a core`],
    ],
  ]);
}

export function peopleTableOf(measured: MeasuredPeople): string {
  const names = measured.known.map(({ people }) => (people === 1 ? "1 person" : `${grouped(people)} people`));
  const rows = [...peopleFigures(measured)].map(([name, cells]) => [name, ...cells]);
  return [["known", ...names], ["---", ...names.map(() => "---")], ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

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
