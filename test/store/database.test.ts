/** The database of what outlives a process. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { runProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

test("processes that create it at the same moment all open it", async () => {
  using folder = temporaryFolder();
  const script = join(import.meta.dir, "open-once.ts");
  for (let round = 0; round < 8; round++) {
    const at = String(Date.now() + 400);
    const file = join(folder.path, `${round}.sqlite`);
    const all = Array.from({ length: 6 }, () => runProgram([process.execPath, script, file, at]));
    expect((await Promise.all(all)).map(({ stdout }) => stdout.trim())).toEqual(all.map(() => "opened"));
  }
});
