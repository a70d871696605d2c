/** The memory that is taken, of this process or of its container. */
import { expect, test } from "bun:test";
import { totalmem } from "node:os";
import { join } from "node:path";
import { takenMemory } from "../../src/base/machine-memory.ts";
import { megabyte } from "../../src/base/units.ts";
import { root } from "../support/claudikins.ts";
import { controlGroup, controlGroupNote } from "../support/control-group.ts";

/** Prints the memory that is taken, before another process takes 100 MB and afterwards. */
const looking = `
  import { takenMemory } from ${JSON.stringify(join(root, "src/base/machine-memory.ts"))};
  console.log(takenMemory());
  const code = "globalThis.all = Buffer.alloc(100 * 1_048_576, 1); console.log(1); setInterval(() => {}, 1_000)";
  const other = Bun.spawn([process.execPath, "-e", code], { stdout: "pipe" });
  await other.stdout.getReader().read();
  await Bun.sleep(600);
  console.log(takenMemory());
  other.kill("SIGKILL");
  await other.exited;`;

function looks(inside: (command: readonly string[]) => readonly string[]): [number, number] {
  const { stdout } = Bun.spawnSync([...inside([process.execPath, "-e", looking])]);
  return stdout.toString().trim().split("\n").map(Number) as [number, number];
}

const hasLimit = process.constrainedMemory() > 0 && process.constrainedMemory() < totalmem();
const limitNote = hasLimit ? " (skipped: this machine is a container with a limit)" : "";

test.skipIf(hasLimit)(`without a limit, this process counts alone${limitNote}`, () => {
  expect(Math.abs(takenMemory() - process.memoryUsage.rss())).toBeLessThan(50 * megabyte);
  const [before, after] = looks((command) => command);
  expect(after - before).toBeLessThan(50 * megabyte);
});

test.skipIf(controlGroupNote !== "")(`in a container, other processes count too${controlGroupNote}`, () => {
  using group = controlGroup(2 ** 30);
  const [before, after] = looks(group!.inside);
  expect(before).toBeGreaterThan(0);
  expect(after - before).toBeGreaterThan(95 * megabyte);
  expect(after - before).toBeLessThan(200 * megabyte);
});
