/** The globals of the web and of Node that agents use and the engine lacks. */
import { customInspect, type InspectOptions, inspect } from "./inspect.ts";
import { define, named } from "./named.ts";
import { Buffer } from "./node/buffer.ts";
import { process } from "./node/process.ts";
import { atob, btoa, DOMException, fromAsync, structuredClone, URL, URLSearchParams } from "./web/core-js.ts";
import { crypto } from "./web/crypto.ts";
import { TextDecoder, TextEncoder } from "./web/encoding.ts";
import { AbortController, AbortSignal, CustomEvent, Event, EventTarget } from "./web/events.ts";
import { intl } from "./web/intl.ts";
import { performance } from "./web/performance.ts";
import { defineLocaleMethods } from "./web/to-locale.ts";

const network = "The sandbox has no network: call a server's tool, or find one with tools.search.";
const threads = "The sandbox has no threads: everything runs in this program.";

/** Returns a global that is missing on purpose: using it throws an error. A server with the same name replaces it. */
function absent(name: string, why: string): unknown {
  // Not an arrow function, because some of these are constructed.
  return function refuse(): never {
    throw new Error(`${name}: ${why}`);
  };
}

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
  fetch: absent("fetch", network),
  XMLHttpRequest: absent("XMLHttpRequest", network),
  WebSocket: absent("WebSocket", network),
  EventSource: absent("EventSource", network),
  Worker: absent("Worker", threads),
});

/** Shows URLSearchParams as Node does, and a URL as its text. */
function showUrl(this: URL | URLSearchParams, _depth: number, options: InspectOptions): string {
  if (this instanceof URL) return `URL ${inspect(this.href, options)}`;
  return `URLSearchParams ${inspect(Object.fromEntries(this), options)}`;
}

for (const { prototype } of [URL, URLSearchParams]) define(prototype, { [customInspect]: showUrl });
defineLocaleMethods();
define(Array, { fromAsync });
define(Error, {
  captureStackTrace: (error: object) => {
    define(error, { stack: new Error().stack?.split("\n").slice(1).join("\n") });
  },
});

// Left by libraries that need these globals only when they load.
for (const name of ["__core-js_shared__", "Atomics"]) Reflect.deleteProperty(globalThis, name);
