/** One round: events come while processes fail, and then everything must come to its end. */
import type { BriefDelivery } from "../../../src/store/deliveries.ts";
import { isTrueWithin } from "../../../test/support/eventually.ts";
import type { PostgresFixture } from "../../../test/support/postgres.ts";
import { hasClocks } from "./clock.ts";
import { problemsOf, type Seen } from "./oracle.ts";
import type { Disturbance, Plan, PlannedAttack, PlannedWebhook } from "./plan.ts";
import type { Process } from "./processes.ts";
import { publishedExamples, signedHeaders } from "./senders.ts";
import { resource, type Site } from "./site.ts";

/** Time for everything to have come to its end after the last event. */
const quietMs = 180_000;

/** How often the queue is looked at meanwhile. */
const lookMs = 250;

/** Time between two moves of the clocks: each process reads its clock again within a second, and looks at the queue every three. */
const moveMs = 4_500;

/** Time between two announcements: those that no process hears are lost. */
const touchMs = 4_000;

/** Time between two attempts of a sender, and the time that it waits for an answer. */
const resendMs = 200;
const answerMs = 3_000;

/** Old enough to be refused: senders and we name five minutes. */
const tooOldMs = 301_000;

/** Larger than a body may be. */
const tooLargeChars = 1_500_000;

/** Answers that let a sender try again: too much at once, and a process or a database that is away. */
const laterStatuses = [429, 503];

export interface Round {
  /** How deliveries ended: their number by state. */
  ends: Record<string, number>;
  wrong: string[];
}

export async function eventRound(plan: Plan, site: Site, postgres: PostgresFixture | undefined): Promise<Round> {
  const { recorder } = site;
  const before = await untilAllEnded(site);
  for (const { clock } of site.processes) await clock.isRead();
  const [firstAct, toldBefore] = [recorder.acts.length, new Set(site.told.keys())];
  recorder.isMended = false;
  const wrong: string[] = [];
  const bodies = new Map<string, string>();
  const seen = async (): Promise<Seen> => ({
    plan,
    bodies,
    deliveries: (await site.deliveries()).filter(({ id }) => !before.has(id)),
    calls: new Map(
      [...Map.groupBy(recorder.acts.slice(firstAct), (key) => key)].map(([key, all]) => [key, all.length]),
    ),
    told: new Map([...site.told].filter(([id]) => !toldBefore.has(id))),
  });
  const isCalm = !plan.disturbances.some(({ kind }) => kind === "clock");
  const later = <T>(each: T & { afterMs: number }, act: (each: T) => unknown) =>
    Bun.sleep(each.afterMs).then(() => act(each));
  const limited = Array.from({ length: plan.burst }, (_, place) => `${plan.index}.b${place}`);
  await Promise.all([
    ...plan.webhooks.map((each) =>
      later(each, async ({ id, kind, form, times }) => {
        const body = JSON.stringify({ id, kind });
        bodies.set(id, body);
        wrong.push(...(await send({ id, body, form, hook: form, times }, site, isCalm)));
      }),
    ),
    ...limited.map(async (id) => {
      const body = JSON.stringify({ id });
      wrong.push(...(await send({ id, body, form: "standard", hook: "limited", times: 1 }, site, isCalm)));
    }),
    ...plan.files.map((each) => later(each, ({ name }) => site.writeFile(name))),
    ...plan.updates.map((each) => later(each, () => recorder.touch(resource))),
    ...plan.tools.map((each) => later(each, ({ name }) => recorder.addTool(name))),
    ...plan.attacks.map((each) => later(each, async (attack) => wrong.push(...(await attacked(attack, site))))),
    ...plan.disturbances.map((each) => disturb(each, site, postgres)),
  ]);
  site.advance(0);
  if (!(await isTrueWithin(quietMs, watched(plan, site, seen)))) wrong.push("not everything has come to its end");
  const all = await seen();
  wrong.push(...problemsOf(all));
  const open = await site.store.executions.list();
  wrong.push(...open.filter(({ state }) => state !== "ended").map(({ id }) => `the execution ${id} has not ended`));
  wrong.push(...site.processes.flatMap(({ ends }) => ends.splice(0)));
  const byState = Map.groupBy(all.deliveries, ({ state }) => state);
  return { ends: Object.fromEntries([...byState].map(([state, found]) => [state, found.length])), wrong };
}

/** The ids of the deliveries of earlier rounds. An update may have come a moment after the last one. */
async function untilAllEnded(site: Site): Promise<Set<string>> {
  for (;;) {
    const all = await site.deliveries();
    if (!all.some(isOpen)) return new Set(all.map(({ id }) => id));
    await Bun.sleep(lookMs);
  }
}

const isOpen = ({ state }: BriefDelivery) => state !== "done" && state !== "dead";

/**
 * A question whether everything has ended. The clocks go on to the times that deliveries wait for. Failing programs are repaired: in a patient
 * round only once their deliveries are dead, which their user then begins again.
 */
function watched(plan: Plan, site: Site, seen: () => Promise<Seen>): () => Promise<boolean> {
  let movedAt = 0;
  let touched: { at: number; noted: number } | undefined;
  let isRetried = false;
  let quietLooks = 0;
  return async () => {
    await Bun.sleep(lookMs);
    const { deliveries } = await seen();
    const noted = deliveries.filter(({ triggerId }) => triggerId === "noted").length;
    const isHeard = touched !== undefined && noted > touched.noted;
    if (!isHeard && performance.now() > (touched?.at ?? 0) + touchMs) {
      touched = { at: performance.now(), noted: touched?.noted ?? noted };
      await site.recorder.touch(resource);
    }
    const open = deliveries.filter(isOpen);
    const failing = open.filter(({ state }) => state === "failed");
    const isPatient = plan.isPatient && hasClocks;
    if (!isPatient) site.recorder.isMended = true;
    const isForLater = ({ state, triggerId }: BriefDelivery) =>
      state === "failed" || (state === "waiting" && triggerId === "on-limited");
    const isWaiting = open.length > 0 && open.every(isForLater);
    if (isWaiting && performance.now() > movedAt + moveMs) {
      movedAt = performance.now();
      const now = Math.max(...site.processes.map(({ clock }) => clock.now));
      const times = open.map((each) => (failing.includes(each) ? each.nextAt - now : 60_000));
      site.advance(Math.max(0, ...times) + 1_000);
    }
    if (open.length > 0 || !isHeard) return false;
    const refused = deliveries.filter(({ state, message }) => state === "dead" && message?.includes("refused before"));
    if (refused.length > 0 && !isRetried) {
      isRetried = true;
      site.recorder.isMended = true;
      await site.claudikins("programs", "retry", ...refused.map(({ id }) => id));
      return false;
    }
    // Files and lists are looked at again. The outcome of a delivery is in the queue before that delivery has ended.
    const isComplete = problemsOf(await seen()).length === 0;
    quietLooks += 1;
    return isComplete || quietLooks > 10_000 / lookMs;
  };
}

interface Sent {
  id: string;
  body: string;
  form: PlannedWebhook["form"];
  hook: PlannedWebhook["form"] | "limited";
  times: number;
}

/** Sends a webhook until it is accepted, and then again as often as planned. Returns answers that no sender should get. */
async function send({ id, body, form, hook, times }: Sent, site: Site, isCalm: boolean): Promise<string[]> {
  const wrong: string[] = [];
  const { path, secret } = site.hooks.get(hook)!;
  for (let [answered, attempt] = [0, 0]; answered < times; attempt++) {
    const to = site.serving[attempt % site.serving.length]!;
    const headers = signedHeaders(form, secret, body, id, to.clock.now);
    const status = await statusOf(to, path, headers, body);
    if (status === 202) answered += 1;
    // A clock that was moved refuses times that were right before.
    else if (status !== undefined && !laterStatuses.includes(status) && (isCalm || status !== 404))
      wrong.push(`the webhook ${id} (${form}) was answered with ${status}`);
    if (wrong.length > 2) return wrong;
    await Bun.sleep(resendMs);
  }
  return wrong;
}

/** Undefined without an answer: the process may have been killed, or stands still. */
async function statusOf(to: Process, path: string, headers: Record<string, string>, body: string) {
  const url = new URL(path, `http://127.0.0.1:${to.port}`);
  const signal = AbortSignal.timeout(answerMs);
  try {
    const response = await fetch(url, { method: "POST", headers, body, signal });
    await response.text();
    return response.status;
  } catch {
    return undefined;
  }
}

async function attacked({ kind, form }: PlannedAttack, site: Site): Promise<string[]> {
  const to = site.serving[0]!;
  const { path, secret } = site.hooks.get(form)!;
  const example = kind === "published" ? publishedExamples.find((each) => each.form === form) : undefined;
  if (kind === "published" && !example) return [];
  const text = kind === "too large" ? "x".repeat(tooLargeChars) : "";
  const body = example?.body ?? JSON.stringify({ id: "forged", kind: "acts", text });
  const isOld = kind === "old time" && form !== "github";
  const isGuessed = kind === "wrong signature" || (kind === "old time" && form === "github");
  const atMs = to.clock.now - (isOld ? tooOldMs + 3_600_000 * 100 : 0);
  const headers = example?.headers ?? signedHeaders(form, isGuessed ? "a guess" : secret, body, "forged", atMs);
  const status = await statusOf(to, kind === "unknown address" ? "/hooks/unknown" : path, headers, body);
  const expected = kind === "too large" ? 413 : (example?.status ?? 404);
  if (status === undefined || status === expected || laterStatuses.includes(status)) return [];
  return [`${kind} (${form}) was answered with ${status}`];
}

async function disturb(each: Disturbance, site: Site, postgres: PostgresFixture | undefined): Promise<void> {
  const { processes } = site;
  const chosen = processes[Math.floor(each.which * processes.length)]!;
  await Bun.sleep(each.atMs);
  switch (each.kind) {
    case "kill":
      return chosen.kill();
    case "freeze":
      return chosen.freeze(each.forMs);
    case "clock":
      for (const { clock } of each.isEverywhere ? processes : [chosen]) clock.move(each.byMs);
      return;
    case "restart of the database":
      return site.restart(postgres!);
    case "cut":
      await site.cut(postgres!);
  }
}
