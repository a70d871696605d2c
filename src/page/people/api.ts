/**
 * Answers the requests of a person who has signed in to the page: the person's own executions, and the approvals that the person's groups
 * allow.
 */
import type { App } from "../../app/app.ts";
import { counted } from "../../base/counted.ts";
import { version } from "../../base/version.ts";
import { homeOf } from "../../config/locations.ts";
import type { Approvals } from "../../policy/approvals/approvals.ts";
import type { PersonClaims } from "../../policy/people/claims.ts";
import type { LivePeople } from "../../policy/people/live-people.ts";
import type { Rights } from "../../policy/people/rights.ts";
import { recordedContents } from "../../programs/comparing/contents.ts";
import { cancelFor } from "../../programs/execution/cancel-for.ts";
import type { ListedExecution } from "../../programs/execution/listed-executions.ts";
import { isId } from "../../programs/trace/id.ts";
import type { ExecutionRecord } from "../../programs/trace/record.ts";
import { readRecord } from "../../programs/trace/store.ts";
import { configOwner } from "../../servers/logs/place.ts";
import type { StoredPerson } from "../../store/people.ts";
import { activityIn, recordedCalls } from "../activity.ts";
import type { PageAbout, PageActivity, PageCalls, PageExecution } from "../activity-contract.ts";
import { type Continued, PageApprovals } from "../approvals.ts";
import { callsIn, readCalls } from "../calls.ts";
import { comparablesOf, comparedIn, comparisonOf } from "../comparing.ts";
import type { PageApproval, PagePerson, PageState } from "../contract.ts";
import { tracePageOf } from "../execution/off-thread.ts";
import { ExecutionsReader } from "../executions.ts";
import { RefusedRequest } from "../guard.ts";
import type { RouteRequest, Routes } from "../server.ts";
import { aboutPerson, administrationOf } from "./administration.ts";

export interface PeopleApiOptions {
  /** The whole config. */
  app: App;
  people: LivePeople;
  approvals: Approvals;
  continued: Continued;
  /** Opens the part of the config behind a door. */
  openDoor(door: string): Promise<App>;
  /** Takes access away or gives it back, on behalf of an administrator. */
  changePeople(people: readonly StoredPerson[], what: "revoked" | "restored", by: PersonClaims): Promise<unknown>;
  /** The open sessions of a person in this process. */
  sessionsOf(id: string): Promise<number>;
  /** Deletes the data of a revoked person, on behalf of an administrator. */
  deletePerson(person: StoredPerson, by: PersonClaims): Promise<unknown>;
}

export class PeopleApi {
  readonly #options: PeopleApiOptions;
  readonly #approvals: PageApprovals;
  readonly #executions: ExecutionsReader;

  constructor(options: PeopleApiOptions) {
    const { app, approvals, continued } = options;
    this.#options = options;
    this.#approvals = new PageApprovals(approvals, app.store, homeOf(app.env), continued);
    this.#executions = new ExecutionsReader(app, "waits for approval");
  }

  async state(viewer: PersonClaims): Promise<PageState> {
    const { app, people } = this.#options;
    const { approvers = [] } = people.oidc ?? {};
    const listed = await this.#approvals.list();
    const rights = await people.rightsOf(viewer);
    const { mayApprove, isAdministrator } = rights;
    const approvals = listed.approvals.filter((each) => this.#sees(viewer, rights, each));
    return {
      version,
      config: configOwner(app.config.origin),
      configText: "",
      approvals,
      decided: listed.decided.filter((each) => this.#sees(viewer, rights, each)),
      executions: await this.#executionsFor(viewer, rights, listed.approvals),
      servers: [],
      programs: [],
      schedules: [],
      programProblems: [],
      viewer: {
        name: viewer.name,
        mayApprove,
        approvers,
        ...(isAdministrator ? { people: (await this.#people()).map((each) => shownPerson(each, viewer)) } : {}),
      },
    };
  }

  /**
   * The executions of the viewer. Administrators see the executions of everyone with the person's name, but without the program, because
   * ending an execution does not require reading it.
   */
  async #executionsFor(viewer: PersonClaims, rights: Rights, asking: PageApproval[]): Promise<PageExecution[]> {
    const own = (await this.#executions.read(asking, viewer.id)).shown;
    if (!rights.isAdministrator) return own.map((each) => ({ ...each, canBeSaved: false }));
    const { shown } = await this.#executions.read(asking);
    const ownIds = new Set(own.map(({ id }) => id));
    return shown.map((each) => {
      const seen = ownIds.has(each.id) ? each : withoutContents(each);
      return { ...seen, canBeSaved: false };
    });
  }

  /** The executions of the viewer, whatever the rights are: the whole list has what its programs called. */
  async #activity({ search }: RouteRequest, viewer: PersonClaims): Promise<PageActivity> {
    const { filter, asked } = activityIn(search);
    const { approvals } = await this.#approvals.list();
    const found = await this.#executions.activity({ ...filter, person: viewer.id }, asked, approvals);
    return { ...found, people: [], executions: found.executions.map((each) => ({ ...each, canBeSaved: false })) };
  }

  /**
   * The calls of the viewer, and for administrators those of everybody: the call log has no contents. Executions of others are not shown, because
   * their programs are.
   */
  async #calls({ search }: RouteRequest, viewer: PersonClaims): Promise<PageCalls> {
    const { app, people } = this.#options;
    const config = configOwner(app.config.origin) ?? "";
    const { isAdministrator } = await people.rightsOf(viewer);
    const own = isAdministrator ? { config } : { config, person: viewer.id };
    return readCalls(callsIn(search), own, app.store, ({ person }) => person === viewer.id);
  }

  /** An execution of the viewer with its calls. Its code is run again by the agent only. Throws RefusedRequest. */
  async #about(id: string, viewer: PersonClaims): Promise<PageAbout> {
    const { app } = this.#options;
    const record = isId(id) ? await readRecord(app.store, id) : undefined;
    const found = await this.#executions.find(id, [], record);
    if (found?.person?.id !== viewer.id) throw new RefusedRequest(404, "This execution does not exist");
    const calls = found.summary && record ? recordedCalls(record) : { calls: [], more: 0 };
    const execution = { ...this.#executions.shown(found, []), canBeSaved: false };
    // Only those who run the server choose what is recorded.
    return { execution, ...calls, noContents: undefined, canRunAgain: false };
  }

  /** The page of one recorded execution of the viewer. Throws RefusedRequest if there is none. */
  async tracePage(id: string, viewer: PersonClaims): Promise<string> {
    const { app } = this.#options;
    const isOwn = isId(id) && (await this.#isOwn(id, viewer));
    const page = isOwn ? await tracePageOf(app.store, id) : undefined;
    if (page === undefined) throw new RefusedRequest(404, "This execution has no record, or its record was deleted");
    return page;
  }

  /** The viewer's requests, by method and path. */
  routesFor(viewer: PersonClaims): Routes {
    const change = (what: "revoked" | "restored") => async (call: RouteRequest) => {
      await this.#options.changePeople([await this.#chosen(call, viewer)], what, viewer);
    };
    return {
      "GET api/approvals/*": ({ id }) => this.#seen(id, viewer),
      "POST api/approvals/*": async ({ id, body }) => {
        await this.#seen(id, viewer);
        const decision = await body("decision");
        if (decision.decision === "always")
          throw new RefusedRequest(403, "Only the user of claudikins changes its config");
        // The body may have taken its time.
        if ((await this.#options.people.rightsOf(viewer)).mayApprove)
          return this.#approvals.decide(id, decision, { id: viewer.id, name: viewer.name });
        throw new RefusedRequest(403, "You may not approve or deny calls");
      },
      "GET api/activity": (call) => this.#activity(call, viewer),
      "GET api/calls": (call) => this.#calls(call, viewer),
      "GET api/executions/*/about": ({ id }) => this.#about(id, viewer),
      "GET api/executions/*/comparable": async ({ id }) =>
        comparablesOf(await this.#ownRecord(id, viewer), this.#options.app.store, this.#executions),
      "GET api/executions/*/compare": async ({ id, search }) => {
        const records = [id, comparedIn(search, id)].map((each) => this.#ownRecord(each, viewer));
        const [one, other] = (await Promise.all(records)).map(recordedContents);
        return comparisonOf(one!, other!, this.#executions);
      },
      "POST api/executions/*/cancel": ({ id }) => this.#cancel(id, viewer),
      "GET api/people/about": async ({ search }) => {
        await this.#requireAdministrator(viewer);
        return aboutPerson(await this.#personCalled(search.get("id")), this.#options);
      },
      "GET api/administration": async () => {
        await this.#requireAdministrator(viewer);
        return administrationOf(this.#options.app, this.#options.people);
      },
      "POST api/people/revoke": change("revoked"),
      "POST api/people/restore": change("restored"),
      "POST api/people/delete": async (call) => {
        const person = await this.#chosen(call, viewer);
        if (person.revokedAt === null) throw new RefusedRequest(409, "The person is not revoked");
        await this.#options.deletePerson(person, viewer);
      },
    };
  }

  /** An approval that the viewer may see. Throws RefusedRequest. */
  async #seen(id: string, viewer: PersonClaims): Promise<PageApproval> {
    const found = await this.#approvals.whole(id);
    if (this.#sees(viewer, await this.#options.people.rightsOf(viewer), found)) return found;
    throw new RefusedRequest(404, "This approval does not exist");
  }

  /** Approvers see all calls of the config that wait, others the calls of their own programs. */
  #sees(viewer: PersonClaims, rights: Rights, { person, config }: PageApproval): boolean {
    const isOfConfig = config === configOwner(this.#options.app.config.origin);
    return isOfConfig && (person?.id === viewer.id || rights.mayApprove);
  }

  /** Throws RefusedRequest. */
  async #ownRecord(id: string, viewer: PersonClaims): Promise<ExecutionRecord> {
    const record = isId(id) ? await readRecord(this.#options.app.store, id) : undefined;
    if (record && (await this.#isOwn(id, viewer))) return record;
    throw new RefusedRequest(404, "This execution does not exist, or has no record");
  }

  async #isOwn(id: string, viewer: PersonClaims): Promise<boolean> {
    return (await this.#find(id))?.person?.id === viewer.id;
  }

  async #find(id: string): Promise<ListedExecution | undefined> {
    if (!isId(id)) return undefined;
    return this.#executions.find(id, [], await readRecord(this.#options.app.store, id));
  }

  async #cancel(id: string, viewer: PersonClaims): Promise<boolean> {
    const { app, openDoor, people } = this.#options;
    const { isAdministrator: mayEnd } = await people.rightsOf(viewer);
    const found = await this.#find(id);
    if (!found || !(mayEnd || found.person?.id === viewer.id))
      throw new RefusedRequest(404, "This execution does not exist");
    await using parts = found.door === undefined ? app.withOwnPool() : await openDoor(found.door);
    return await cancelFor(id, parts, "page", viewer);
  }

  /** The person that an administrator has chosen. Throws RefusedRequest. */
  async #chosen({ body }: RouteRequest, viewer: PersonClaims): Promise<StoredPerson> {
    await this.#requireAdministrator(viewer);
    const { id } = await body("people");
    // The body may have taken its time.
    await this.#requireAdministrator(viewer);
    return this.#personCalled(id);
  }

  /** Throws RefusedRequest. */
  async #personCalled(id: string | null): Promise<StoredPerson> {
    const person = (await this.#people()).find((each) => each.id === id);
    if (!person) throw new RefusedRequest(404, "Nobody with this id has signed in");
    return person;
  }

  async #requireAdministrator(viewer: PersonClaims): Promise<void> {
    const { isAdministrator } = await this.#options.people.rightsOf(viewer);
    if (!isAdministrator) throw new RefusedRequest(404, "The page has no such request");
  }

  async #people(): Promise<StoredPerson[]> {
    const { app } = this.#options;
    const config = configOwner(app.config.origin) ?? "";
    return app.store.people.list(config);
  }
}

function shownPerson({ id, issuer, name, doors, lastAt, revokedAt }: StoredPerson, viewer: PersonClaims): PagePerson {
  const isDeleted = issuer === "";
  return { id, name, doors, lastAt, isRevoked: revokedAt !== null, isDeleted, isViewer: id === viewer.id };
}

/** What an administrator may see of an execution of somebody else. */
function withoutContents(execution: PageExecution): PageExecution {
  const title = execution.calls === undefined ? "a program" : counted(execution.calls, "call");
  return { ...execution, title, tools: [], folder: undefined, program: undefined, isRecorded: false };
}
