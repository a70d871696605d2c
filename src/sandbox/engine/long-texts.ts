/** Long texts on their way into an engine's memory: encoded by the platform, since emscripten's loop over characters is slow. */

/** What emscripten's module has for it, and quickjs-emscripten uses. */
export interface TextEncoding {
  lengthBytesUTF8(text: string): number;
  /** `bytes` is what there is room for at `address`, with a zero at the end. */
  stringToUTF8(text: string, address: number, bytes: number): void;
}

/** Below, the loop is faster. */
const longText = 512;

/** Replaces both functions of the module, whose memory does not grow. A lone surrogate stays with the loop, which keeps it. */
export function encodeLongTexts(module: TextEncoding, memory: WebAssembly.Memory): void {
  const { lengthBytesUTF8, stringToUTF8 } = module;
  const heap = new Uint8Array(memory.buffer);
  const encoder = new TextEncoder();
  const isLong = (text: string) => text.length > longText && text.isWellFormed();
  module.lengthBytesUTF8 = (text) => (isLong(text) ? Buffer.byteLength(text) : lengthBytesUTF8(text));
  module.stringToUTF8 = (text, address, bytes) => {
    // Where the engine has no room for the text, its allocator said so with 0, and nobody looked at it.
    if (address === 0) throw outOfMemory();
    if (!isLong(text)) return stringToUTF8(text, address, bytes);
    const { written } = encoder.encodeInto(text, heap.subarray(address, address + bytes - 1));
    heap[address + written] = 0;
  };
}

/** As what the engine throws itself. */
function outOfMemory(): Error {
  return Object.assign(new Error("no room for a text"), { guest: { name: "InternalError", message: "out of memory" } });
}
