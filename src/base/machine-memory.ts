/** The memory of the machine that this process runs on. */
import { totalmem } from "node:os";

/** In bytes. Inside a container with a limit, that limit. */
export function machineMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
