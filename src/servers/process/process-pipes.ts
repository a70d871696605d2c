/**
 * The stdin and stdout of a child process. Each is one end of a pair of sockets, as with the pipes of `Bun.spawn`, but read and written as a socket:
 * with those pipes, a message and its answer take a turn of the event loop and six system calls more, which is 10 to 25 µs.
 */
import type { Library } from "bun:ffi";
import { type BunStream, socketHandler } from "./bun-stream.ts";

/** Gets what a process writes. Reading pauses until the promise that it returns resolves, if it does. */
export type TakeChunk = (chunk: Uint8Array) => Promise<void> | undefined;

export interface ProcessPipes {
  /** For `Bun.spawn`. */
  readonly stdio: readonly [stdin: "pipe" | number, stdout: "pipe" | number];
  /** Call this when the process has started, or could not be started. */
  begun(child: PipedChild | undefined): void;
  /** Undefined if the system has taken all of the text. Rejects with CutOff if the process reads no more. */
  write(text: string): Promise<void> | undefined;
  /** Closes stdin. Never rejects. */
  endInput(): Promise<void>;
  /** Resolves at the end of stdout. Call this once. */
  read(take: TakeChunk): Promise<void>;
}

type PipedChild = Pick<Bun.Subprocess, "stdin" | "stdout">;

/** The process has not read all of a text. */
export class CutOff extends Error {
  /** The bytes that the system has taken. Undefined if this is unknown. */
  readonly bytes: number | undefined;

  constructor(bytes: number | undefined) {
    super("the process reads no more");
    this.bytes = bytes;
  }
}

/** Windows has no pairs of sockets. */
export function processPipes(): ProcessPipes {
  const input = SocketPair.open();
  const output = input && SocketPair.open();
  if (output) return new SocketPipes(input, output);
  input?.close();
  return new StreamPipes();
}

class SocketPipes implements ProcessPipes {
  readonly #input: SocketPair;
  readonly #output: SocketPair;
  readonly stdio: readonly [number, number];

  constructor(input: SocketPair, output: SocketPair) {
    this.#input = input;
    this.#output = output;
    this.stdio = [input.theirs, output.theirs];
    // The process itself keeps this one running. Something that it has started may have the pipes for longer.
    for (const { stream } of [input, output]) stream.unref();
    output.stream.pause();
  }

  begun(child: PipedChild | undefined): void {
    for (const pair of [this.#input, this.#output]) {
      if (child) pair.closeTheirs();
      else pair.close();
    }
  }

  write(text: string): Promise<void> | undefined {
    const { stream } = this.#input;
    const bytes = stream.write(text);
    return stream.unsentBytes === 0 ? undefined : this.#rest(bytes);
  }

  async #rest(bytes: number): Promise<void> {
    const { stream } = this.#input;
    await stream.sent();
    if (stream.unsentBytes > 0) throw new CutOff(Math.max(bytes - stream.unsentBytes, 0));
  }

  async endInput(): Promise<void> {
    this.#input.stream.end();
  }

  read(take: TakeChunk): Promise<void> {
    const { stream } = this.#output;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let taking: Promise<void> | undefined;
    stream.onData = (chunk) => {
      // A chunk may come after the pause.
      const now = taking ? taking.then(() => take(chunk)) : take(chunk);
      if (!now) return;
      if (!taking) stream.pause();
      taking = now;
      const taken = () => {
        if (taking !== now) return;
        taking = undefined;
        stream.resume();
      };
      now.then(taken, reject);
    };
    stream.closed.addEventListener("abort", () => void Promise.resolve(taking).then(resolve, reject));
    stream.resume();
    return promise;
  }
}

/** The pipes of `Bun.spawn`. */
class StreamPipes implements ProcessPipes {
  readonly stdio = ["pipe", "pipe"] as const;
  #child: PipedChild | undefined;

  begun(child: PipedChild | undefined): void {
    this.#child = child;
  }

  get #stdin(): Bun.FileSink {
    return this.#child!.stdin as Bun.FileSink;
  }

  async write(text: string): Promise<void> {
    try {
      // Bun returns `true` instead of a number if the pipe is already closed.
      const count: unknown = await this.#stdin.write(text);
      await this.#stdin.flush();
      if (typeof count === "number") return;
    } catch {
      throw new CutOff(undefined);
    }
    throw new CutOff(0);
  }

  async endInput(): Promise<void> {
    try {
      await this.#stdin.end();
    } catch {
      // The pipe is broken because the process is ending, as intended.
    }
  }

  async read(take: TakeChunk): Promise<void> {
    for await (const chunk of this.#child!.stdout as ReadableStream<Uint8Array>) {
      const taking = take(chunk);
      if (taking) await taking;
    }
  }
}

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
  const { openLibrary } = require("../../base/c-library.ts") as typeof import("../../base/c-library.ts");
  return openLibrary(declarations)?.symbols ?? null;
}

class SocketPair {
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
