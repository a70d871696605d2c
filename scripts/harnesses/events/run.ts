/**
 * `bun run events [--rounds n] [--seed n] [--first n] [--source]`: rounds in which webhooks, files and outcomes start programs and notify while `serve --http`
 * and the daemon are killed again and again. Exits with code 1 if an event that was accepted is lost, a call was made twice, a dead delivery is
 * missing, a forged request was accepted, or a ping took too long.
 */
import { parseArgs } from "node:util";
import { executable, fromSource } from "../../../test/support/claudikins.ts";
import { isTrueWithin } from "../../../test/support/eventually.ts";
import { type Plan, type PlannedWebhook, planOf, signedHeaders } from "./plan.ts";
import { type Delivery, refusal, Site, toldTriggers } from "./site.ts";

/** Time for everything to have come to its end after the last event. */
const quietMs = 60_000;

/** Time between two attempts of a sender. */
const resendMs = 200;

/** Time for the answer to a ping while everything else happens. */
const pingMs = 100;

/** Old enough to be refused: senders and we name five minutes. */
const tooOldMs = 301_000;

/** Larger than a body may be. */
const tooLargeChars = 1_500_000;

export interface Round {
  /** How deliveries ended: their number by state. */
  ends: Record<string, number>;
  /** Processes that were killed. */
  deaths: number;
  wrong: string[];
}

export async function eventRound(plan: Plan, command: readonly string[]): Promise<Round> {
  await using site = new Site(command);
  await site.begin();
  const wrong: string[] = [];
  const accepted = new Map<string, PlannedWebhook>();
  await Promise.all([
    ...plan.webhooks.map((each) => send(each, site, accepted)),
    ...plan.files.map(async ({ name, afterMs }) => {
      await Bun.sleep(afterMs);
      site.writeFile(name);
    }),
    ...plan.attacks.map(async (each) => {
      await Bun.sleep(each.afterMs);
      wrong.push(...(await attack(each, site)));
    }),
    killAll(plan, site),
  ]);
  wrong.push(...(await slowPings(site)));
  const isQuiet = await isTrueWithin(quietMs, async () => {
    const [all, { calls }] = [await site.deliveries(), site];
    const { deliveries, notifications } = split(all);
    const taken = deliveries.filter(({ program, state }) => program === "take" && state === "done");
    const areTold = notifications.length === Object.keys(toldTriggers).length * taken.length;
    const isOpen = ({ state, message }: Delivery) =>
      ["waiting", "running"].includes(state) || (state === "failed" && !message?.includes(refusal));
    const isOver = areTold && !all.some(isOpen);
    return isOver && plan.files.every(({ name }) => calls.has(name)) && areAllPassed(accepted, deliveries);
  });
  const all = await site.deliveries();
  const { deliveries, notifications } = split(all);
  wrong.push(
    ...(isQuiet ? [] : ["not everything has come to its end"]),
    ...problems(plan, accepted, deliveries, site.calls),
    ...untold(notifications, site),
  );
  const ends = Object.fromEntries(
    [...Map.groupBy(all, ({ state }) => state)].map(([state, all]) => [state, all.length]),
  );
  return { ends, deaths: site.deaths, wrong };
}

/** The events that start programs, and the notifications about outcomes. */
function split(all: readonly Delivery[]): { deliveries: Delivery[]; notifications: Delivery[] } {
  const isTold = ({ trigger }: Delivery) => Object.values(toldTriggers).includes(trigger);
  return { deliveries: all.filter((each) => !isTold(each)), notifications: all.filter(isTold) };
}

/** Each notification comes once if its delivery is done, and at most once if nobody knows. */
function untold(notifications: readonly Delivery[], { told, calls }: Site): string[] {
  const twice = [...told].flatMap(([id, times]) => (times > 1 ? [`${id} came ${times} times`] : []));
  const done = (trigger: string) => notifications.filter((each) => each.trigger === trigger && each.state === "done");
  const missing = done(toldTriggers.webhook).filter(({ id }) => !told.has(id));
  const byTool = [...calls.keys()].filter((name) => name.startsWith("told ")).length;
  const lost = done(toldTriggers.tool).length > byTool ? ["a notification by a tool is lost"] : [];
  return [...twice, ...missing.map(({ id }) => `the notification ${id} is lost`), ...lost];
}

/** Sends a webhook until it is accepted, and then again as often as planned. */
async function send(webhook: PlannedWebhook, site: Site, accepted: Map<string, PlannedWebhook>): Promise<void> {
  const { id, form, kind, times, afterMs } = webhook;
  await Bun.sleep(afterMs);
  const { path, secret } = site.hooks.get(form)!;
  const body = JSON.stringify({ id, kind });
  for (let answered = 0; answered < times; await Bun.sleep(resendMs)) {
    const headers = signedHeaders(form, secret, body, id, Date.now());
    const response = await fetch(site.url(path), { method: "POST", headers, body }).catch(() => undefined);
    if (response?.status !== 202) continue;
    accepted.set(id, webhook);
    answered += 1;
  }
}

async function attack({ kind, form }: Plan["attacks"][number], site: Site): Promise<string[]> {
  const { path, secret } = site.hooks.get(form)!;
  const text = kind === "too large" ? "x".repeat(tooLargeChars) : "";
  const body = JSON.stringify({ id: "forged", kind: "acts", text });
  const atMs = kind === "old time" && form !== "github" ? Date.now() - tooOldMs : Date.now();
  const isGuessed = kind === "wrong signature" || (kind === "old time" && form === "github");
  const headers = signedHeaders(form, isGuessed ? "a guess" : secret, body, "forged", atMs);
  const at = kind === "unknown address" ? "/hooks/unknown" : path;
  const response = await fetch(site.url(at), { method: "POST", headers, body }).catch(() => undefined);
  const expected = kind === "too large" ? 413 : 404;
  // The process may have been killed, or may not be listening again yet.
  if (!response || response.status === expected) return [];
  return [`${kind} (${form}) was answered with ${response.status}`];
}

async function killAll({ kills }: Plan, site: Site): Promise<void> {
  let atMs = 0;
  for (const { process, afterMs } of kills.toSorted((one, other) => one.afterMs - other.afterMs)) {
    await Bun.sleep(Math.max(0, afterMs - atMs));
    atMs = afterMs;
    await site.kill(process);
  }
}

async function slowPings(site: Site): Promise<string[]> {
  const times: number[] = [];
  for (let ping = 0; ping < 5; ping++) {
    const begin = performance.now();
    await fetch(site.url("/healthz")).catch(() => undefined);
    times.push(performance.now() - begin);
  }
  const best = Math.min(...times);
  return best > pingMs ? [`the quickest of five pings took ${Math.round(best)} ms`] : [];
}

/** Each success of `take` is followed by one delivery of `next`. */
function areAllPassed(accepted: ReadonlyMap<string, PlannedWebhook>, deliveries: readonly Delivery[]): boolean {
  const count = (program: string) => deliveries.filter((each) => each.program === program);
  const taken = count("take");
  return (
    taken.length === accepted.size && count("next").length === taken.filter(({ state }) => state === "done").length
  );
}

function problems(
  { files }: Plan,
  accepted: ReadonlyMap<string, PlannedWebhook>,
  deliveries: readonly Delivery[],
  calls: ReadonlyMap<string, number>,
): string[] {
  const wrong = [...calls].flatMap(([name, count]) => (count > 1 ? [`${name} was called ${count} times`] : []));
  if (calls.has("forged")) wrong.push("a forged event was run");
  const unsure = deliveries.filter(({ message }) => message?.includes("nobody knows"));
  const isDead = (program: string) => deliveries.filter((each) => each.program === program && each.state === "dead");
  const expectCalled = (names: readonly string[], program: string, what: string) => {
    const missing = names.filter((name) => !calls.has(name));
    // A call that a killed process had sent may not have arrived: its delivery is dead.
    if (missing.length > isDead(program).length) wrong.push(`lost ${what}: ${missing.join(", ")}`);
  };
  const of = (kind: PlannedWebhook["kind"]) =>
    [...accepted.values()].filter((each) => each.kind === kind).map(({ id }) => id);
  expectCalled([...of("acts"), ...of("breaks")], "take", "events");
  expectCalled(
    files.map(({ name }) => name),
    "file",
    "files",
  );
  const take = deliveries.filter(({ program }) => program === "take");
  if (take.length !== accepted.size) wrong.push(`${accepted.size} events were accepted, and ${take.length} are listed`);
  const dead = isDead("take").length;
  const unsureTakes = unsure.filter(({ program }) => program === "take").length;
  // An event that is refused before any call waits for its next attempt.
  if (dead < of("breaks").length || dead > of("breaks").length + of("refuses").length + unsureTakes) {
    wrong.push(`${of("breaks").length} events had to be dead, and ${dead} are`);
  }
  return wrong;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      rounds: { type: "string", default: "20" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      first: { type: "string", default: "0" },
      source: { type: "boolean", default: false },
    },
  });
  const [rounds, seed, first] = [Number(values.rounds), Number(values.seed), Number(values.first)];
  const command = values.source ? fromSource : [executable()];
  const total: Record<string, number> = {};
  let [deaths, failed] = [0, 0];
  for (let index = first; index < first + rounds; index++) {
    const round = await eventRound(planOf(seed, index), command);
    for (const [end, count] of Object.entries(round.ends)) total[end] = (total[end] ?? 0) + count;
    deaths += round.deaths;
    if (round.wrong.length === 0) continue;
    failed += 1;
    console.error(`seed ${seed}, round ${index}:\n  ${round.wrong.join("\n  ")}`);
  }
  const ends = Object.entries(total).map(([end, count]) => `${count} ${end}`);
  console.log(
    `seed ${seed}: ${rounds} rounds, ${deaths} processes died; deliveries: ${ends.join(", ")}; ${failed} rounds failed`,
  );
  return failed > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = await main();
