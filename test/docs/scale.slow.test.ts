/** The figures of docs/scale.md about the database follow from `bun run scale`. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { measurePeople } from "../../scripts/scale/known-people.ts";
import { measurePieces } from "../../scripts/scale/pieces-of-work.ts";
import { bytesOf, peopleFigures, rowsText } from "../../scripts/scale/table.ts";
import { root } from "../support/claudikins.ts";
import { postgresNote } from "../support/postgres.ts";

setDefaultTimeout(300_000);

/** Bytes that count as equal: a part of a page of the write-ahead log, and what else happens in the background. */
const sameBytes = 4_000;

/** The cells of each row of a table of the page, by the first one. `head` is the table's first cell. */
function written(head: string): Map<string, string[]> {
  const lines = readFileSync(join(root, "docs", "scale.md"), "utf8").split("\n");
  const from = lines.findIndex((line) => line.startsWith(`| ${head} |`)) + 2;
  const rows = lines.slice(from, lines.indexOf("", from)).map((line) => line.slice(2, -2).split(" | "));
  return new Map(rows.map(([name = "", ...cells]) => [name, cells]));
}

const isNear = (one: number, other: number) =>
  Math.abs(one - other) <= Math.max(sameBytes, 0.5 * Math.max(Math.abs(one), Math.abs(other)));

test.skipIf(postgresNote !== "")(`a piece of work writes what docs/scale.md says${postgresNote}`, async () => {
  const measured = await measurePieces({ countsTransactions: false, report: () => {} });
  const known = written("work");
  expect([...known.keys()]).toEqual(measured.map(({ name }) => name));
  const differing = measured.flatMap(({ name, rows, bytes, walBytes }) => {
    const [rowsCell = "", bytesCell = "", walCell = ""] = known.get(name) ?? [];
    const isSame =
      rowsCell === rowsText(rows) && isNear(bytes, bytesOf(bytesCell)) && isNear(walBytes, bytesOf(walCell));
    return isSame ? [] : [{ name, said: [rowsCell, bytesCell, walCell], is: [rowsText(rows), bytes, walBytes] }];
  });
  expect(differing).toEqual([]);
});

/** Counts that differ by less are equal. */
const sameCount = 5;

/** A small program may take this much longer while other tests run. */
const busyMs = 100;

/** The numbers of a cell. Other text stays as it is. */
const numbersIn = (cell: string) =>
  [...cell.matchAll(/\d[\d,.]*/g)].map(([number]) => Number(number.replaceAll(",", "")));

test.skipIf(postgresNote !== "")(`people who are known cost what docs/scale.md says${postgresNote}`, async () => {
  const measured = await measurePeople(() => {});
  const [said, is] = [written("known"), peopleFigures(measured)];
  expect([...said.keys()]).toEqual([...is.keys()]);
  const cellsOf = (figures: Map<string, string[]>, name: string) => figures.get(name)?.map((cell) => cell.trim()) ?? [];
  const differing = [...said.keys()].flatMap((name) => {
    const [page, now] = [cellsOf(said, name), cellsOf(is, name)];
    const slack = / ms$/.test(page[0] ?? "") ? busyMs : sameCount;
    const isSame = page.every((cell, place) => {
      if (name === "rows") return cell === now[place];
      if (bytesOf(cell) > 0) return isNear(bytesOf(cell), bytesOf(now[place]!));
      const others = numbersIn(now[place]!);
      return numbersIn(cell).every(
        (number, at) => Math.abs(number - others[at]!) <= slack + 0.5 * Math.max(number, others[at]!),
      );
    });
    return isSame || name.startsWith("a look") ? [] : [{ name, page, now }];
  });
  expect(differing).toEqual([]);
  expect(measured.room.corePercent).toBeLessThan(1);
});

test("a figure that is off by more than a half is told from one that is near", () => {
  expect([isNear(100_000, 51_000), isNear(100_000, 49_000), isNear(500, 3_000), isNear(-60_000, -90_000)]).toEqual([
    true,
    false,
    true,
    true,
  ]);
  expect([bytesOf("76.3 KB"), bytesOf("-60.2 KB"), bytesOf("10.5 MB")]).toEqual([76_300, -60_200, 10_500_000]);
});
