/** Copies long texts into an engine's memory with the platform's encoder: emscripten's loop over characters is slow. */

import type { EngineMemory } from "./engine-memory.ts";

/** Shorter texts are copied into the engine with emscripten's loop, which is faster for them than the platform's encoder. */
const minEncodedChars = 512;

/** The functions of emscripten's module that quickjs-emscripten uses for texts. */
export interface TextEncoding {
  lengthBytesUTF8(text: string): number;
  /** `bytes` is the room at `address`, including a final zero. */
  stringToUTF8(text: string, address: number, bytes: number): void;
}

/** Replaces both functions of the module. Texts with lone surrogates are left to the loop, which keeps them. */
export function encodeLongTexts(module: TextEncoding, memory: EngineMemory): void {
  const { lengthBytesUTF8, stringToUTF8 } = module;
  const encoder = new TextEncoder();
  const isLong = (text: string) => text.length > minEncodedChars && text.isWellFormed();
  module.lengthBytesUTF8 = (text) => (isLong(text) ? Buffer.byteLength(text) : lengthBytesUTF8(text));
  module.stringToUTF8 = (text, address, bytes) => {
    // The allocator returned 0 because there is no room, and the caller did not check it.
    if (address === 0) throw outOfMemory();
    if (!isLong(text)) return stringToUTF8(text, address, bytes);
    const { written } = encoder.encodeInto(text, memory.bytes.subarray(address, address + bytes - 1));
    memory.bytes[address + written] = 0;
  };
}

/** The error that the engine would throw. */
export function outOfMemory(): Error {
  return Object.assign(new Error("no room for a text"), { guest: { name: "InternalError", message: "out of memory" } });
}
