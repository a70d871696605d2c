/** QuickJS as a WebAssembly module. The first worker compiles it, and all workers share it. */
import wasmFile from "@jitl/quickjs-wasmfile-release-sync/wasm" with { type: "file" };
import { madeFile } from "./made-files.ts";
import type { ReadyMemory } from "./remembered.ts";

let compiling: Promise<WebAssembly.Module> | undefined;
/** What the first worker makes for all others. */
interface Made {
  engine?: WebAssembly.Module | undefined;
  ready?: ReadyMemory | undefined;
}

let made: Made = {};

export function compiledEngine(): Promise<WebAssembly.Module> {
  compiling ??= programBytes().then(WebAssembly.compile);
  return compiling;
}

/** What workers of this thread have made. */
export function knownMade(): Readonly<Made> {
  return made;
}

export function keepMade({ engine = made.engine, ready = made.ready }: Made): void {
  made = { engine, ready };
}

/** Frees it once no worker has it. It is made again by the next worker. */
export function forgetMade(): void {
  compiling = undefined;
  made = {};
}

/**
 * In an executable, this is the interruptible program that the build made. From source it is made now, unless a build has kept it.
 */
export async function programBytes(): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await Bun.file(wasmFile).bytes();
  if (Bun.isStandaloneExecutable) return bytes;
  const made = Bun.file(madeFile("engine")!);
  if (await made.exists()) return made.bytes();
  const { makeInterruptible } = await import("./make-interruptible.ts");
  return makeInterruptible(bytes);
}
