/** Without a config, the only server is the demo. In tests it is that of the executable, which starts with 75 ms of CPU in place of 190. */
import { mock } from "bun:test";
import * as self from "../../src/config/self.ts";
import { builtInDemo } from "./servers.ts";

let isFromSource = false;

/** Until the result is disposed of, the demo is started from source. */
export function demoFromSource(): Disposable {
  isFromSource = true;
  return {
    [Symbol.dispose]() {
      isFromSource = false;
    },
  };
}

/** Changes only how the demo is started, and no other command that starts this program again. */
export function useBuiltDemo(): void {
  const { selfCommand } = self;
  mock.module("../../src/config/self.ts", () => ({
    selfCommand: (...words: string[]) => {
      if (words[0] !== "demo" || isFromSource) return selfCommand(...words);
      const { command, args } = builtInDemo();
      return [command, ...args];
    },
  }));
}
