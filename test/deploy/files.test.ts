/** The files in `deploy` name this version. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { root } from "../support/claudikins.ts";

test("the chart and its image have the version of package.json", () => {
  const chart = Bun.YAML.parse(readFileSync(join(root, "deploy", "kubernetes", "Chart.yaml"), "utf8"));
  expect(chart).toMatchObject({ version: manifest.version, appVersion: manifest.version });
});
