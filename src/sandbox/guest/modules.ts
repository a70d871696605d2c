/** The modules of Node that programs may import or require, by name without `node:`. */
import { guestConsole } from "./console.ts";
import { buffer, path, querystring } from "./library.ts";
import { named } from "./named.ts";
import { assert, assertStrict } from "./node/assert.ts";
import { Buffer } from "./node/buffer.ts";
import { crypto } from "./node/crypto.ts";
import { EventEmitter } from "./node/events.ts";
import { fsModule, fsPromises } from "./node/fs.ts";
import { os } from "./node/os.ts";
import { process } from "./node/process.ts";
import { StringDecoder } from "./node/string-decoder.ts";
import { url } from "./node/url.ts";
import { util } from "./node/util.ts";
import { timersModule, timersPromises } from "./timers.ts";
import { performance } from "./web/performance.ts";

/** Returns a module that is one value: the value itself, which may be a function, and also its default export. */
function whole(members: object): object {
  return Object.defineProperty(named(members), "default", { value: members, configurable: true });
}

/** Each module is created when it is first used. */
export const nodeModules: Record<string, () => object> = {
  __proto__: null as never,
  assert: () => whole(assert),
  "assert/strict": () => whole(assertStrict),
  buffer: () => ({ ...buffer, Buffer, atob: globalThis.atob, btoa: globalThis.btoa }),
  console: () => whole(guestConsole),
  crypto: () => whole(crypto),
  events: () => whole(EventEmitter),
  fs: () => whole(fsModule),
  "fs/promises": () => whole(fsPromises),
  os: () => whole(os),
  path: () => whole(path),
  "path/posix": () => whole(path),
  perf_hooks: () => ({ performance }),
  process: () => whole(process),
  querystring: () => whole(querystring),
  string_decoder: () => ({ StringDecoder }),
  timers: () => whole(timersModule),
  "timers/promises": () => whole(timersPromises),
  url: () => whole(url),
  util: () => whole(util),
  "util/types": () => whole(util.types),
};
