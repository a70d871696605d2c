/** The search index of many tools is stored beside the registry, with the same answers, and is never outdated. */
import { expect, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { syntheticIndex, syntheticQueries } from "../../scripts/bench/search-corpus.ts";
import type { RegistryIndex } from "../../src/tools/model.ts";
import { keepPrepared, listedTools, preparedIn } from "../../src/tools/search/prepared-index.ts";
import { ToolSearch } from "../../src/tools/search/tool-search.ts";
import { ownFolder } from "../support/own-folder.ts";

const folder = ownFolder();

const kept = () => join(folder.path, "search.json");
const answers = (index: RegistryIndex, from?: string) => {
  const search = new ToolSearch(index, from === undefined ? undefined : preparedIn(from, listedTools(index.servers)));
  return [...syntheticQueries(40), "archvie invoise"].map((query) =>
    search.search(query, 5).map(({ id, score }) => [id, score]),
  );
};

test("answers are the same without a stored index, with a new one, and with a stored one", () => {
  const index = syntheticIndex(100);
  const plain = answers(index);
  expect(answers(index, folder.path)).toEqual(plain);
  const text = readFileSync(kept(), "utf8");
  expect(answers(index, folder.path)).toEqual(plain);
  expect(readFileSync(kept(), "utf8")).toBe(text);
});

test("an index that is only written is the one that a search reads", () => {
  const index = syntheticIndex(110);
  keepPrepared(folder.path, listedTools(index.servers));
  const { mtimeMs } = statSync(kept());
  expect(answers(index, folder.path)).toEqual(answers(index));
  keepPrepared(folder.path, listedTools(index.servers));
  expect(statSync(kept()).mtimeMs).toBe(mtimeMs);
  keepPrepared(join(folder.path, "few"), listedTools(syntheticIndex(10).servers));
  expect(existsSync(join(folder.path, "few"))).toBe(false);
});

test("few tools are indexed without a stored index", () => {
  answers(syntheticIndex(10), folder.path);
  expect(existsSync(kept())).toBe(false);
});

test("an index of other tools is replaced", () => {
  const index = syntheticIndex(100);
  answers(index, folder.path);
  index.servers[3]!.tools[4]!.description = "Feeds the giraffe";
  const search = new ToolSearch(index, preparedIn(folder.path, listedTools(index.servers)));
  expect(search.search("giraffe", 1)).toMatchObject([
    { server: { name: index.servers[3]!.name }, tool: { description: "Feeds the giraffe" } },
  ]);
});

test.each([
  ["cut off", (text: string) => text.slice(0, text.length / 2)],
  ["empty", () => ""],
  ["not JSON", (text: string) => `${text.split("\n")[0]}\n{{{\n`],
  ["from another version", (text: string) => text.replace(/"stamp":"[^"]+"/, '"stamp":"0 1 x"')],
])("an index that is %s is replaced", (_, damage) => {
  const index = syntheticIndex(60);
  const plain = answers(index, folder.path);
  writeFileSync(kept(), damage(readFileSync(kept(), "utf8")));
  expect(answers(index, folder.path)).toEqual(plain);
});

test("search works without a writable folder", () => {
  const index = syntheticIndex(60);
  chmodSync(folder.path, 0o500);
  expect(answers(index, join(folder.path, "missing"))).toEqual(answers(index));
  chmodSync(folder.path, 0o700);
});
