/** Locks of processes that run stored executions. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isOwnerAlive, LockOwner } from "../../../src/store/sqlite/owner.ts";
import { temporaryFolder } from "../../support/temporary.ts";

test("a process that holds its lock is alive, and one that has left its lock behind is not", async () => {
  using folder = temporaryFolder();
  await using owner = await LockOwner.take(folder.path);
  expect(await isOwnerAlive(folder.path, owner.name)).toBe(true);
  expect(await isOwnerAlive(folder.path, "unknown")).toBe(false);
});

test("many may look for a dead process at the same moment", async () => {
  using folder = temporaryFolder();
  for (let round = 0; round < 20; round++) {
    writeFileSync(join(folder.path, `dead-${round}.lock`), "");
    const look = async (turns: number) => {
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      return isOwnerAlive(folder.path, `dead-${round}`);
    };
    const seen = Array.from({ length: 12 }, (_, turns) => look(turns));
    expect(await Promise.all(seen)).toEqual(seen.map(() => false));
  }
});
