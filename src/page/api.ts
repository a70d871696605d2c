/**
 * Answers the page's requests once they have been accepted. The data comes from files and from the running daemon, so several pages show
 * the same.
 */

import type { App } from "../app/app.ts";
import { version } from "../base/version.ts";
import type { ConfigOrigin } from "../config/discover.ts";
import type { Environment } from "../config/environment.ts";
import { type Config, ownServersOf } from "../config/load.ts";
import { homeOf } from "../config/locations.ts";
import { recordedContents } from "../programs/comparing/contents.ts";
import { isId } from "../programs/trace/id.ts";
import { readRecord } from "../programs/trace/store.ts";
import { alwaysAllow, lastingRule } from "../setup/settings/always-allow.ts";
import type { ChangedText } from "../setup/settings/policy-changes.ts";
import type { Approval } from "../store/approval.ts";
import { activityIn, recordedCalls } from "./activity.ts";
import type { PageAbout, PageActivity, PageComparison } from "./activity-contract.ts";
import { PageApprovals } from "./approvals.ts";
import type { Body, BodyName } from "./bodies.ts";
import { callsIn, readCalls } from "./calls.ts";
import { comparablesOf, comparedIn, comparisonOf } from "./comparing.ts";
import type { Decided, PageLastingRule, PageRules, PageState } from "./contract.ts";
import { EntryOnPage } from "./entry.ts";
import { tracePageOf } from "./execution/off-thread.ts";
import { ExecutionsReader, inHome } from "./executions.ts";
import { daysIn, readFigures } from "./figures.ts";
import { FirstVisit, firstProgram } from "./first-visit.ts";
import { RefusedRequest } from "./guard.ts";
import { HeldOnPage } from "./held.ts";
import type { PageParts } from "./parts.ts";
import { ProgramActions } from "./program-actions.ts";
import { driftOnPage, ProgramsReader } from "./programs.ts";
import { noFile, RuleChanges } from "./rules.ts";
import type { RouteRequest, Routes } from "./server.ts";
import { ServerActions } from "./server-actions.ts";
import { catalogOf, serversOf, ToolViews } from "./servers.ts";
import type { PageUndo } from "./servers-contract.ts";
import { ServerSignIns } from "./sign-ins.ts";
import { SystemView } from "./system.ts";
import { ToolStates } from "./tool-states.ts";
import { ToolTable } from "./tool-table.ts";
import { UndoneChanges } from "./undone-changes.ts";

export class PageApi {
  readonly #options: PageParts;
  readonly #signIns = new ServerSignIns();
  readonly #tools = new ToolViews();
  readonly #approvals: PageApprovals;
  readonly #executions: ExecutionsReader;
  readonly #programs: ProgramsReader;
  readonly #actions: ProgramActions;
  readonly #held: HeldOnPage;
  readonly #servers: ServerActions;
  readonly #first: FirstVisit;
  readonly #rules: RuleChanges;
  readonly #table: ToolTable;
  readonly #states: ToolStates;
  readonly #undone: UndoneChanges;
  readonly #entry: EntryOnPage;
  readonly #system: SystemView;
  readonly routes: Routes;

  constructor(options: PageParts) {
    const { app, approvals, continued, env } = options;
    this.#options = options;
    this.#approvals = new PageApprovals(approvals, app.store, homeOf(env), continued);
    this.#executions = new ExecutionsReader(app);
    this.#programs = new ProgramsReader(app, env);
    this.#actions = new ProgramActions(options);
    this.#held = new HeldOnPage(options);
    this.#first = new FirstVisit(options);
    this.#table = new ToolTable(app, this.#tools, options.openDoor);
    this.#rules = new RuleChanges({ ...options, toolTable: this.#table });
    this.#undone = new UndoneChanges(options);
    this.#servers = new ServerActions({ ...options, undone: this.#undone });
    this.#states = new ToolStates({ ...options, undone: this.#undone }, this.#tools);
    this.#entry = new EntryOnPage({ ...options, undone: this.#undone });
    this.#system = new SystemView(options);
    this.routes = this.#routes();
  }

  async state(): Promise<PageState> {
    const { app, credentials, running, env } = this.#options;
    await app.reload?.refresh();
    const { origin } = app.config;
    const listed = await this.#approvals.list();
    const executions = await this.#executions.read(listed.approvals);
    const servers = serversOf(app, credentials, await running(), {
      signInOf: (server) => this.#signIns.of(server),
      held: this.#held.names(),
    });
    return {
      version,
      config: origin.kind === "demo" ? null : origin.file,
      configText: configText(app.config, env),
      problem: app.reload?.problem,
      ...listed,
      executions: executions.shown,
      servers,
      ...this.#programs.read(executions),
      rulesMark: this.#rules.mark(),
    };
  }

  /** The page of one recorded execution. Throws if there is none. */
  async tracePage(id: string): Promise<string> {
    const page = isId(id) ? await tracePageOf(this.#options.app.store, id) : undefined;
    if (page === undefined) throw new RefusedRequest(404, "This execution has no record, or its record was deleted");
    return page;
  }

  /** The page's requests, by method and path. */
  #routes(): Routes {
    const { app, credentials, background } = this.#options;
    const [tools, held, rules, actions] = [this.#tools, this.#held, this.#rules, this.#actions];
    const [servers, system] = [this.#servers, this.#system];
    /** A change of the rules is answered with the rules. */
    const rulesAfter =
      <Name extends BodyName>(name: Name, change: (body: Body<Name>) => Promise<ChangedText | undefined>) =>
      async ({ body }: RouteRequest): Promise<PageRules & PageUndo> => {
        const changed = await change(await body(name));
        await app.reload?.refresh();
        return { ...(await rules.read()), undo: this.#undone.keep(changed) };
      };
    const doorIn = ({ search }: RouteRequest) => search.get("door") ?? undefined;
    const serverIn = ({ search }: RouteRequest) => search.get("server") ?? "";
    return {
      "GET api/approvals/*": ({ id }) => this.#approvals.whole(id),
      "GET api/approvals/*/rule": async ({ id }) => {
        const { file, changes, mark } = await lastingRule(...this.#lasting(await this.#approvals.open(id)));
        return { file, changes, mark } satisfies PageLastingRule;
      },
      "POST api/approvals/*": async ({ id, body }) => this.#decide(id, await body("decision")),
      "POST api/executions/*/cancel": async ({ id, body }) => actions.cancel({ id, ...(await body("cancel")) }),
      "GET api/activity": (call) => this.#activity(call),
      "GET api/calls": ({ search }) => readCalls(callsIn(search), { config: ownConfig(app) }, app.store),
      "GET api/executions/*/about": (call) => this.#about(call.id),
      "GET api/executions/*/comparable": async ({ id }) =>
        comparablesOf((await this.#recorded(id)).record, app.store, this.#executions),
      "GET api/executions/*/compare": async ({ id, search }) => this.#compare(id, comparedIn(search, id)),
      "POST api/executions/*/again": async ({ id, body }) => actions.again({ id, ...(await body("again")) }),
      "GET api/executions/*/outcome": (call) => actions.outcome({ id: call.id, door: doorIn(call) }),
      "GET api/executions/*/image": (call) =>
        actions.image({ id: call.id, door: doorIn(call), place: Number(call.search.get("place")) }),
      "GET api/executions/*/source": (call) => this.#source(call.id),
      "POST api/editor/run": async ({ body }) => actions.write(await body("editorRun")),
      "POST api/editor/check": async ({ body }) => actions.check(await body("editorCheck")),
      "GET api/editor/servers": (call) => actions.editor({ door: doorIn(call) }),
      "POST api/editor/tools": async ({ body }) => actions.editorTools(await body("editorTools")),
      "GET api/executions/*/code": (call) => actions.executed({ id: call.id, door: doorIn(call) }),
      "GET api/tools": (call) => tools.of(serverIn(call), app),
      "GET api/held": (call) => held.of(serverIn(call)),
      "POST api/held": async ({ body }) => {
        const { server, tools: marks } = await body("held");
        return held.accept(server, marks);
      },
      "POST api/servers/check": async ({ body }) => servers.check((await body("server")).server),
      "POST api/servers/restart": async ({ body }) => {
        const { server } = await body("server");
        const restarted = await background.restart(server);
        if (app.catalog.held(server)) await held.listAgain(server);
        return restarted;
      },
      "GET api/servers/log": (call) => servers.log(serverIn(call)),
      "POST api/servers/switch": async ({ body }) => {
        const { server, isOn } = await body("switch");
        return servers.switch(server, isOn);
      },
      "POST api/servers/remove": async ({ body }) => servers.remove((await body("server")).server),
      "GET api/servers/entry": (call) => this.#entry.read(serverIn(call)),
      "POST api/servers/edit": async ({ body }) => this.#entry.change(await body("entry")),
      "GET api/servers/catalog": () => catalogOf(),
      "POST api/servers/add": async ({ body }) => servers.add(await body("newServer")),
      "GET api/first/demo": () => ({ code: firstProgram }),
      "POST api/first/demo": async ({ body }) => {
        await body("empty");
        return this.#first.demo();
      },
      "GET api/first/import": () => this.#first.preview(),
      "POST api/first/import": async ({ body }) => this.#first.import(await body("import")),
      "GET api/policy/tools": (call) => this.#table.read(doorIn(call)),
      "GET api/policy/tool": (call) => this.#table.one(serverIn(call), call.search.get("tool") ?? ""),
      "GET api/policy/uses": (call) => this.#table.uses(doorIn(call)),
      "GET api/policy/search": (call) => this.#table.search(call.search.get("query") ?? "", doorIn(call)),
      "POST api/policy/preview": async ({ body }) => this.#states.preview(await body("states")),
      "POST api/policy/states": async ({ body }) => this.#states.set(await body("states")),
      "POST api/policy/undo": async ({ body }) => this.#undone.undo((await body("undo")).undo),
      "POST api/sign-in": async ({ body }) => this.#signIns.start((await body("server")).server, app, credentials),
      "POST api/sign-in/address": async ({ body }) => {
        const { server, address } = await body("pasted");
        return this.#signIns.paste(server, address);
      },
      "GET api/figures": ({ search }) => readFigures(daysIn(search), app.store),
      "GET api/version": () => system.version(),
      "POST api/version/check": async ({ body }) => {
        await body("empty");
        return system.checkVersion();
      },
      "GET api/daemons": () => system.daemons(),
      "POST api/daemons/stop": async ({ body }) => {
        const { pid, now } = await body("stop");
        return this.#options.daemons.stop(pid, now);
      },
      "GET api/secrets": () => system.secrets(),
      "POST api/secrets/set": async ({ body }) => system.setSecret(await body("secret")),
      "POST api/secrets/remove": async ({ body }) => system.removeSecret((await body("secretName")).name),
      "GET api/audit": ({ search }) => system.audit(search),
      "GET api/audit/verify": ({ search }) => system.verifyAudit(search),
      "GET api/rules": () => rules.read(),
      "POST api/rules": rulesAfter("rule", (change) => rules.rule(change)),
      "POST api/rules/doors": rulesAfter("door", (door) => rules.addDoor(door)),
      "POST api/rules/doors/remove": rulesAfter("named", ({ name }) => rules.removeDoor(name)),
      "POST api/rules/labels": rulesAfter("label", (label) => rules.label(label)),
      "POST api/rules/edits": rulesAfter("edit", (edit) => rules.edit(edit)),
      "GET api/programs/code": (call) => actions.code({ name: call.search.get("name") ?? "", door: doorIn(call) }),
      "GET api/programs/drift": () => driftOnPage(app, this.#options.env),
      "POST api/programs/accept": async ({ body }) => actions.accept(await body("accept")),
      "GET api/programs/about": (call) => actions.about({ name: call.search.get("name") ?? "", door: doorIn(call) }),
      "POST api/programs/test": async ({ body }) => actions.test(await body("named")),
      "POST api/programs/record": async ({ body }) => actions.record(await body("record")),
      "POST api/programs/on": async ({ body }) => actions.startOn(await body("on")),
      "POST api/programs/notify": async ({ body }) => actions.notify(await body("notify")),
      "POST api/programs/off": async ({ body }) => actions.off(await body("named")),
      "POST api/programs/retry": async ({ body }) => actions.retry(await body("retry")),
      "POST api/programs/run": async ({ body }) => actions.run(await body("run")),
      "POST api/programs/schedule": async ({ body }) => actions.schedule(await body("schedule")),
      "POST api/programs/unschedule": async ({ body }) => actions.unschedule(await body("named")),
      "POST api/programs/remove": async ({ body }) => actions.remove(await body("named")),
      "POST api/programs/preview": async ({ body }) => actions.preview(await body("preview")),
      "POST api/programs/save": async ({ body }) => actions.save(await body("save")),
    };
  }

  async #decide(id: string, body: Body<"decision">): Promise<Decided> {
    if (body.decision !== "always") return this.#approvals.decide(id, body);
    const row = await this.#approvals.open(id);
    const [, options] = this.#lasting(row);
    // Pages hear of the decision at once.
    this.#approvals.noteRule(id);
    const decided = await this.#approvals
      .decideWith(id, () => alwaysAllow(row, body.mark, this.#options.approvals, options))
      .catch((error: unknown) => {
        this.#approvals.forgetRule(id);
        throw error;
      });
    await this.#options.app.reload?.refresh();
    return decided;
  }

  /** Throws RefusedRequest for an approval of another config. */
  #lasting(row: Approval) {
    const { app, env, isAnswered } = this.#options;
    if (row.config !== (ownConfig(app) ?? null)) {
      throw new RefusedRequest(409, "The call is of another config, and this page changes only its own");
    }
    const which = { flag: this.#fileOf(row.server), cwd: "/", env };
    return [row, { which, place: "page", isAnswered }] as const;
  }

  async #activity({ search }: RouteRequest): Promise<PageActivity> {
    const { filter, asked } = activityIn(search);
    return this.#executions.activity(filter, asked, (await this.#approvals.list()).approvals);
  }

  /** Throws RefusedRequest. */
  async #found(id: string) {
    const { approvals } = await this.#approvals.list();
    const record = isId(id) ? await readRecord(this.#options.app.store, id) : undefined;
    const found = await this.#executions.find(id, approvals, record);
    if (!found) throw new RefusedRequest(404, "This execution is not stored, or was deleted");
    return { found, record };
  }

  /** The code of an execution, for the editor. Throws RefusedRequest. */
  async #source(id: string): Promise<{ code: string; door?: string | undefined }> {
    const { person, door } = (await this.#found(id)).found;
    if (person) throw new RefusedRequest(409, "It ran for a person, so its code is run for that person only");
    return { ...(await this.#actions.source({ id, door })), door };
  }

  async #about(id: string): Promise<PageAbout> {
    const { found, record } = await this.#found(id);
    const { door, person, state } = found;
    const calls = found.summary && record ? recordedCalls(record) : await this.#actions.callsSoFar({ id, door });
    // The code of a person's program is run for that person only.
    const again = person
      ? { canRunAgain: false, notAgain: "It ran for a person" }
      : await this.#actions.howAgain({ id, door });
    const execution = this.#executions.shown(found, [found]);
    return { execution, ...calls, ...(state.state === "lost" ? { failure: state.why } : {}), ...again };
  }

  /** Throws RefusedRequest for an execution that has no record. */
  async #recorded(id: string) {
    const { found, record } = await this.#found(id);
    if (record) return { found, record };
    throw new RefusedRequest(409, "This execution has no record", "An execution is recorded when it has ended.");
  }

  async #compare(id: string, other: string): Promise<PageComparison> {
    const contentsOf = async (each: string) => {
      const { found, record } = await this.#recorded(each);
      return found.person ? recordedContents(record) : this.#actions.contents(record);
    };
    return comparisonOf(await contentsOf(id), await contentsOf(other), this.#executions);
  }

  async close(): Promise<void> {
    this.#signIns.close();
    await this.#options.app[Symbol.asyncDispose]();
    await this.#options.approvals[Symbol.asyncDispose]();
  }

  /** The file that has the entry of a server. Throws for the demo. */
  #fileOf(server: string): string {
    const { origin, extended, servers } = this.#options.app.config;
    return extended && servers.get(server)?.own ? extended.file : fileOf(origin);
  }
}

function configText(config: Config, env: Environment): string {
  const { origin, extended } = config;
  if (origin.kind === "demo") return "the built-in demo";
  const own = extended && ownServersOf(config).length > 0 ? [extended.file] : [];
  return [origin.file, ...own].map((file) => inHome(file, homeOf(env))).join(" and ");
}

/** Undefined for the demo, whose calls are of no config. */
function ownConfig({ config: { origin } }: App): string | undefined {
  return origin.kind === "demo" ? undefined : origin.file;
}

function fileOf(origin: ConfigOrigin): string {
  if (origin.kind !== "demo") return origin.file;
  throw noFile();
}
