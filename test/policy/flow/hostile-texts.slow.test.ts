/** Texts of strangers are looked at in linear time: long ones block nobody. */
import { expect, test } from "bun:test";
import { join } from "node:path";

test("long hostile texts are looked at in time", () => {
  const run = Bun.spawnSync([process.execPath, join(import.meta.dir, "hostile-texts.ts")], { timeout: 55_000 });
  expect(`${run.stdout}${run.stderr}`).toMatch(/^\d+ texts\n$/);
}, 60_000);
