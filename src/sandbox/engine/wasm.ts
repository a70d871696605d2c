/** QuickJS as a WebAssembly module. It is compiled while the first worker starts, and shared by all workers. */
import wasmFile from "@jitl/quickjs-wasmfile-release-sync/wasm" with { type: "file" };
import { madeFile } from "./made-files.ts";

let compiling: Promise<WebAssembly.Module> | undefined;

export function compiledEngine(): Promise<WebAssembly.Module> {
  compiling ??= programBytes().then(WebAssembly.compile);
  return compiling;
}

/** Frees the module once no worker has it. It is compiled again for the next worker. */
export function forgetEngine(): void {
  compiling = undefined;
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
