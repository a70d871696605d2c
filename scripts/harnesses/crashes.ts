/**
 * `bun run crash [--rounds n] [--seed n] [--first n] [--command path] [--source]`: rounds in which `serve` runs a program in the background
 * and is killed again and again, and other processes continue the program and decide its approvals. Exits with code 1 if a call that may
 * not be repeated was made twice, a call was lost, or anything is left.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { storeFile } from "../../src/config/locations.ts";
import { tasksExtension } from "../../src/servers/connection/tasks-extension.ts";
import { openDatabase } from "../../src/store/sqlite/database.ts";
import { ApprovalRows, ExecutionRows } from "../../test/store/sqlite/rows.ts";
import { executable, fromSource } from "../../test/support/claudikins.ts";
import { isTrueWithin } from "../../test/support/eventually.ts";
import { processesLeft } from "../../test/support/process.ts";
import { type RawStdio, rawStdio } from "../../test/support/raw-stdio.ts";
import { fixture } from "../../test/support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../../test/support/temporary.ts";
import { Random } from "./random.ts";

const tools = ["act", "look", "put", "guarded"] as const;

interface Call {
  tool: (typeof tools)[number];
  id: number;
  /** The time that the server takes. */
  ms: number;
}

/** Calls that are made together, or a wait. */
type Step = Call[] | { sleepMs: number };

/** The life of one process, which ends some time after a number of further calls have reached the server. */
interface Life {
  end: "SIGKILL" | "SIGTERM" | "end of input";
  afterCalls: number;
  delayMs: number;
  /** Whether another process asks for the outcome at the same time. */
  isShared: boolean;
}

/** One round, determined by seed and number. */
export interface Plan {
  /** In the background, the program is stored from its start. As a task, it is stored once it takes long. */
  start: "background" | "task";
  steps: Step[];
  lives: Life[];
  /** For each approval in turn, whether it is approved, and after which time. */
  decisions: { approves: boolean; afterMs: number }[];
}

export interface Round {
  plan: Plan;
  /** How the calls ended: their id, or the code of their error. */
  ends: Record<string, number>;
  /** Processes that ended before the program. */
  deaths: number;
  /** The process ended before its agent knew the task, so no agent can ask for the outcome. */
  isLost: boolean;
  wrong: string[];
}

export function planOf(seed: number, index: number): Plan {
  const random = new Random(seed, index);
  let lastId = 0;
  const call = (): Call => {
    lastId += 1;
    return { tool: random.pick(tools), id: lastId, ms: random.pick([0, 5, 20, 80]) };
  };
  const steps = Array.from({ length: 3 + random.below(6) }, (): Step => {
    if (random.chance(0.15)) return { sleepMs: random.below(150) };
    return Array.from({ length: random.pick([1, 1, 1, 2, 4]) }, call);
  });
  const lives = Array.from({ length: 1 + random.below(4) }, (): Life => {
    const end = random.pick(["SIGKILL", "SIGKILL", "SIGKILL", "SIGTERM", "end of input"] as const);
    return { end, afterCalls: random.below(4), delayMs: random.below(70), isShared: random.chance(0.2) };
  });
  const decisions = Array.from({ length: 40 }, () => ({ approves: random.chance(0.8), afterMs: random.below(250) }));
  return { start: random.pick(["background", "background", "task"] as const), steps, lives, decisions };
}

/** Each call's id with its result or the code of its error, as JSON. The program's state is spread over its heap. */
function codeOf(steps: readonly Step[]): string {
  const call = ({ tool, id, ms }: Call) => `call("${tool}", ${id}, ${ms})`;
  const lines = steps.map((step) =>
    "sleepMs" in step ? `await sleep(${step.sleepMs});` : `await Promise.all([${step.map(call).join(", ")}]);`,
  );
  return `const ends = new Map<number, unknown>();
const call = async (tool: string, id: number, ms: number) => {
  ends.set(id, await counted[tool]({ id, ms }).then((result) => result.id, (error) => error.code ?? String(error)));
};
${lines.join("\n")}
return JSON.stringify([...ends]);`;
}

/** The project of a round. */
class Site implements Disposable {
  readonly folder: TemporaryFolder = temporaryFolder();
  readonly #file = join(this.folder.path, "calls");
  readonly #env = { HOME: this.folder.path, XDG_DATA_HOME: join(this.folder.path, "data") };

  constructor() {
    const server = { ...fixture("counted", this.#file), confirm: { guarded: "always" } };
    this.folder.write("claudikins.json", { mcpServers: { counted: server }, executions: { answerAfterMs: 100 } });
  }

  /** The calls that the server has received: tool and id. */
  get calls(): [tool: string, id: number][] {
    if (!existsSync(this.#file)) return [];
    // The last line is incomplete if its process was killed while it wrote.
    return readFileSync(this.#file, "utf8")
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }

  /** Undefined if there is no store. */
  async stored<T>(look: (stores: { executions: ExecutionRows; approvals: ApprovalRows; isWell: boolean }) => T) {
    const file = storeFile(this.#env);
    if (!existsSync(file)) return undefined;
    const database = await openDatabase(file);
    try {
      const check = database.query<{ integrity_check: string }, []>("PRAGMA integrity_check").all();
      const isWell = check.length === 1 && check[0]?.integrity_check === "ok";
      return look({ executions: new ExecutionRows(database), approvals: new ApprovalRows(database), isWell });
    } finally {
      database.close();
    }
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]();
  }
}

/** What the journal says of calls when nobody runs the program. */
interface Certain {
  /** Calls that had not left. */
  unsent: Set<number>;
  /** Calls that may have left, and may not be repeated. */
  unknown: Set<number>;
}

export async function crashRound(plan: Plan, command: readonly string[]): Promise<Round> {
  using site = new Site();
  const end = new AbortController();
  const deciding = decide(site, plan, end.signal);
  const wrong: string[] = [];
  const certain: Certain = { unsent: new Set(), unknown: new Set() };
  let [deaths, id, answer] = [0, undefined as string | undefined, undefined as string | undefined];
  const capabilities = plan.start === "task" ? { extensions: { [tasksExtension]: {} } } : {};
  const start = () => rawStdio(site.folder, capabilities, { command });
  let taskId: unknown;
  const asked = async (host: RawStdio): Promise<string> => {
    if (taskId !== undefined) return taskEnd(host, taskId);
    if (id !== undefined) return outcomeOf(host, { resume: id });
    const code = codeOf(plan.steps);
    if (plan.start === "background") return outcomeOf(host, { code, background: true });
    return outcomeOf(host, { code }, (made) => {
      taskId = made;
    });
  };
  for (const life of plan.lives) {
    const host = start();
    const outcome = asked(host);
    const other = life.isShared && id !== undefined ? start() : undefined;
    if (other) void asked(other);
    const target = site.calls.length + life.afterCalls;
    const moment = isTrueWithin(1_500, () => site.calls.length >= target).then(() => Bun.sleep(life.delayMs));
    answer = await Promise.race([outcome, moment.then(() => undefined)]);
    if (answer === undefined) deaths += 1;
    for (const each of [host, other]) {
      if (!each) continue;
      if (life.end === "end of input") each.leave();
      else each.signal(life.end);
    }
    await Promise.all([host.exited, other?.exited]);
    id ??= await site.stored(({ executions }) => executions.list()[0]?.id);
    if (answer !== undefined) break;
    await note(site, id, certain);
    if (id !== undefined || site.calls.length === 0) continue;
    // Nobody knows of a task that was not created.
    if (plan.start === "task") answer = "lost";
    else wrong.push("calls were made, and nothing is stored");
    break;
  }
  if (answer === undefined) {
    await using host = start();
    answer = await Promise.race([asked(host), Bun.sleep(60_000).then(() => "no outcome after 60 s")]);
    id ??= await site.stored(({ executions }) => executions.list()[0]?.id);
  }
  end.abort();
  await deciding;
  const ends = endsIn(answer);
  // A process that is asked to end cancels a program if its agent does not know the task yet.
  const isUntold = plan.start === "task" && taskId === undefined && answer.includes("CancelledError");
  const isLost = answer === "lost" || isUntold;
  if (isLost) wrong.push(...repeated(plan, site.calls));
  else if (!ends) wrong.push(`the program has no value: ${answer.slice(0, 300)}`);
  else wrong.push(...problemsOf(plan, site.calls, ends, certain));
  const approved = await site.stored(({ approvals }) => approvals.list({ state: "approved" }));
  for (const { excerpt } of approved ?? []) {
    const args = JSON.parse(excerpt);
    if (ends?.get(Number(args.id)) === "POLICY_DENIED") wrong.push(`call ${args.id} was approved, and denied`);
  }
  // A program that ends soon, or that nobody knows of, leaves nothing in the store.
  const isUnstored = plan.start === "task" && id === undefined;
  const stored = await site.stored(({ executions, isWell }) => storeProblems(executions, isWell, id));
  if (!isUnstored) wrong.push(...(stored ?? ["no store"]));
  const left = await processesLeft(site.folder.path);
  if (left.length > 0) wrong.push(`${left.length} processes are left`);
  for (const pid of left) process.kill(pid, "SIGKILL");
  return { plan, ends: countsOf(ends ?? new Map()), deaths, isLost, wrong };
}

/** Asks until the program has ended. Never ends if the process dies. `onTask` gets the id of the task that the call becomes. */
async function outcomeOf(host: RawStdio, args: object, onTask?: (taskId: unknown) => void): Promise<string> {
  const { result, error } = await host.ask("tools/call", { name: "execute_code", arguments: args });
  if (result?.["resultType"] === "task") {
    onTask?.(result["taskId"]);
    return taskEnd(host, result["taskId"]);
  }
  const text = result?.content?.[0]?.text ?? JSON.stringify(error ?? result);
  const waiting = /call execute_code with (\{"resume": "[^"]+"\})/.exec(text)?.[1];
  return waiting === undefined ? text : outcomeOf(host, JSON.parse(waiting));
}

async function taskEnd(host: RawStdio, taskId: unknown): Promise<string> {
  for (;;) {
    const { result, error } = await host.ask("tasks/get", { taskId });
    if (result?.["status"] !== "working") {
      const { content } = Object(result?.["result"]) as { content?: { text: string }[] };
      return content?.[0]?.text ?? JSON.stringify(error ?? result);
    }
    await Bun.sleep(20);
  }
}

/** Notes which calls of a dead process had certainly not left, and which may have. */
async function note(site: Site, id: string | undefined, { unsent, unknown }: Certain): Promise<void> {
  if (id === undefined) return;
  await site.stored(({ executions }) => {
    if (executions.get(id)?.state !== "open") return;
    for (const { message, state, isRepeatable } of executions.calls(id)) {
      const call = (JSON.parse(JSON.parse(message).args) as { id: number }).id;
      if (state === "made") unsent.add(call);
      // A call may have been noted as unsent before the process that has sent it.
      else unsent.delete(call);
      if (state === "sent" && !isRepeatable) unknown.add(call);
    }
  });
}

function endsIn(answer: string): Map<number, unknown> | undefined {
  try {
    return new Map(JSON.parse(answer.split("\n\n")[0] ?? "") as [number, unknown][]);
  } catch {
    return undefined;
  }
}

/** Calls that were made twice, and may not be. */
function repeated({ steps }: Pick<Plan, "steps">, made: readonly [string, number][]): string[] {
  const calls = steps.flatMap((step) => ("sleepMs" in step ? [] : step));
  return calls.flatMap(({ tool, id }) => {
    const count = made.filter(([, each]) => each === id).length;
    return count > 1 && (tool === "act" || tool === "guarded") ? [`${tool} ${id} was made ${count} times`] : [];
  });
}

function problemsOf(
  { steps }: Plan,
  made: readonly [string, number][],
  ends: ReadonlyMap<number, unknown>,
  { unsent, unknown }: Certain,
): string[] {
  const calls = steps.flatMap((step) => ("sleepMs" in step ? [] : step));
  const wrong = calls.flatMap(({ tool, id }) => {
    const count = made.filter(([, each]) => each === id).length;
    const end = ends.get(id);
    const isRepeatable = tool === "look" || tool === "put";
    const isDone = end === id;
    const mayEnd =
      isDone ||
      (isRepeatable ? false : end === "CALL_OUTCOME_UNKNOWN") ||
      (tool === "guarded" && end === "POLICY_DENIED");
    const told = `${tool} ${id} ended with ${JSON.stringify(end)} and was made ${count} times`;
    return [
      ...(mayEnd ? [] : [`${told}: that is no end of such a call`]),
      ...(isDone && count === 0 ? [`${told}: it was not made`] : []),
      ...(end === "POLICY_DENIED" && count > 0 ? [`${told}: it was denied`] : []),
      ...(end === "CALL_OUTCOME_UNKNOWN" && unsent.has(id) ? [`${told}: it had certainly not left`] : []),
      ...(isDone && unknown.has(id) ? [`${told}: it may have left before`] : []),
    ];
  });
  return [...repeated({ steps }, made), ...wrong];
}

function storeProblems(executions: ExecutionRows, isWell: boolean, id: string | undefined): string[] {
  const row = id === undefined ? undefined : executions.get(id);
  return [
    ...(isWell ? [] : ["the store is damaged"]),
    ...(executions.list().length === 1 ? [] : [`${executions.list().length} executions are stored`]),
    ...(row?.state === "ended" && row.outcome !== null ? [] : [`the execution is stored as ${JSON.stringify(row)}`]),
    ...(id !== undefined && executions.calls(id).length > 0 ? ["calls are left in the journal"] : []),
  ];
}

/** Decides approvals as another process of the user does. */
async function decide(site: Site, { decisions }: Plan, signal: AbortSignal): Promise<void> {
  const seen = new Map<string, { at: number; approves: boolean }>();
  while (!signal.aborted) {
    await Bun.sleep(30);
    await site.stored(({ approvals }) => {
      for (const { id } of approvals.list({ state: "open" })) {
        const { approves, afterMs } = decisions[seen.size % decisions.length]!;
        const known = seen.get(id) ?? { at: performance.now() + afterMs, approves };
        seen.set(id, known);
        if (performance.now() < known.at) continue;
        const by = "command" as const;
        const decision = known.approves
          ? { state: "approved" as const, scope: "once" as const, by }
          : { state: "denied" as const, by };
        approvals.decide(id, decision, Date.now());
      }
    });
  }
}

function countsOf(ends: ReadonlyMap<number, unknown>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [id, end] of ends) {
    const name = end === id ? "done" : String(end);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      rounds: { type: "string", default: "200" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      first: { type: "string", default: "0" },
      command: { type: "string" },
      source: { type: "boolean", default: false },
    },
  });
  const [rounds, seed, first] = [Number(values.rounds), Number(values.seed), Number(values.first)];
  const command = values.source ? fromSource : [values.command ?? executable()];
  const total: Record<string, number> = {};
  let [deaths, failed] = [0, 0];
  for (let index = first; index < first + rounds; index++) {
    const round = await crashRound(planOf(seed, index), command);
    for (const [end, count] of Object.entries(round.ends)) total[end] = (total[end] ?? 0) + count;
    deaths += round.deaths;
    if (round.wrong.length > 0) failed += 1;
    if (round.wrong.length > 0) console.error(`seed ${seed}, round ${index}:\n  ${round.wrong.join("\n  ")}`);
    if ((index - first + 1) % 20 === 0) console.error(`${index - first + 1} rounds`);
  }
  const ends = Object.entries(total).map(([end, count]) => `${count} ${end}`);
  console.log(
    `seed ${seed}: ${rounds} rounds, ${deaths} processes died; calls: ${ends.join(", ")}; ${failed} rounds failed`,
  );
  return failed > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = await main();
