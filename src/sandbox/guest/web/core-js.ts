/**
 * What core-js adds to the engine. Its modules are imported one by one, because its entry points would also replace Promise, Map
 * and Set.
 */
import "core-js-pure/modules/es.array.from-async";
import "core-js-pure/modules/web.atob";
import "core-js-pure/modules/web.btoa";
import "core-js-pure/modules/web.dom-exception.constructor";
import "core-js-pure/modules/web.dom-exception.stack";
import "core-js-pure/modules/web.dom-exception.to-string-tag";
import "core-js-pure/modules/web.structured-clone";
import "core-js-pure/modules/web.url";
import "core-js-pure/modules/web.url.can-parse";
import "core-js-pure/modules/web.url.parse";
import "core-js-pure/modules/web.url.to-json";
import "core-js-pure/modules/web.url-search-params";
import "core-js-pure/modules/web.url-search-params.delete";
import "core-js-pure/modules/web.url-search-params.has";
import "core-js-pure/modules/web.url-search-params.size";
import path from "core-js-pure/internals/path";
import { convertLong } from "./long-texts.ts";

/** Uses the function of the library for short texts, and for errors. */
function converter(name: "base64OfLatin1" | "latin1OfBase64", convert: (text: string) => string) {
  const converted = (...args: [text: string]) => convertLong(name, args[0]) ?? convert(...args);
  return Object.defineProperty(converted, "length", { value: 1 });
}

export const atob = converter("latin1OfBase64", path.atob);
export const btoa = converter("base64OfLatin1", path.btoa);
export const { DOMException, structuredClone, URL, URLSearchParams } = path;
export const { fromAsync } = path.Array;
