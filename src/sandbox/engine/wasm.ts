/** QuickJS as a WebAssembly module, and the memory in which the guest is ready. The first worker makes both, and all workers share them. */
import wasmFile from "@jitl/quickjs-wasmfile-release-sync/wasm" with { type: "file" };
import { madeFile } from "./made-files.ts";
import type { ReadyMemory } from "./remembered.ts";

/** What the first worker makes for all others. */
interface Made {
  engine?: WebAssembly.Module | undefined;
  ready?: ReadyMemory | undefined;
}

let made: Made = {};
let compiling: Promise<WebAssembly.Module> | undefined;

export function compiledEngine(): Promise<WebAssembly.Module> {
  compiling ??= programBytes().then(WebAssembly.compile);
  return compiling;
}

/** Returns what a worker has made and the main thread has kept. */
export function knownMade(): Readonly<Made> {
  return made;
}

export function keepMade({ engine = made.engine, ready = made.ready }: Made): void {
  made = { engine, ready };
}

/** Frees the memory of both as soon as no worker uses them. The next worker makes them again. */
export function forgetMade(): void {
  compiling = undefined;
  made = {};
}

/**
 * In an executable, this is the program that the build made: interruptible, with a memory that grows. From source it is made now, unless a build
 * has kept it.
 */
export async function programBytes(): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await Bun.file(wasmFile).bytes();
  if (Bun.isStandaloneExecutable) return bytes;
  const made = Bun.file(madeFile("engine")!);
  if (await made.exists()) return made.bytes();
  const { makeInterruptible } = await import("./make-interruptible.ts");
  const { shareMemory } = await import("./share-memory.ts");
  return shareMemory(makeInterruptible(bytes));
}
