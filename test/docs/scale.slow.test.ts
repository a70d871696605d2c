/** The figures of docs/scale.md about the database follow from `bun run scale`. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { measurePieces } from "../../scripts/scale/pieces-of-work.ts";
import { bytesOf, rowsText } from "../../scripts/scale/table.ts";
import { root } from "../support/claudikins.ts";
import { postgresNote } from "../support/postgres.ts";

setDefaultTimeout(300_000);

/** Bytes that count as equal: a part of a page of the write-ahead log, and what else happens in the background. */
const sameBytes = 4_000;

/** The cells of each row of the table by its name: rows, bytes in tables, bytes of the write-ahead log, transactions. */
function written(): Map<string, string[]> {
  const page = readFileSync(join(root, "docs", "scale.md"), "utf8");
  const lines = page.split("\n").filter((line) => /^\|.*\| [-\d.]+ [KM]B \| [-\d.]+ [KM]B \|/.test(line));
  return new Map(lines.map((line) => line.slice(2, -2).split(" | ")).map(([name = "", ...cells]) => [name, cells]));
}

const isNear = (one: number, other: number) =>
  Math.abs(one - other) <= Math.max(sameBytes, 0.5 * Math.max(Math.abs(one), Math.abs(other)));

test.skipIf(postgresNote !== "")(`a piece of work writes what docs/scale.md says${postgresNote}`, async () => {
  const measured = await measurePieces({ countsTransactions: false, report: () => {} });
  const known = written();
  expect([...known.keys()]).toEqual(measured.map(({ name }) => name));
  const differing = measured.flatMap(({ name, rows, bytes, walBytes }) => {
    const [rowsCell = "", bytesCell = "", walCell = ""] = known.get(name) ?? [];
    const isSame =
      rowsCell === rowsText(rows) && isNear(bytes, bytesOf(bytesCell)) && isNear(walBytes, bytesOf(walCell));
    return isSame ? [] : [{ name, said: [rowsCell, bytesCell, walCell], is: [rowsText(rows), bytes, walBytes] }];
  });
  expect(differing).toEqual([]);
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
