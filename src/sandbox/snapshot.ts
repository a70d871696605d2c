/**
 * The memory of an engine in which the guest's script has run, taken when the executable is built. Parsing the script
 * in a cold engine takes longer than everything else an execution does before its code runs; copying does not.
 *
 * It is laid over a fresh engine that has done the same steps up to the script: QuickJS and its allocator are
 * deterministic, so that all addresses are the same. Where they are not, the snapshot is not used.
 */
import type { QuickJSContext } from "quickjs-emscripten-core";
import { Cell } from "./cell.ts";
import type { Engine } from "./engine.ts";

/** Memory is kept and laid back in blocks; those that the script left as they were are not in the snapshot. */
const blockBytes = 256;

/** The same for every fresh engine up to here; another when anything before went another way. */
function allocationMark(context: QuickJSContext): number {
  using probe = context.newObject();
  return Number(probe.value) ^ (Number(context.global.value) << 8);
}

/** Makes the guest ready the long way. */
export function runGuest(context: QuickJSContext, guestScript: string): void {
  context.unwrapResult(context.evalCode(guestScript, "guest.js", { type: "global" })).dispose();
}

/** Before the blocks: the mark, the engine's end address, and the count of blocks. */
const headWords = 3;

/**
 * For the build: runs the guest's script in a fresh engine. The snapshot is a row of 32-bit numbers (the head, then the
 * numbers of the blocks that the script changed) and then those blocks.
 */
export function takeSnapshot(engine: Engine, endAddress: number, guestScript: string): Uint8Array {
  let snapshot = new Uint8Array();
  const memory = new Uint8Array(engine.memory.buffer);
  new Cell(engine, endAddress, (context) => {
    const mark = allocationMark(context);
    const before = memory.slice();
    runGuest(context, guestScript);
    const changed = changedBlocks(before, memory);
    snapshot = new Uint8Array(4 * (headWords + changed.length) + blockBytes * changed.length);
    const head = new Int32Array(snapshot.buffer, 0, headWords + changed.length);
    head.set([mark, endAddress, changed.length, ...changed]);
    for (const [index, block] of changed.entries()) {
      snapshot.set(blockOf(memory, block), head.byteLength + index * blockBytes);
    }
  });
  return snapshot;
}

/** The engine's end address, see `findEndAddress`. */
export function endAddressOf(snapshot: Uint8Array): number {
  return new Int32Array(snapshot.buffer, snapshot.byteOffset, headWords)[1]!;
}

/** True when the engine now is as if the script had run in it. */
export function restoreSnapshot(engine: Engine, context: QuickJSContext, snapshot: Uint8Array): boolean {
  const [mark = 0, , count = 0] = new Int32Array(snapshot.buffer, snapshot.byteOffset, headWords);
  if (allocationMark(context) !== mark) return false;
  const memory = new Uint8Array(engine.memory.buffer);
  const blocks = new Int32Array(snapshot.buffer, snapshot.byteOffset + 4 * headWords, count);
  const kept = snapshot.subarray(4 * headWords + blocks.byteLength);
  for (const [index, block] of blocks.entries()) memory.set(blockOf(kept, index), block * blockBytes);
  return true;
}

function changedBlocks(before: Uint8Array, after: Uint8Array): number[] {
  const changed: number[] = [];
  for (let block = 0; block * blockBytes < after.length; block++) {
    if (Buffer.compare(blockOf(before, block), blockOf(after, block)) !== 0) changed.push(block);
  }
  return changed;
}

function blockOf(bytes: Uint8Array, block: number): Uint8Array {
  return bytes.subarray(block * blockBytes, (block + 1) * blockBytes);
}
