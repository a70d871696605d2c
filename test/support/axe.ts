/** What axe finds on a page: rules of accessibility that are broken, each with the first element that breaks it. */
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";

const axe = readFileSync(Bun.resolveSync("axe-core/axe.min.js", import.meta.dir), "utf8");

export async function axeFindings(page: Page): Promise<[rule: string, html: string][]> {
  return page.evaluate(
    `${axe};axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))`,
  );
}
