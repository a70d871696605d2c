/** Times whole processes in turn, so that a machine whose speed drifts drifts for both. */
export interface Comparison {
  name: string;
  /** Medians in milliseconds. */
  oursMs: number;
  otherMs: number;
  /** The median of the ratios of neighbouring runs; below 1 we are faster. */
  ratio: number;
  runs: number;
}

/** Runs both in turn, after one round that does not count. */
export async function compare(
  name: string,
  runs: number,
  ours: () => Promise<number>,
  other: () => Promise<number>,
): Promise<Comparison> {
  const pairs: [number, number][] = [];
  for (let run = 0; run <= runs; run++) {
    const pair: [number, number] = [await ours(), await other()];
    if (run > 0) pairs.push(pair);
  }
  return {
    name,
    oursMs: median(pairs.map(([a]) => a)),
    otherMs: median(pairs.map(([, b]) => b)),
    ratio: median(pairs.map(([a, b]) => a / b)),
    runs,
  };
}

/** Wall time from start to exit. Throws when the program fails: a figure of a failure is no figure. */
export async function processMs(command: string[], cwd: string): Promise<number> {
  const startedAt = performance.now();
  const child = Bun.spawn(command, {
    cwd,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  const exitCode = await child.exited;
  const ms = performance.now() - startedAt;
  if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${exitCode}`);
  return ms;
}

/** Wall time from start until the answer to `initialize` is there. */
export async function initializeMs(command: string[], cwd: string): Promise<number> {
  const startedAt = performance.now();
  const child = Bun.spawn(command, { cwd, stdin: "pipe", stdout: "pipe", stderr: "ignore" });
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } };
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
  await child.stdin.flush();
  const { value } = await child.stdout.getReader().read();
  const ms = performance.now() - startedAt;
  await child.stdin.end();
  await child.exited;
  const answer = JSON.parse(new TextDecoder().decode(value));
  if (answer.result?.serverInfo?.name === undefined) throw new Error(`${command.join(" ")} did not answer initialize`);
  return ms;
}

/** The middle of a list that is not empty. */
export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
