/** The thread that notices when the main thread is blocked, and gives signals back to the system meanwhile. */
import { FFIType, type Pointer } from "bun:ffi";
import { constants } from "node:os";
import { libraryNames, openLibrary } from "../../base/c-library.ts";

/** How often its thread looks whether the main thread is blocked. */
const signalGuardLookMs = 100;

declare const self: Worker;

/** SIG_DFL */
const defaultAction = null;

const signals = [constants.signals.SIGTERM, constants.signals.SIGINT, constants.signals.SIGHUP];

const library = openLibrary({ signal: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.ptr } });
if (library) watch(library.symbols.signal);
else self.postMessage({ problem: `no C library under ${libraryNames}` });

type Handler = Pointer | bigint | null;

function watch(signal: (signal: number, handler: Handler) => Handler): void {
  /** Looks since the main thread last answered. */
  let unanswered = 0;
  /** Looks without an answer after which it is blocked. Unknown until the main thread has told it. */
  let most = Number.POSITIVE_INFINITY;
  /** The handlers that the main thread has, while they are replaced. */
  let replaced: Handler[] | undefined;
  self.onmessage = ({ data }: MessageEvent<"alive" | { afterMs: number }>) => {
    if (data !== "alive") most = data.afterMs / signalGuardLookMs;
    unanswered = 0;
    if (!replaced) return;
    for (const [at, handler] of replaced.entries()) signal(signals[at]!, handler);
    replaced = undefined;
  };
  setInterval(() => {
    if (unanswered === 0) self.postMessage("alive?");
    unanswered += 1;
    if (unanswered >= most) replaced ??= signals.map((each) => signal(each, defaultAction));
  }, signalGuardLookMs);
}
