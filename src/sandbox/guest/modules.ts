/** The modules of Node that programs may import or require, by name without `node:`. */
import { guestConsole } from "./console.ts";
import { watch } from "./floating.ts";
import { buffer, EventEmitter, path, querystring } from "./library.ts";
import { named } from "./named.ts";
import { assert, assertStrict } from "./node/assert.ts";
import { Buffer, bytesOf } from "./node/buffer.ts";
import { crypto } from "./node/crypto.ts";
import { fsModule, fsPromises } from "./node/fs.ts";
import { process } from "./node/process.ts";
import { util } from "./node/util.ts";
import { timersModule, timersPromises } from "./timers.ts";
import { URL, URLSearchParams } from "./web/core-js.ts";
import { TextDecoder } from "./web/encoding.ts";
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

// node:events. Listeners may be async: the program ends only after their promises settle.

const { emit } = EventEmitter.prototype;

EventEmitter.prototype.emit = function (
  this: InstanceType<typeof EventEmitter>,
  type: string | symbol,
  ...args: unknown[]
): boolean {
  const listeners = this.rawListeners(type);
  // The library throws an "error" event that has no listener.
  if (listeners.length === 0) return Reflect.apply(emit, this, [type, ...args]);
  for (const listener of listeners) watch(Reflect.apply(listener, this, args));
  return true;
};

export { EventEmitter };

// node:os, with constants of a made-up machine.

const gigabyte = 1_073_741_824;

export const os = {
  EOL: "\n",
  devNull: "/dev/null",
  platform: () => "linux",
  type: () => "Linux",
  arch: () => "x64",
  machine: () => "x86_64",
  release: () => "0.0.0",
  version: () => "",
  endianness: () => "LE",
  hostname: () => "sandbox",
  homedir: () => "/",
  /** The only folder that can be written to. */
  tmpdir: () => "/workspace",
  uptime: () => 0,
  loadavg: () => [0, 0, 0],
  totalmem: () => gigabyte,
  freemem: () => gigabyte / 2,
  /** One processor, because there is one thread. Programs divide their work by this number. */
  cpus: () => [{ model: "", speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } }],
  availableParallelism: () => 1,
  networkInterfaces: () => ({}),
  userInfo: () => ({ uid: 1000, gid: 1000, username: "user", homedir: "/", shell: null }),
  constants: { signals: {}, errno: {} },
};

/**
 * `node:url`: the URL classes, and conversion between paths and URLs. It only converts text; `fs` decides what a path may reach.
 */
function fileURLToPath(given: unknown): string {
  const { protocol, hostname, pathname } = new URL(String(given));
  if (protocol !== "file:") throw new TypeError(`The URL must be of scheme file, not ${protocol}`);
  if (hostname !== "") throw new TypeError(`File URL host must be empty, not ${hostname}`);
  return decodeURIComponent(pathname);
}

function pathToFileURL(given: unknown): URL {
  const encoded = path.resolve("/", String(given)).split("/").map(encodeURIComponent).join("/");
  return new URL(`file://${encoded}`);
}

export const url = {
  URL,
  URLSearchParams,
  fileURLToPath,
  pathToFileURL,
  format: (given: unknown) => String(given),
  parse: (text: string) => {
    const { href, protocol, host, hostname, port, pathname, search, hash } = new URL(text);
    const [auth, query] = [null, search.slice(1) || null];
    return { href, protocol, auth, host, hostname, port: port || null, pathname, search: search || null, query, hash };
  },
  resolve: (from: string, to: string) => new URL(to, from).href,
  domainToASCII: (domain: string) => new URL(`http://${domain}`).hostname,
};

// node:string_decoder: decodes bytes in pieces without breaking characters.

const streamed: Record<string, string> = {
  __proto__: null as never,
  utf8: "utf-8",
  "utf-8": "utf-8",
  utf16le: "utf-16le",
  ucs2: "utf-16le",
};

export class StringDecoder {
  readonly encoding: string;
  readonly #decoder: InstanceType<typeof TextDecoder> | undefined;

  constructor(encoding = "utf8") {
    this.encoding = encoding.toLowerCase();
    const known = streamed[this.encoding];
    this.#decoder = known === undefined ? undefined : new TextDecoder(known, { ignoreBOM: true });
  }
  write(chunk: unknown): string {
    if (typeof chunk === "string") return chunk;
    const bytes = bytesOf(chunk) ?? Buffer.alloc(0);
    return this.#decoder ? this.#decoder.decode(bytes, { stream: true }) : bytes.toString(this.encoding as "hex");
  }
  end(chunk?: unknown): string {
    const text = chunk === undefined ? "" : this.write(chunk);
    return text + (this.#decoder?.decode() ?? "");
  }
}
