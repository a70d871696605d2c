/** What core-js adds to the engine. */
import { coreJs } from "../library.ts";
import { convertLong } from "./long-texts.ts";

/** Uses the function of the library for short texts, and for errors. */
function converter(name: "base64OfLatin1" | "latin1OfBase64", convert: (text: string) => string) {
  const converted = (...args: [text: string]) => convertLong(name, args[0]) ?? convert(...args);
  return Object.defineProperty(converted, "length", { value: 1 });
}

export const atob = converter("latin1OfBase64", coreJs.atob);
export const btoa = converter("base64OfLatin1", coreJs.btoa);
export const { DOMException, structuredClone, URL, URLSearchParams } = coreJs;
export const { fromAsync } = coreJs.Array;
