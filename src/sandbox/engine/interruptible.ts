/**
 * Makes a WebAssembly program interruptible. Bun 1.4 cannot end a worker whose WebAssembly code runs in a loop, and QuickJS asks to be
 * interrupted only between steps of JavaScript: `Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)` would hold its thread for
 * years. So loops get a few instructions that count down a global, and call the host when it reaches 0. The host may throw there, which
 * ends the program.
 */

import { fuelRounds } from "../limits.ts";

/** The name of the exported global that counts down, and after a space, of the import that is called at 0. */
export const fuelExport = "fuel";

/** The imports of a program, by module and name. */
export type Imports = Bun.WebAssembly.Imports;

/**
 * Instantiates an interruptible program. `onTick` is called within its loops, about every millisecond; what it throws ends the
 * program. The import that is used for this keeps its own function.
 */
export async function instantiateInterruptible(
  module: WebAssembly.Module,
  imports: Imports,
  onTick: () => void,
): Promise<WebAssembly.Instance> {
  const exported = WebAssembly.Module.exports(module).find((each) => each.name.startsWith(`${fuelExport} `));
  const [, from = "", importName = ""] = exported?.name.split(" ") ?? [];
  const original = imports[from]?.[importName];
  if (!exported || typeof original !== "function") throw new Error("the program was not made interruptible");
  let fuel: WebAssembly.Global<"i32"> | undefined;
  const tick = () => {
    if (fuel?.value !== 0) return original();
    fuel.value = fuelRounds;
    return onTick();
  };
  const instance = await WebAssembly.instantiate(module, {
    ...imports,
    [from]: { ...imports[from], [importName]: tick },
  });
  fuel = instance.exports[exported.name] as WebAssembly.Global<"i32">;
  return instance;
}
