/** 1,000 concurrent calls to eight servers: one hangs, one crashes. The pool compared with the SDK's clients. */
import { EventEmitter } from "node:events";
import { silentLog } from "../../src/base/log.ts";
import { defaultServerTimes } from "../../src/config/defaults.ts";
import { Pool } from "../../src/servers/pool.ts";
import { fixture } from "../../test/support/servers.ts";
import { type RawClient, startHost, startRawClient } from "./host.ts";
import { inTurn } from "./measure.ts";
import { milliseconds, stopwatch } from "./programs.ts";
import { rowOf, within } from "./report.ts";
import type { Measure } from "./section.ts";

const calls = 1_000;
const well = ["one", "two", "three", "four", "five", "six"];
const names = [...well, "hangs", "crashes"];
const payload = "x".repeat(1_000);
const entries = Object.fromEntries(names.map((name) => [name, fixture("echo", well.includes(name) ? "well" : name)]));

/** The text of the answer to `echo`. */
type Ask = (server: string, args: { number: number; payload: string }, signal?: AbortSignal) => Promise<unknown>;

export const measurePool: Measure = async (bench) => {
  // Each call that waits for a full pipe is a listener of the SDK's client, which warns at eleven.
  EventEmitter.defaultMaxListeners = calls;
  await using pool = openPool(bench.folder());
  await using raw = new RawClients();
  const limits = { callsInFlight: calls };
  const more = { maxCallsInFlight: calls };
  const servers = Object.fromEntries(names.map((name) => [name, { ...entries[name]!, ...more }]));
  // An execution ends when its calls have ended, so the hanging calls end by a time limit, which is not measured.
  Object.assign(servers["hangs"]!, { callTimeoutMs: 500 });
  await using host = await startHost(bench.binary, bench.folder(servers, { limits }));
  const ofRaw = async () => {
    await raw.start();
    return answeredMs((server, args, signal) => raw.ask(server, args, signal));
  };
  const ofPool = async () => {
    const ask: Ask = (server, args, signal) => pool.callTool(server, "echo", args, { signal });
    // Starts the server that crashed in the round before.
    await Promise.all(names.map((name) => pool.listTools(name, { repeatable: true })));
    return answeredMs(ask);
  };
  const inPool = await inTurn(bench.rounds(), { ours: ofPool, "raw client": ofRaw });
  const inCode = await inTurn(bench.rounds(20, 10), {
    ours: async () => milliseconds(await host.execute(code)),
    "raw client": ofRaw,
  });
  const what = `${calls.toLocaleString("en")} calls in flight over ${names.length} servers`;
  return {
    rows: [
      within(rowOf(`${what}, through the pool`, inPool), "raw client", 1.1),
      within(rowOf("the same calls, through execute_code", inCode), "raw client", 2),
    ],
    notes: [
      "One server hangs and one crashes. The time runs from the first call to the last answer of the other six servers, and every answer is checked.",
    ],
  };
};

function openPool(cwd: string): Pool {
  const configOf = (name: string) => {
    const { command, args } = entries[name]!;
    return { name, command, args, env: {}, disabled: false, ...defaultServerTimes, maxCallsInFlight: calls, needs: [] };
  };
  const env = { PATH: process.env["PATH"] ?? "", HOME: cwd };
  return new Pool(new Map(names.map((name) => [name, configOf(name)])), { env, cwd, log: silentLog });
}

/** A client of the SDK for each server. */
class RawClients implements AsyncDisposable {
  readonly #clients = new Map<string, RawClient>();

  /** Starts missing clients; the client of a crashed server is replaced. */
  async start(): Promise<void> {
    await this.#clients.get("crashes")?.[Symbol.asyncDispose]();
    this.#clients.delete("crashes");
    const missing = names.filter((name) => !this.#clients.has(name));
    await Promise.all(missing.map(async (name) => this.#clients.set(name, await startRawClient(entries[name]!))));
  }

  ask(...[server, args, signal]: Parameters<Ask>): Promise<unknown> {
    return this.#clients.get(server)!.call("echo", args, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client[Symbol.asyncDispose]()));
  }
}

/** The time from the first call to the last answer of a working server. All answers are checked afterwards. */
async function answeredMs(ask: Ask): Promise<number> {
  const over = new AbortController();
  const answers: Promise<unknown>[] = [];
  const others: Promise<unknown>[] = [];
  const startedAt = performance.now();
  for (let number = 0; number < calls; number++) {
    const server = names[number % names.length]!;
    const answer = ask(server, { number, payload }, over.signal);
    if (well.includes(server)) answers.push(answer);
    else others.push(answer.catch(() => {}));
  }
  const results = await Promise.all(answers);
  const ms = performance.now() - startedAt;
  over.abort();
  await Promise.all(others);
  const numbers = Array.from({ length: calls }, (_, number) => number).filter(
    (number) => number % names.length < well.length,
  );
  for (const [index, number] of numbers.entries()) {
    const { content } = results[index] as { content: { text: string }[] };
    const given = JSON.parse(content[0]!.text);
    if (given.number !== number || given.payload !== payload) throw new Error(`call ${number} has another's answer`);
  }
  return ms;
}

const code = `
const servers = [${names.join(", ")}];
const payload = ${JSON.stringify(payload)};
// Starts the server that crashed in the round before.
await crashes.echo({ number: 0 }).catch(() => crashes.echo({ number: 0 }));
${stopwatch(`
const answers = [];
for (let number = 0; number < ${calls}; number++) {
  const answer = servers[number % servers.length].echo({ number, payload });
  if (number % servers.length < ${well.length}) answers.push(answer.then((given) => ({ given, number })));
  else answer.catch(() => {});
}
for (const { given, number } of await Promise.all(answers)) {
  if (given.number !== number || given.payload !== payload) throw new Error("call " + number + " has another's answer");
}`)}`;
