/**
 * Checks the requests of all operations of documents: `bun run requests [file…]`. Without files, it checks the documents of real APIs that
 * `scripts/sources.ts` names.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { readApi } from "../../../src/sources/openapi/api-in-worker.ts";
import { documentsFolder, realDocuments } from "../../sources.ts";
import { checkDocument } from "./check-document.ts";

/** Faults of one document that are printed. */
const maxShown = 12;

const named = process.argv.slice(2).map((each): [string, string] => [each, resolve(each)]);
const real = realDocuments.map(([name, file]): [string, string] => [name, join(documentsFolder, file)]);
const cacheFolder = mkdtempSync(join(tmpdir(), "claudikins-requests-"));
console.log("document | operations | requests | without values | shortened | faults");
try {
  for (const [name, file] of named.length > 0 ? named : real) {
    if (!existsSync(file)) continue;
    try {
      const api = await readApi({ document: file, cacheFolder, signal: new AbortController().signal });
      const { operations, requests, withoutValues, shortened, faults } = await checkDocument(api, file);
      console.log([name, operations, requests, withoutValues, shortened, faults.length].join(" | "));
      for (const { operation, text } of faults.slice(0, maxShown)) console.log(`  ${operation}: ${text.slice(0, 300)}`);
      if (faults.length > 0) process.exitCode = 1;
    } catch (error) {
      console.log(`${name} | ${String(error).slice(0, 300)}`);
      process.exitCode = 1;
    }
  }
} finally {
  rmSync(cacheFolder, { recursive: true });
}
