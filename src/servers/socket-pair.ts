/** Pairs of connected sockets: one end for this process, the other for a child process. */
import type { Library } from "bun:ffi";
import { type BunStream, socketHandler } from "./bun-stream.ts";

const declarations = {
  socketpair: { args: ["int", "int", "int", "ptr"], returns: "int" },
  close: { args: ["int"], returns: "int" },
} as const;

const unixDomain = 1;
const streamSocket = 1;

/** SOCK_CLOEXEC. */
const closedInChildren = 0o2000000;

type SocketFunctions = Library<typeof declarations>["symbols"];

/** Null on other systems than Linux, on which this was not tried. */
let functions: SocketFunctions | null | undefined;

/** Loads bun:ffi only where it is used: that takes half a millisecond. */
function socketFunctions(): SocketFunctions | null {
  if (process.platform !== "linux") return null;
  const { openLibrary } = require("../base/c-library.ts") as typeof import("../base/c-library.ts");
  return openLibrary(declarations)?.symbols ?? null;
}

export class SocketPair {
  /** The end of this process. */
  readonly stream: BunStream;
  /** The file descriptor of the child's end. */
  readonly theirs: number;

  private constructor(stream: BunStream, theirs: number) {
    this.stream = stream;
    this.theirs = theirs;
  }

  /** Undefined if the system has no pairs, or gives none: then Bun tells the reason when it makes its own. */
  static open(): SocketPair | undefined {
    functions ??= socketFunctions();
    const ends = new Int32Array(2);
    if (functions?.socketpair(unixDomain, streamSocket | closedInChildren, 0, ends) !== 0) return undefined;
    const [ours = -1, theirs = -1] = ends;
    let stream: BunStream | undefined;
    const opened = (made: BunStream) => {
      stream = made;
    };
    // Bun calls `open` before this returns.
    Bun.connect({ fd: ours, socket: socketHandler(opened) } as never).catch(() => {});
    if (stream) return new SocketPair(stream, theirs);
    for (const end of ends) functions.close(end);
    return undefined;
  }

  /** Call this when the child has its end, or will never have it. */
  closeTheirs(): void {
    functions?.close(this.theirs);
  }

  close(): void {
    this.closeTheirs();
    this.stream.destroy();
  }
}
