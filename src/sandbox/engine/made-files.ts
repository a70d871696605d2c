/**
 * Keeps the files that a build makes from the engine and the guest's script, for runs from source. Without them, a start takes a second
 * longer. File names contain a hash of all inputs, so no run can use an old file.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import wasmFile from "@jitl/quickjs-wasmfile-release-sync/wasm" with { type: "file" };

/** Undefined in an executable, which contains the files. */
const folder = Bun.isStandaloneExecutable
  ? undefined
  : join(import.meta.dir, "..", "..", "..", "node_modules", ".cache", "claudikins");

/** The interruptible engine, and the memory in which the guest's script has run. */
export function madeFile(kind: "engine" | "guest", guestScript = () => ""): string | undefined {
  if (folder === undefined) return undefined;
  // The memory depends on everything that the engine did before the script.
  const sources = readdirSync(import.meta.dir).filter((name) => name.endsWith(".ts"));
  const texts = [
    ...sources.sort().map((name) => join(import.meta.dir, name)),
    join(import.meta.dir, "..", "worker", "reusable-context.ts"),
  ];
  const parts = [guestScript(), readFileSync(wasmFile), ...texts.map((path) => readFileSync(path))];
  const hash = parts.reduce((sum, part) => Bun.hash(part, sum), 0n);
  return join(folder, `${kind}-${hash.toString(16)}.bin`);
}
