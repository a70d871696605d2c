/** Compares what the queue says about the events of a round with what was sent and what the recording server saw. */
import { minuteMs } from "../../../src/base/units.ts";
import type { BriefDelivery } from "../../../src/store/deliveries.ts";
import type { Plan } from "./plan.ts";
import { eventName } from "./senders.ts";
import { brokenMessage, perMinute, resource, toldTriggers } from "./site.ts";

/** What has happened in a round. */
export interface Seen {
  plan: Plan;
  /** The deliveries of the round. */
  deliveries: readonly BriefDelivery[];
  /** How often each key was acted upon. */
  calls: ReadonlyMap<string, number>;
  /** How often each notification has come as a webhook, by its id. */
  told: ReadonlyMap<string, number>;
  /** The bodies of the webhooks that were accepted, by their ids. */
  bodies: ReadonlyMap<string, string>;
}

/** A process has ended, or the database was away, while a call was made: whether it took effect is not known. */
export const isUnsure = ({ state, message }: BriefDelivery) =>
  state === "dead" && /nobody knows|could not be noted|cannot be continued/.test(message ?? "");

export function problemsOf(seen: Seen): string[] {
  const { deliveries, calls, told } = seen;
  const twice = [...calls].flatMap(([key, count]) =>
    count > 1 && !key.startsWith("noted ") ? [`${key} was called ${count} times`] : [],
  );
  const toldTwice = [...told].flatMap(([id, count]) =>
    count > 1 ? [`the notification ${id} came ${count} times`] : [],
  );
  const open = deliveries.filter(({ state }) => state !== "done" && state !== "dead");
  return [
    ...twice,
    ...toldTwice,
    ...open.map(({ id, triggerId, state }) => `the delivery ${id} of ${triggerId} is ${state}`),
    ...ofWebhooks(seen),
    ...ofOutcomes(seen),
    ...ofSources(seen),
    ...ofLimits(seen),
  ];
}

/** Each accepted event has one delivery, which has ended as its program does. */
function ofWebhooks({ plan, deliveries, calls, bodies }: Seen): string[] {
  const wrong: string[] = [];
  const known = new Set<string>();
  const check = (id: string, trigger: string, event: string, kind: string) => {
    const found = deliveries.filter((each) => each.triggerId === trigger && each.event === event);
    const [only] = found;
    for (const { id } of found) known.add(id);
    if (found.length !== 1 || !only) wrong.push(`${id} has ${found.length} deliveries`);
    else if (!isUnsure(only)) wrong.push(...endOf(id, kind, only, calls.get(id) ?? 0));
  };
  for (const { id, form, kind } of plan.webhooks) {
    check(id, `on-${form}`, eventName(form, bodies.get(id) ?? "", id), kind);
  }
  for (let place = 0; place < plan.burst; place++) {
    const id = `${plan.index}.b${place}`;
    check(id, "on-limited", eventName("standard", "", id), "acts");
  }
  const others = deliveries.filter(({ id, triggerId }) => triggerId.startsWith("on-") && !known.has(id));
  return [...wrong, ...others.map(({ id }) => `nobody has sent the event of the delivery ${id}`)];
}

function endOf(id: string, kind: string, { state, message }: BriefDelivery, count: number): string[] {
  const expected = kind === "breaks" ? "dead" : "done";
  const isRight = state === expected && count === 1 && (kind !== "breaks" || message?.includes(brokenMessage));
  return isRight ? [] : [`${id} (${kind}) is ${state} after ${count} calls${message === null ? "" : `: ${message}`}`];
}

/** Each outcome of `take` has started what follows it, and was told. */
function ofOutcomes({ deliveries, calls, told }: Seen): string[] {
  const takes = deliveries.filter(({ program, triggerId }) => program === "take" && triggerId.startsWith("on-"));
  const of = (trigger: string) => deliveries.filter(({ triggerId }) => triggerId === trigger);
  const done = takes.filter(({ state }) => state === "done");
  const following = ["next", ...Object.values(toldTriggers)].flatMap((trigger) => {
    const all = of(trigger);
    const lost = done.filter(({ execution }) => !all.some(({ event }) => event === execution));
    const early = all.filter(({ event }) => !done.some(({ execution }) => event === execution));
    return [
      ...lost.map(({ id }) => `nothing of ${trigger} follows the delivery ${id}`),
      ...early.map(({ id, event }) => {
        const take = takes.find(({ execution }) => execution === event);
        const found = take ? `${take.id}, which is ${take.state}: ${take.message}` : `the execution ${event}`;
        return `the delivery ${id} of ${trigger} follows ${found}`;
      }),
    ];
  });
  const failed = takes.filter((each) => each.state === "dead");
  const alarmed = new Set(of("alarm").map(({ event }) => event));
  const isAlarmed = ({ id, execution }: BriefDelivery) => alarmed.has(execution ?? "") || alarmed.has(`delivery ${id}`);
  const silent = failed.filter((each) => !isAlarmed(each));
  const false_ = done.filter(({ execution }) => alarmed.has(execution ?? ""));
  const isDone = ({ state }: BriefDelivery) => state === "done";
  const unsent = of(toldTriggers.webhook).filter((each) => isDone(each) && !told.has(each.id));
  const uncalled = [
    ...of(toldTriggers.tool).map((each) => ({ each, key: `told ${each.event}` })),
    ...of("alarm").map((each) => ({ each, key: `alarm ${each.event}` })),
  ].filter(({ each, key }) => isDone(each) && !each.event.startsWith("delivery ") && calls.get(key) !== 1);
  return [
    ...following,
    ...silent.map(({ id }) => `nobody was alarmed about the delivery ${id}`),
    ...false_.map(({ id }) => `somebody was alarmed about the delivery ${id}, which is done`),
    ...unsent.map(({ id }) => `the notification ${id} is done, and was not sent`),
    ...uncalled.map(
      ({ each, key }) => `the delivery ${each.id} is done, and ${key} was called ${calls.get(key) ?? 0} times`,
    ),
  ];
}

/** Files, resources and lists. */
function ofSources({ plan, deliveries, calls }: Seen): string[] {
  const of = (trigger: string) => deliveries.filter(({ triggerId }) => triggerId === trigger);
  const files = plan.files.flatMap(({ name }) => {
    const found = of("file").filter(({ event }) => event.startsWith(`${name} `));
    const [only] = found;
    if (found.length !== 1 || !only) return [`the file ${name} has ${found.length} deliveries`];
    return isUnsure(only) || (only.state === "done" && calls.get(`file ${name}`) === 1)
      ? []
      : [`the file ${name} is ${only.state} after ${calls.get(`file ${name}`) ?? 0} calls`];
  });
  const noted = of("noted");
  const counted = calls.get(`noted ${resource}`) ?? 0;
  const sure = noted.filter(({ state }) => state === "done").length;
  const isCounted = counted >= sure && counted <= noted.length;
  const listed = [...calls.keys()].filter((key) => key.startsWith("listed ")).flatMap((key) => key.slice(7).split(","));
  const unlisted = plan.tools.filter(({ name }) => !listed.includes(name) && !of("listed").some(isUnsure));
  return [
    ...files,
    ...(noted.length > 0 ? [] : ["the updated resource has no delivery"]),
    ...(isCounted ? [] : [`${sure} of ${noted.length} updates are done, and ${counted} were called`]),
    ...unlisted.map(({ name }) => `the new tool ${name} is lost`),
  ];
}

/** A clock that is moved may go through the same minute twice. */
function ofLimits({ plan, deliveries }: Seen): string[] {
  const moves = plan.disturbances.filter(({ kind }) => kind === "clock").length;
  const claimed = deliveries.filter(({ triggerId, claimedAt }) => triggerId === "on-limited" && claimedAt !== null);
  const byMinute = Map.groupBy(claimed, ({ claimedAt }) => Math.floor(claimedAt! / minuteMs));
  const most = Math.max(0, ...[...byMinute.values()].map((all) => all.length));
  return most > perMinute * (1 + moves) ? [`${most} runs of ${perMinute} have begun within a minute`] : [];
}
