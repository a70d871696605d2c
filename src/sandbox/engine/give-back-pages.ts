/** Gives pages of an engine's memory back to the system. */
import { type Pointer, ptr } from "bun:ffi";
import { openLibrary } from "../../base/c-library.ts";

/** MADV_DONTNEED: on Linux, the pages of such a memory are zero when they are used again. */
const dontNeed = 4;

const library =
  process.platform === "linux"
    ? openLibrary({ madvise: { args: ["ptr", "usize", "int"], returns: "int" } })
    : undefined;

/**
 * Returns false if the memory is as it was, such as if `from` is within a page of the system. The page in which `to` is goes back as a
 * whole.
 */
export function giveBackPages(memory: Uint8Array, from: number, to: number): boolean {
  return library?.symbols.madvise((ptr(memory) + from) as Pointer, to - from, dontNeed) === 0;
}
