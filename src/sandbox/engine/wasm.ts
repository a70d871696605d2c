/** QuickJS as a WebAssembly module. The first worker compiles it, and all workers share it. */
import wasmFile from "@jitl/quickjs-wasmfile-release-sync/wasm" with { type: "file" };
import { madeFile } from "./made-files.ts";

let compiling: Promise<WebAssembly.Module> | undefined;
let known: WebAssembly.Module | undefined;

export function compiledEngine(): Promise<WebAssembly.Module> {
  compiling ??= programBytes().then(WebAssembly.compile);
  return compiling;
}

/** The module that a worker of this thread has compiled. */
export function knownEngine(): WebAssembly.Module | undefined {
  return known;
}

export function keepEngine(engine: WebAssembly.Module): void {
  known = engine;
}

/** Frees the module once no worker has it. It is compiled again for the next worker. */
export function forgetEngine(): void {
  compiling = known = undefined;
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
