/** What administrators see on the page for people: more about each person, the groups behind each right, and the quotas. */
import type { App } from "../../app/app.ts";
import { counted } from "../../base/counted.ts";
import { dayMs } from "../../base/units.ts";
import type { LivePeople } from "../../policy/people/live-people.ts";
import { type QuotaState, quotaStates } from "../../policy/quotas.ts";
import { callFigures } from "../../programs/call-log/figures.ts";
import { serversOfPeople } from "../../servers/auth/person-files.ts";
import type { StoredPerson } from "../../store/people.ts";
import type { PageAdministration, PagePersonAbout, PageQuota } from "../contract.ts";

/** Days of the call log that are summed up for a person. */
const shownCallDays = 7;

interface AdministrationOptions {
  app: App;
  people: LivePeople;
  /** The open sessions of a person in this process. */
  sessionsOf(id: string): Promise<number>;
}

export async function aboutPerson(
  person: StoredPerson,
  { app, people, sessionsOf }: AdministrationOptions,
): Promise<PagePersonAbout> {
  const { config, id, email, firstAt } = person;
  const { store, env } = app;
  const { newest } = await store.people.standing({ config, id });
  const filter = { config, person: id, since: Date.now() - shownCallDays * dayMs };
  const [figures] = (await callFigures(store.callLog, filter, ["person"])).person;
  const [credentials = []] = await serversOfPeople([person], env);
  return {
    email: email ?? undefined,
    firstAt,
    groups: newest && { names: newest.groups.toSorted(), at: newest.issuedAt },
    hasDirectory: people.oidc?.scim?.groups === true,
    sessions: await sessionsOf(id),
    calls: {
      days: shownCallDays,
      calls: figures?.calls ?? 0,
      failures: figures?.failures ?? 0,
      executions: figures?.executions ?? 0,
    },
    credentials,
  };
}

export async function administrationOf({ config, store }: App, people: LivePeople): Promise<PageAdministration> {
  const { oidc } = people;
  const doors = Object.entries(oidc?.doors ?? {}).map(([door, groups]) => ({ right: doorText(door), groups }));
  return {
    rights: [
      ...doors,
      { right: "Approve calls", groups: oidc?.approvers ?? [] },
      { right: "Administer", groups: oidc?.administrators ?? [] },
    ],
    quotas: (await quotaStates(config, store.quotas)).map(shownQuota),
    keepDays: oidc?.keepDays,
  };
}

function doorText(door: string): string {
  return door === "mcp" ? "Use the whole config" : `Use the door ${door}`;
}

const texts: Record<QuotaState["kind"], (limit: number) => string> = {
  callsPerMinute: (limit) => `${counted(limit, "call")} a minute`,
  mbPerDay: (limit) => `${limit} MB a day`,
  callsAtOnce: (limit) => `${counted(limit, "call")} at the same time`,
  executionsAtOnce: (limit) => `${counted(limit, "program")} at the same time`,
};

function shownQuota({ owner, kind, limit, used, to }: QuotaState): PageQuota {
  return { owner, text: texts[kind](limit), limit, used, to };
}
