/** One line after the other from standard input, shown while it is typed or not. */
import type { LineOptions } from "./io.ts";

/** What was typed ahead. */
let pending = "";
let hasEnded = false;

export async function nextLine({ signal, hidden = false, onReady }: LineOptions): Promise<string | undefined> {
  if (signal.aborted) return undefined;
  if (hasEnded || pending.includes("\n")) {
    await onReady?.();
    return takeLine() ?? takeRest();
  }
  const { stdin } = process;
  const isRaw = hidden && stdin.isTTY;
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const onData = (chunk: string) => {
    const done = isRaw ? takeKeys(chunk) : takeText(chunk);
    if (done) resolve(takeLine() ?? takeRest());
  };
  const onEnd = () => {
    hasEnded = true;
    resolve(takeRest());
  };
  const onAbort = () => resolve(undefined);
  stdin.setEncoding("utf8").on("data", onData).once("end", onEnd).once("error", onEnd);
  signal.addEventListener("abort", onAbort, { once: true });
  if (isRaw) stdin.setRawMode(true);
  stdin.resume();
  try {
    await onReady?.();
    return await promise;
  } finally {
    if (isRaw) stdin.setRawMode(false);
    stdin.off("data", onData).off("end", onEnd).off("error", onEnd).pause();
    signal.removeEventListener("abort", onAbort);
    // Or it would keep the process.
    stdin.unref?.();
  }
}

function takeText(chunk: string): boolean {
  pending += chunk;
  return pending.includes("\n");
}

/** In raw mode the terminal neither edits the line nor makes signals of keys: both are done here. */
function takeKeys(chunk: string): boolean {
  for (const key of chunk) {
    if (key === "\r" || key === "\n") {
      pending += "\n";
      return true;
    }
    if (key === "\u0003") {
      process.kill(process.pid, "SIGINT");
      return false;
    }
    if (key === "\u0004") {
      hasEnded = true;
      return true;
    }
    if (key === "\u007f" || key === "\b") pending = [...pending].slice(0, -1).join("");
    else if (key === "\u0015") pending = "";
    else if (key >= " ") pending += key;
  }
  return false;
}

function takeLine(): string | undefined {
  const end = pending.indexOf("\n");
  if (end === -1) return undefined;
  const line = pending.slice(0, end).replace(/\r$/, "");
  pending = pending.slice(end + 1);
  return line;
}

function takeRest(): string | undefined {
  const rest = pending;
  pending = "";
  return rest === "" ? undefined : rest;
}
