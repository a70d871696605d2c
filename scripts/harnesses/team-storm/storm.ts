/**
 * A storm: people work with several replicas at one database, while replicas and the database fail. Afterwards, everything that people got and
 * everything that is left is compared with what may be.
 */

import { existsSync, readFileSync } from "node:fs";
import { Random } from "../random.ts";
import { beAsked, cancel, execute, intrude, useFiles, useOwn, visitPage } from "./activities.ts";
import { Approver } from "./approver.ts";
import { Canary } from "./canary.ts";
import { Disturber } from "./disturber.ts";
import { percentile, type StormOptions, type StormResult } from "./figures.ts";
import { Oracle } from "./oracle.ts";
import { beginApproval, beginTimer, follow, type Parked } from "./parked.ts";
import { Person } from "./person.ts";
import { type Disturbance, planOf } from "./plan.ts";
import {
  judgeAudit,
  judgeCallLog,
  judgeFiles,
  judgeOutput,
  judgeProcesses,
  judgeRefreshes,
  judgeRows,
  openExecutions,
  rowsOf,
} from "./remains.ts";
import { Replicas } from "./replicas.ts";
import { approvers, openSite, type Site } from "./site.ts";

/** People begin one after the other. */
const beginningMsPerPerson = 60;

/** Programs of a person that wait at once. */
const maxParked = 3;

/** The time after the last disturbance in which every program must end. */
const endsWithinMs = 120_000;

export interface Storm extends StormOptions {
  /** Disturbances in the place of those of the seed. */
  plan?: readonly Disturbance[];
  /** Time from the beginning in which nobody may see an error. */
  calmMs?: number;
  /** Whether the call log must have each call that servers got. Calls of a replica that was killed may be missing. */
  hasAllCalls?: boolean;
  /** Whether it is measured what each disturbance does to people, and compared with the figures of the docs. */
  isMeasured?: boolean;
  /** The executable of the first replicas. Those that are started later have that of this checkout. */
  before?: string;
  report?: (line: string) => void;
}

export async function teamStorm(storm: Storm): Promise<StormResult> {
  const { report = () => {}, plan, calmMs = 0, hasAllCalls = false, isMeasured = false, before, ...options } = storm;
  const { seed, seconds, people: count, replicas: usual, isCalm } = options;
  await using site = await openSite(count, usual);
  const wrong: string[] = [];
  // People who pause for long must not find a session that was ended for it where no error is allowed.
  await using replicas = new Replicas(site, wrong, calmMs > 0 ? "10m" : undefined);
  await Promise.all(Array.from({ length: usual }, () => replicas.start(before)));
  await ready(site);
  const oracle = new Oracle(isCalm, wrong, performance.now() + calmMs);
  report(`${count} people, ${usual} replicas behind ${site.balancer.kind}`);
  const people = Array.from(
    { length: count },
    (_, number) => new Person(number, new Random(seed, number), site, oracle),
  );
  const fail = (kind: string, more: string) => oracle.fail(kind, more);
  const canary = new Canary(new Person(count, new Random(seed, count), site, oracle), replicas, oracle);
  if (isMeasured) await canary.start();
  const disturber = new Disturber({ site, replicas, usual, people: count, report, fail });
  const [database, stopWatch] = watchDatabase(site);
  const ending = new AbortController();
  const approving = approvers.map((subject, place) =>
    new Approver(subject, new Random(seed, -2 - place), site, oracle).workUntil(ending.signal),
  );
  const disturbing = isCalm ? Promise.resolve() : disturber.run(plan ?? planOf(seed, seconds));
  const deadline = performance.now() + seconds * 1_000;
  const progress = setInterval(() => report(progressOf(oracle)), 10_000);
  const pauseMs = count * options.pauseMs;
  const parked = await Promise.all(people.map((person) => work(person, { people: count, pauseMs, deadline })));
  const worked = { count: oracle.times.length, seconds };
  await disturbing;
  await canary.stop();
  report("the storm is over, and the programs end");
  await Promise.all(people.map((person, place) => finish(person, parked[place]!, replicas)));
  await endOfExecutions(site, oracle);
  ending.abort();
  await Promise.all(approving);
  clearInterval(progress);
  await stopWatch();
  await replicas.drainAll();
  await judge({ site, oracle, replicas, disturber, count });
  if (hasAllCalls) await judgeCallLog(site, oracle, { far: site.far.calls, near: nearCalls(site) });
  const { times } = oracle;
  return {
    ...options,
    balancer: site.balancer.kind,
    executions: {
      count: worked.count,
      perSecond: Math.round((worked.count / worked.seconds) * 10) / 10,
      p50Ms: percentile(times, 0.5),
      p95Ms: percentile(times, 0.95),
      p99Ms: percentile(times, 0.99),
    },
    done: oracle.done,
    errors: oracle.errors,
    examples: oracle.examples,
    calls: { far: site.far.calls.length, near: nearCalls(site).length },
    tokens: { refreshed: site.accounts.refreshed.length, exchanged: site.provider.exchanges.length },
    disturbances: disturber.made,
    felt: isMeasured ? canary.judge(disturber.made) : [],
    replicasMb: replicas.peaksMb,
    database,
    wrong: oracle.wrong,
  };
}

/** `pauseMs` is the mean pause between two activities. */
async function work(
  person: Person,
  { people, pauseMs, deadline }: { people: number; pauseMs: number; deadline: number },
): Promise<Parked[]> {
  const { random } = person;
  const parked: Parked[] = [];
  await Bun.sleep(random.below(people * beginningMsPerPerson));
  while (performance.now() < deadline) {
    const chance = random.next();
    if (chance < 0.4) await execute(person);
    else if (chance < 0.5) await useFiles(person);
    else if (chance < 0.62) await begin(person, parked);
    else if (chance < 0.74) await followOne(person, parked);
    else if (chance < 0.78) await cancel(person, random.chance(0.4));
    else if (chance < 0.82) await person.leave(random.chance(0.3));
    else if (chance < 0.85) await intrude(person);
    else if (person.door === "ops") await execute(person);
    else if (chance < 0.92) await beAsked(person);
    else if (chance < 0.96) await useOwn(person);
    else await visitPage(person);
    await Bun.sleep(2 * pauseMs * random.next());
  }
  return parked;
}

async function begin(person: Person, parked: Parked[]): Promise<void> {
  if (parked.length >= maxParked) return followOne(person, parked);
  const begun = person.random.chance(0.7) ? await beginTimer(person) : await beginApproval(person);
  if (begun) parked.push(begun);
}

async function followOne(person: Person, parked: Parked[]): Promise<void> {
  const one = parked.shift();
  if (one && !(await follow(person, one))) parked.push(one);
}

async function finish(person: Person, parked: Parked[], replicas: Replicas): Promise<void> {
  const deadline = performance.now() + endsWithinMs;
  while (parked.length > 0 && performance.now() < deadline) {
    await followOne(person, parked);
    await Bun.sleep(300);
  }
  for (const { id, kind, lastText = "" } of parked) {
    const lines = replicas.output.split("\n").filter((line) => line.includes(id));
    const known = [lastText.slice(0, 300), await rowsOf(person.site, id), ...lines].join("; ");
    person.oracle.fail(`a program (${kind}) did not end`, `${id} of p${person.number}: ${known}`);
  }
  await person.leave(false);
}

/**
 * Programs whose answers were lost end as well, though nobody asks for them. The programs of an agent that only disconnected go on until its
 * session ends; the database does not have those that were never saved, but `far` has their calls.
 */
async function endOfExecutions(site: Site, oracle: Oracle): Promise<void> {
  const deadline = performance.now() + endsWithinMs;
  let open = await openExecutions(site);
  while (open.length + site.far.waiting.size > 0 && performance.now() < deadline) {
    await Bun.sleep(500);
    open = await openExecutions(site);
  }
  for (const each of open) oracle.fail("an execution did not end", each);
}

async function judge(all: { site: Site; oracle: Oracle; replicas: Replicas; disturber: Disturber; count: number }) {
  const { site, oracle, replicas, disturber, count } = all;
  const { far } = site;
  const personIdOf = (person: number) => site.personId(person);
  oracle.judge("far", far.calls, personIdOf);
  oracle.judge("near", nearCalls(site), personIdOf);
  if (far.waiting.size > 0) oracle.fail("calls of programs that were cancelled still run", [...far.waiting].join(", "));
  await judgeRows(site, oracle, count);
  await judgeAudit(site, oracle);
  judgeFiles(site, oracle, count);
  judgeOutput(replicas, oracle);
  judgeRefreshes(site, oracle, disturber.made);
  await judgeProcesses(site, oracle);
}

/** The server `near` has written a line for each call. The last line of a process that was killed may be incomplete. */
function nearCalls({ nearFile }: Site): { tool: string; key: string }[] {
  if (!existsSync(nearFile)) return [];
  return readFileSync(nearFile, "utf8")
    .split("\n")
    .filter((line) => line.endsWith("]"))
    .map((line) => JSON.parse(line) as [string, number])
    .map(([tool, id]) => ({ tool, key: String(id) }));
}

async function ready({ balancer }: Site): Promise<void> {
  for (const deadline = performance.now() + 30_000; performance.now() < deadline; await Bun.sleep(50)) {
    if ((await fetch(`${balancer.origin}/readyz`)).ok) return;
  }
  throw new Error("no replica became ready");
}

/** The most connections, and the last size. */
function watchDatabase({ postgres, database }: Site): [StormResult["database"], () => Promise<void>] {
  const figures = { connections: 0, mb: 0 };
  let last = Promise.resolve();
  const look = async () => {
    const [row] = await postgres.run(
      database,
      "SELECT count(*)::int - 1 AS connections, pg_database_size(current_database())::float8 / 1e6 AS mb FROM pg_stat_activity WHERE datname = current_database()",
    );
    const { connections, mb } = row as { connections: number; mb: number };
    figures.connections = Math.max(figures.connections, connections);
    figures.mb = Math.round(mb * 10) / 10;
  };
  const timer = setInterval(() => {
    // The database may be away.
    last = look().catch(() => {});
  }, 2_000);
  const stop = async () => {
    clearInterval(timer);
    await last;
    await look();
  };
  return [figures, stop];
}

function progressOf({ done, errors, wrong, times }: Oracle): string {
  const sum = (counts: Record<string, number>) => Object.values(counts).reduce((total, each) => total + each, 0);
  return `${times.length} executions, ${sum(done)} activities, ${sum(errors)} errors, ${wrong.length} wrong`;
}
