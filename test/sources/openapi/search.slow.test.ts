/** Search over the documents of six web APIs. `bun run api-search` prints the questions without a right tool. */
import { expect, test } from "bun:test";
import { absentDocuments, searchApis } from "../../../scripts/harnesses/api-search/search-apis.ts";
import { ownFolder } from "../../support/own-folder.ts";

const folder = ownFolder();

// The documents are too large for the repository.
test.skipIf(absentDocuments().length > 0)("a right operation of six APIs is among the first five", async () => {
  const { operations, asked, hits } = await searchApis(folder.path);
  expect(operations).toBeGreaterThan(3_000);
  expect(hits / asked).toBeGreaterThanOrEqual(0.85);
});
