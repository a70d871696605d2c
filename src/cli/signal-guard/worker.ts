/** The thread that notices when the main thread is blocked, and gives signals back to the system meanwhile. */
import { dlopen, FFIType, type Pointer } from "bun:ffi";
import { constants } from "node:os";

declare const self: Worker;

const intervalMs = 100;

/** SIG_DFL */
const defaultAction = null;

const signals = [constants.signals.SIGTERM, constants.signals.SIGINT, constants.signals.SIGHUP];

/** The C library by the names it has on glibc, musl and macOS. */
const libraries =
  process.platform === "darwin"
    ? ["libSystem.dylib"]
    : ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];

function openLibrary() {
  for (const name of libraries) {
    try {
      return dlopen(name, { signal: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.ptr } }).symbols;
    } catch {
      // The next name may be the one of this system.
    }
  }
  return undefined;
}

const library = openLibrary();
if (library) watch(library.signal);
else self.postMessage({ problem: `no C library under ${libraries.join(" or ")}` });

type Handler = Pointer | bigint | null;

function watch(signal: (signal: number, handler: Handler) => Handler): void {
  let isAnswered = true;
  /** The handlers that the main thread has, while they are replaced. */
  let replaced: Handler[] | undefined;
  self.onmessage = () => {
    isAnswered = true;
    if (!replaced) return;
    for (const [at, handler] of replaced.entries()) signal(signals[at]!, handler);
    replaced = undefined;
  };
  setInterval(() => {
    if (!isAnswered) {
      replaced ??= signals.map((each) => signal(each, defaultAction));
      return;
    }
    isAnswered = false;
    self.postMessage("alive?");
  }, intervalMs);
}
