/** Checks values against types with the TypeScript compiler. */
import { join } from "node:path";
import { root } from "../../../test/support/claudikins.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";

export interface Typed {
  type: string;
  value: unknown;
}

/** Longer texts and lists are cut, which does not change their types. */
const maxChars = 200;
const maxItems = 200;

/** The indexes of the values that do not have their type. Further properties are allowed. */
export function misfits(values: readonly Typed[]): number[] {
  using folder = temporaryFolder();
  const lines = values.map(({ type, value }) => `fits<${type}>()(${literal(value)});`);
  const file = folder.write(
    "values.ts",
    ["declare function fits<T>(): <V extends T>(value: V) => void;", ...lines].join("\n"),
  );
  const tsc = join(root, "node_modules", ".bin", "tsc");
  const flags = ["--ignoreConfig", "--noEmit", "--strict", "--pretty", "false"];
  const { stdout, exitCode } = Bun.spawnSync([tsc, ...flags, file], { cwd: folder.path });
  const found = [...stdout.toString().matchAll(/values\.ts\((\d+),/g)].map(([, line]) => Number(line) - 2);
  if (exitCode !== 0 && found.length === 0) throw new Error(`tsc failed: ${stdout}`);
  return [...new Set(found)];
}

/** On one line for the compiler too. */
function literal(value: unknown): string {
  return JSON.stringify(value, shortened).replace(/[\u2028\u2029]/g, " ");
}

function shortened(_: string, value: unknown): unknown {
  if (typeof value === "string") return value.slice(0, maxChars);
  return Array.isArray(value) ? value.slice(0, maxItems) : value;
}
