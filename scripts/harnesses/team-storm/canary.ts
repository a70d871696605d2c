/**
 * Small programs that begin one after the other, whatever became of those before, and questions to each replica whether it is ready. They show
 * for how long a disturbance keeps people from working, and that each request is answered in time meanwhile.
 */
import { type Agent, openAgent } from "./agent.ts";
import type { Made } from "./disturber.ts";
import { kindOfThrown } from "./errors.ts";
import type { Oracle } from "./oracle.ts";
import { type Person, textOf } from "./person.ts";
import type { Replicas } from "./replicas.ts";

/** Time from one program to the next, and from one question to the next. */
const everyMs = 500;

/**
 * Time in which every program is answered: work with a database that does not answer fails after twenty seconds, and a balancer gives up a
 * replica that is silent for 22.
 */
const answeredWithinMs = 25_000;

/** Time in which `/readyz` answers, whatever the database does, beyond that of `/healthz`. */
const readyWithinMs = 2_000;

/** Time after the end of a lock or a restart, and after the beginning of a freeze, from which on each program succeeds. */
const worksAgainMs = 6_000;

export interface Asked {
  /** In milliseconds since 1970. */
  at: number;
  tookMs: number;
  /** What it got instead of the right answer. */
  error?: string;
}

/** Measured during one disturbance. */
export interface Felt {
  disturbance: string;
  programs: number;
  /** Programs that got an error. */
  failed: number;
  slowestMs: number;
  /** The slowest answer of `/readyz`, beyond that of `/healthz`. */
  readyMs: number;
}

export class Canary {
  readonly #person: Person;
  readonly #replicas: Replicas;
  readonly #oracle: Oracle;
  readonly #programs: Asked[] = [];
  readonly #questions: Asked[] = [];
  readonly #open = new Set<Promise<void>>();
  #agent: Agent | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** The programs are those of `person`, who does nothing else. */
  constructor(person: Person, replicas: Replicas, oracle: Oracle) {
    this.#person = person;
    this.#replicas = replicas;
    this.#oracle = oracle;
  }

  /** Call this while nothing is disturbed. */
  async start(): Promise<void> {
    const { site, door, fetch } = this.#person;
    const url = `${site.balancer.origin}/${door}`;
    // Without a session, so that each program goes to any replica.
    this.#agent = await openAgent({
      url,
      era: "2026",
      canBeAsked: false,
      fetch: fetch as never,
      answer: async () => "",
    });
    await this.#agent.execute({ code: "return 1" });
    this.#timer = setInterval(() => this.#ask(), everyMs);
  }

  /** Resolves when everything is answered. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#open);
    await this.#agent?.leave(true);
  }

  #ask(): void {
    this.#begin(async () => {
      const at = Date.now();
      const begun = performance.now();
      const error = await this.#run();
      this.#programs.push({ at, tookMs: performance.now() - begun, ...(error === undefined ? {} : { error }) });
    });
    for (const { port } of this.#replicas.serving) {
      this.#begin(async () => {
        const at = Date.now();
        const origin = `http://127.0.0.1:${port}`;
        // It needs nothing. So it shows how long the machine takes for any answer.
        const healthy = timeOf(fetch(`${origin}/healthz`));
        const readyMs = await timeOf(fetch(`${origin}/readyz`));
        this.#questions.push({ at, tookMs: Math.max(0, readyMs - (await healthy)) });
      });
    }
  }

  /** A small program. Returns what it got instead of the right answer. */
  async #run(): Promise<string | undefined> {
    try {
      const { text, isError } = await this.#agent!.execute({ code: "return 1" });
      return isError || text !== "1" ? text : undefined;
    } catch (error) {
      return `${kindOfThrown(error) ?? "another error"}: ${textOf(error)}`;
    }
  }

  #begin(ask: () => Promise<void>): void {
    const asked = ask().finally(() => this.#open.delete(asked));
    this.#open.add(asked);
  }

  /** Compares what was measured with the figures, and returns it for each disturbance. */
  judge(made: readonly Made[]): Felt[] {
    return judgeAsked(this.#programs, this.#questions, made, (kind, more) => this.#oracle.fail(kind, more));
  }
}

/** A replica that has just ended does not answer. */
async function timeOf(answer: Promise<Response>): Promise<number> {
  const begun = performance.now();
  await answer.catch(() => {});
  return performance.now() - begun;
}

/** The same for what was measured elsewhere. `fail` gets each figure that was missed. */
export function judgeAsked(
  programs: readonly Asked[],
  questions: readonly Asked[],
  made: readonly Made[],
  fail: (kind: string, more: string) => void,
): Felt[] {
  const at = (time: number) => {
    const last = made.findLast(({ from }) => from <= time);
    return last
      ? `${((time - last.from) / 1_000).toFixed(1)} s after the begin of: ${last.name}`
      : "before all disturbances";
  };
  for (const each of programs) {
    const { tookMs, error = "" } = each;
    const took = `after ${(tookMs / 1_000).toFixed(1)} s`;
    if (tookMs > answeredWithinMs) fail("a small program was answered late", `${took}, ${at(each.at)}`);
    if (error !== "" && !made.some((one) => mayFail(each, one)))
      fail("a small program failed that nothing disturbed", `${took}, ${at(each.at)}: ${error.slice(0, 300)}`);
  }
  for (const { at: asked, tookMs } of questions) {
    if (tookMs > readyWithinMs) fail("/readyz answered late", `after ${Math.round(tookMs)} ms, ${at(asked)}`);
  }
  return made.map((one) => {
    const during = programs.filter((each) => overlaps(each, one.from, one.to));
    const ready = questions.filter((each) => overlaps(each, one.from, one.to));
    return {
      disturbance: one.name,
      programs: during.length,
      failed: during.filter(({ error }) => error !== undefined).length,
      slowestMs: slowest(during),
      readyMs: slowest(ready),
    };
  });
}

/** Whether a program may get an error because of a disturbance. Planned ends of replicas and revocations of others disturb nobody. */
function mayFail(program: Asked, { kind, from, to = from }: Made): boolean {
  if (kind === "drain" || kind === "add" || kind === "revoke") return false;
  return overlaps(program, from, (kind === "freeze" ? from : to) + worksAgainMs);
}

function overlaps({ at, tookMs }: Asked, from: number, to = Number.POSITIVE_INFINITY): boolean {
  return at <= to && at + tookMs >= from;
}

const slowest = (list: readonly Asked[]) => Math.round(Math.max(0, ...list.map(({ tookMs }) => tookMs)));

export function feltTable(felt: readonly Felt[]): string {
  const head = [
    "| disturbance | small programs | with an error | slowest answer | slowest /readyz |",
    "| --- | --- | --- | --- | --- |",
  ];
  const rows = felt.map(({ disturbance, programs, failed, slowestMs, readyMs }) => {
    return `| ${disturbance} | ${programs} | ${failed} | ${(slowestMs / 1_000).toFixed(1)} s | ${readyMs} ms |`;
  });
  return [...head, ...rows].join("\n");
}
