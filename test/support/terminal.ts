/** A program at a real terminal, and a person who reads its output and types. */
import { testEnvironment } from "./process.ts";

export interface TerminalOptions {
  cwd: string;
  env?: Record<string, string>;
}

export interface AtTerminal extends AsyncDisposable {
  /** All output so far. */
  readonly text: string;
  /** Resolves when the text appears after the text that was awaited before. Rejects if the program ends without it. */
  see(text: string): Promise<void>;
  type(text: string): void;
  readonly exited: Promise<number>;
}

export function atTerminal(command: string[], { cwd, env }: TerminalOptions): AtTerminal {
  let text = "";
  let seenUpTo = 0;
  let look = () => {};
  const decoder = new TextDecoder();
  const child = Bun.spawn(command, {
    cwd,
    env: testEnvironment({ TERM: "xterm", ...env }),
    terminal: {
      cols: 100,
      rows: 40,
      data: (_, bytes) => {
        text += decoder.decode(bytes, { stream: true });
        look();
      },
    },
  });
  const { terminal } = child;
  return {
    get text() {
      return text;
    },
    async see(wanted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      look = () => {
        const at = text.indexOf(wanted, seenUpTo);
        if (at === -1) return;
        seenUpTo = at + wanted.length;
        resolve();
      };
      look();
      const ended = child.exited.then(() => {
        if (!text.includes(wanted, seenUpTo)) throw new Error(`it ended without "${wanted}": ${text}`);
      });
      await Promise.race([promise, ended]);
    },
    type: (typed) => void terminal?.write(typed),
    exited: child.exited,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
      terminal?.close();
    },
  };
}
