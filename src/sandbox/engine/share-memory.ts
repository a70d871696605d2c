/**
 * Declares the memory that a WebAssembly program imports as shared. A shared memory grows in place (see `EngineMemory`). The instructions
 * that use it are the same. The build runs this, and so does a start from source.
 */
import { BinaryReader, type IImportEntry } from "wasmparser";
import { state } from "./make-interruptible.ts";

const memoryKind = 2;

/** In the byte before the limits of a memory. */
const flags = { maximum: 1, shared: 2 };

/** Throws if the program imports no memory that has a maximum. */
export function shareMemory(program: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const shared = program.slice();
  // The flags are before the two numbers of the limits.
  const at = beforeNumber(shared, beforeNumber(shared, memoryEnd(shared) - 1));
  if (shared[at] !== flags.maximum) throw new Error("the memory of the program has no maximum");
  shared[at] = flags.maximum | flags.shared;
  return shared;
}

/** The offset before a number that ends at `at`. All bytes of a number but its last have the highest bit. */
function beforeNumber(program: Uint8Array, at: number): number {
  let before = at - 1;
  while (program[before]! >= 0x80) before -= 1;
  return before;
}

/** The offset after the import of the memory. */
function memoryEnd(program: Uint8Array<ArrayBuffer>): number {
  const reader = new BinaryReader();
  reader.setData(program.buffer, 0, program.length);
  while (reader.read() && (reader.state as number) !== state.end) {
    if ((reader.state as number) === state.error) throw reader.error;
    if ((reader.state as number) !== state.import) continue;
    if (((reader.result as IImportEntry).kind as number) === memoryKind) return reader.position;
  }
  throw new Error("the program imports no memory");
}
