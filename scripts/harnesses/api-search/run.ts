/** Measures how often search finds the right operation among those of six web APIs: `bun run api-search`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { absentDocuments, searchApis } from "./search-apis.ts";

const absent = absentDocuments();
if (absent.length > 0) {
  console.error(
    `Not here: the documents of ${absent.join(", ")}. The head of scripts/sources.ts says where they belong.`,
  );
  process.exitCode = 1;
} else {
  const folder = mkdtempSync(join(tmpdir(), "claudikins-api-search-"));
  try {
    const { operations, asked, hits, missed } = await searchApis(folder);
    console.log(`${operations} operations, ${asked} questions, hit@5 ${(hits / asked).toFixed(3)}`);
    for (const { question, wanted, found } of missed)
      console.log(`  ${question}: ${wanted}\n    ${found.join("\n    ")}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
