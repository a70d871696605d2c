/** Temporary files of tests are in memory where that is possible: tests then take a tenth less CPU. */
import { accessSync, constants, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./temporary.ts";

/**
 * Linux has it. Containers often make it small, or forbid to start programs in it. A sandbox of a server has a /dev of its own, and paths
 * in it count as parts of the system: tests of both use `diskFolder`.
 */
const memoryDisk = "/dev/shm";

/** A run of all tests needs a part of it. */
const neededBytes = 4 * 1_024 ** 3;

export function useMemoryDisk(): void {
  if (process.env["TMPDIR"] === undefined && isUseful()) process.env["TMPDIR"] = memoryDisk;
}

function isUseful(): boolean {
  try {
    accessSync(memoryDisk, constants.W_OK);
    const { bavail, bsize } = statfsSync(memoryDisk);
    return bavail * bsize > neededBytes && startsPrograms();
  } catch {
    return false;
  }
}

function startsPrograms(): boolean {
  using folder = temporaryFolder(memoryDisk);
  const program = join(folder.path, "program");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
  return Bun.spawnSync([program]).success;
}
