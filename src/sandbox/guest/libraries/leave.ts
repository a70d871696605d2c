/** Stores libraries for later parts of the guest's script. */
import type * as textEncoding from "@kayahr/text-encoding/no-encodings";
import type * as buffer from "buffer/";
import type coreJs from "core-js-pure/internals/path";
import type * as eventTarget from "event-target-shim";
import type EventEmitter from "events/";
import type querystring from "fast-querystring";
import type * as inspect from "node-inspect-extracted";
import type path from "path-browserify";

export interface Libraries {
  buffer: typeof buffer;
  coreJs: typeof coreJs;
  encoding: Pick<typeof textEncoding, "TextDecoder" | "TextEncoder">;
  EventEmitter: typeof EventEmitter;
  eventTarget: Pick<typeof eventTarget, "Event" | "EventTarget" | "setWarningHandler">;
  inspect: typeof inspect;
  path: typeof path;
  querystring: typeof querystring;
}

declare global {
  var __libraries: Partial<Libraries> | undefined;
}

export function leave<Name extends keyof Libraries>(name: Name, library: Libraries[Name]): void {
  globalThis.__libraries ??= {};
  globalThis.__libraries[name] = library;
}
