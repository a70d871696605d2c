/** The database of what outlives a process. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { isNewerDatabase } from "../../../src/store/sqlite/database.ts";
import { runProgram } from "../../support/process.ts";
import { temporaryFolder } from "../../support/temporary.ts";

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

test("whether a newer version has changed it can be asked while another process has locked it", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "locked.sqlite");
  const holder = Bun.spawn([process.execPath, join(import.meta.dir, "hold-lock.ts"), file], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await holder.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toBe("locked\n");
  holder.stdin.write("unlock\n");
  holder.stdin.flush();
  expect(await isNewerDatabase(file)).toBe(false);
  expect(await holder.exited).toBe(0);
});
