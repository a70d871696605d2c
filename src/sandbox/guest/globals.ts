/** The globals of the web and of Node that agents use and the engine lacks. */

import fromAsync from "core-js-pure/stable/array/from-async";
import atob from "core-js-pure/stable/atob";
import btoa from "core-js-pure/stable/btoa";
import DOMException from "core-js-pure/stable/dom-exception";
import URL from "core-js-pure/stable/url";
import URLSearchParams from "core-js-pure/stable/url-search-params";
import { customInspect, type InspectOptions, inspect } from "./inspect.ts";
import { named } from "./named.ts";
import { Buffer } from "./node/buffer.ts";
import { process } from "./node/process.ts";
import { AbortController, AbortSignal } from "./web/abort.ts";
import { absent } from "./web/absent.ts";
import { crypto } from "./web/crypto.ts";
import { TextDecoder, TextEncoder } from "./web/encoding.ts";
import { CustomEvent, Event, EventTarget } from "./web/events.ts";
import { intl } from "./web/intl.ts";
import { performance } from "./web/performance.ts";
import { structuredClone } from "./web/structured-clone.ts";
import { defineLocaleMethods } from "./web/to-locale.ts";

/** The globals by name. They are defined once, before any code of the program runs. */
export const globals: Record<string, unknown> = named({
  global: globalThis,
  self: globalThis,
  URL,
  URLSearchParams,
  TextEncoder,
  TextDecoder,
  atob,
  btoa,
  Buffer,
  structuredClone,
  AbortController,
  AbortSignal,
  Event,
  EventTarget,
  CustomEvent,
  DOMException,
  crypto,
  performance,
  process,
  Intl: intl,
  ...absent,
});

for (const { prototype } of [URL, URLSearchParams]) {
  Object.defineProperty(prototype, customInspect, { value: showUrl, configurable: true });
}

/** Shows URLSearchParams as Node does, and a URL as its text. */
function showUrl(this: URL | URLSearchParams, _depth: number, options: InspectOptions): string {
  if (this instanceof URL) return `URL ${inspect(this.href, options)}`;
  return `URLSearchParams ${inspect(Object.fromEntries(this), options)}`;
}

defineLocaleMethods();
Object.defineProperty(Array, "fromAsync", { value: fromAsync, writable: true, configurable: true });
Object.defineProperty(Error, "captureStackTrace", {
  value: (error: object) => {
    const stack = new Error().stack?.split("\n").slice(1).join("\n");
    Object.defineProperty(error, "stack", { value: stack, writable: true, configurable: true });
  },
  writable: true,
  configurable: true,
});

// Left by libraries that need these globals only when they load.
for (const name of ["__core-js_shared__", "Atomics"]) Reflect.deleteProperty(globalThis, name);
