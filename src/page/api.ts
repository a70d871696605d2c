/**
 * What the page can ask and do, once a request has been accepted. What it shows comes from files and from the running daemon, so several
 * pages see the same.
 */

import type { App } from "../app/app.ts";
import { version } from "../base/version.ts";
import type { ConfigOrigin } from "../config/discover.ts";
import type { Environment } from "../config/environment.ts";
import { type Config, ownServersOf } from "../config/load.ts";
import { homeOf } from "../config/locations.ts";
import type { Approvals } from "../policy/approvals/approvals.ts";
import { isId } from "../programs/trace/id.ts";
import type { CredentialStore } from "../servers/auth/credentials.ts";
import { changePolicy } from "../setup/settings/change-policy.ts";
import { type Continued, PageApprovals } from "./approvals.ts";
import type { PageState } from "./contract.ts";
import { tracePageOf } from "./execution/off-thread.ts";
import { ExecutionsReader } from "./executions.ts";
import {
  cancelBody,
  decisionBody,
  doorBody,
  editBody,
  heldBody,
  jsonBody,
  labelBody,
  namedBody,
  type PolicyBody,
  pastedBody,
  policyBody,
  previewBody,
  RefusedRequest,
  ruleBody,
  runBody,
  saveBody,
  scheduleBody,
  signInBody,
} from "./guard.ts";
import { HeldOnPage } from "./held.ts";
import { type Background, ProgramActions } from "./program-actions.ts";
import { ProgramsReader } from "./programs.ts";
import { noFile, RuleChanges } from "./rules.ts";
import { SavingsReader } from "./savings.ts";
import { type RunningServers, serversOf, ToolViews } from "./servers.ts";
import { ServerSignIns } from "./sign-ins.ts";

const unknownRequest = "The page has no such request";

interface PageApiOptions {
  /** The page's own app, which starts no programs, and the approvals of all processes. The API disposes of both. */
  app: App;
  approvals: Approvals;
  credentials: CredentialStore;
  env: Environment;
  /** Whether the user vouches for the config, trusted or not. */
  isAnswered: boolean;
  continued: Continued;
  /** Opens the part of the config that is behind a door. Throws DOOR_NOT_FOUND. */
  openDoor(door: string): Promise<App>;
  background: Background;
  /** What the daemon of the config knows of its servers. Undefined if none is running. */
  running(): Promise<RunningServers | undefined>;
}

export class PageApi {
  readonly #options: PageApiOptions;
  readonly #signIns = new ServerSignIns();
  readonly #tools = new ToolViews();
  readonly #approvals: PageApprovals;
  readonly #executions: ExecutionsReader;
  readonly #programs: ProgramsReader;
  readonly #actions: ProgramActions;
  readonly #held: HeldOnPage;
  readonly #rules: RuleChanges;
  readonly #savings: SavingsReader;

  constructor(options: PageApiOptions) {
    const { app, approvals, continued, env } = options;
    this.#options = options;
    this.#approvals = new PageApprovals(approvals, app.store, continued);
    this.#executions = new ExecutionsReader(app);
    this.#programs = new ProgramsReader(app, env);
    this.#actions = new ProgramActions(options);
    this.#held = new HeldOnPage(app, env);
    this.#rules = new RuleChanges(options);
    this.#savings = new SavingsReader(app.store);
  }

  async state(): Promise<PageState> {
    const { app, credentials, running, env } = this.#options;
    await app.reload?.refresh();
    const { origin } = app.config;
    const listed = await this.#approvals.list();
    const executions = await this.#executions.read(listed.approvals);
    const servers = serversOf(app, credentials, await running(), {
      signInOf: (server) => this.#signIns.of(server),
      held: this.#held.counts(),
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
      savings: await this.#savings.read(),
      rulesMark: this.#rules.mark(),
    };
  }

  /** The page of one recorded execution. Throws if there is none. */
  async tracePage(id: string): Promise<string> {
    const page = isId(id) ? await tracePageOf(this.#options.app.store, id) : undefined;
    if (page === undefined) throw new RefusedRequest(404, "This execution is not recorded, or no longer");
    return page;
  }

  /** Answers every other request. Throws RefusedRequest and errors of what it does. */
  async answer(route: string, request: Request, search: URLSearchParams): Promise<unknown> {
    const { app, credentials } = this.#options;
    const [, approval] = /^(?:GET|POST) api\/approvals\/([0-9a-z]{1,40})$/.exec(route) ?? [];
    if (approval !== undefined) {
      if (request.method === "GET") return this.#approvals.whole(approval);
      const { decision } = await jsonBody(request, decisionBody);
      return this.#approvals.decide(approval, decision);
    }
    const [, execution, wanted] = /^(?:GET|POST) api\/executions\/([0-9a-z-]{1,60})\/([a-z]+)$/.exec(route) ?? [];
    if (execution !== undefined) return this.#ofExecution(`${request.method} ${wanted}`, execution, request, search);
    if (route.includes(" api/rules")) return this.#ofRules(route, request);
    if (route.includes(" api/programs/")) return this.#ofPrograms(route, request, search);
    switch (route) {
      case "GET api/tools":
        return this.#tools.of(search.get("server") ?? "", app);
      case "GET api/held":
        return this.#held.of(search.get("server") ?? "");
      case "POST api/held": {
        const { server, tools } = await jsonBody(request, heldBody);
        return this.#held.accept(server, tools);
      }
      case "POST api/policy": {
        const change = await jsonBody(request, policyBody);
        await this.#changePolicy(change);
        return this.#tools.of(change.server, app);
      }
      case "POST api/sign-in":
        return this.#signIns.start((await jsonBody(request, signInBody)).server, app, credentials);
      case "POST api/sign-in/address": {
        const { server, address } = await jsonBody(request, pastedBody);
        return this.#signIns.paste(server, address);
      }
      default:
        throw new RefusedRequest(404, unknownRequest);
    }
  }

  async #ofExecution(route: string, id: string, request: Request, search: URLSearchParams): Promise<unknown> {
    const door = search.get("door") ?? undefined;
    switch (route) {
      case "POST cancel":
        return this.#actions.cancel({ id, ...(await jsonBody(request, cancelBody)) });
      case "GET outcome":
        return this.#actions.outcome({ id, door });
      case "GET code":
        return this.#actions.executed({ id, door });
      default:
        throw new RefusedRequest(404, unknownRequest);
    }
  }

  async #ofRules(route: string, request: Request): Promise<unknown> {
    const rules = this.#rules;
    const changes: Record<string, () => Promise<void>> = {
      "POST api/rules": async () => rules.rule(await jsonBody(request, ruleBody)),
      "POST api/rules/doors": async () => rules.addDoor(await jsonBody(request, doorBody)),
      "POST api/rules/doors/remove": async () => rules.removeDoor((await jsonBody(request, namedBody)).name),
      "POST api/rules/labels": async () => rules.label(await jsonBody(request, labelBody)),
      "POST api/rules/edits": async () => rules.edit(await jsonBody(request, editBody)),
    };
    if (Object.hasOwn(changes, route)) {
      await changes[route]!();
      await this.#options.app.reload?.refresh();
    } else if (route !== "GET api/rules") throw new RefusedRequest(404, unknownRequest);
    return rules.read();
  }

  async #ofPrograms(route: string, request: Request, search: URLSearchParams): Promise<unknown> {
    switch (route) {
      case "GET api/programs/code":
        return this.#actions.code({ name: search.get("name") ?? "", door: search.get("door") ?? undefined });
      case "POST api/programs/run":
        return this.#actions.run(await jsonBody(request, runBody));
      case "POST api/programs/schedule":
        return this.#actions.schedule(await jsonBody(request, scheduleBody));
      case "POST api/programs/unschedule":
        return this.#actions.unschedule(await jsonBody(request, namedBody));
      case "POST api/programs/remove":
        return this.#actions.remove(await jsonBody(request, namedBody));
      case "POST api/programs/preview":
        return this.#actions.preview(await jsonBody(request, previewBody));
      case "POST api/programs/save":
        return this.#actions.save(await jsonBody(request, saveBody));
      default:
        throw new RefusedRequest(404, unknownRequest);
    }
  }

  async close(): Promise<void> {
    this.#signIns.close();
    await this.#options.app[Symbol.asyncDispose]();
    await this.#options.approvals[Symbol.asyncDispose]();
  }

  async #changePolicy(change: PolicyBody): Promise<void> {
    const { app, env, isAnswered } = this.#options;
    const { origin, extended, servers } = app.config;
    const file = extended && servers.get(change.server)?.own ? extended.file : fileOf(origin);
    if ("confirm" in change && change.tool.includes("*")) {
      throw new RefusedRequest(400, 'The name contains "*", which stands for any text in the config');
    }
    this.#tools.touch(change.server, change.tool, app);
    await changePolicy(change, { flag: file, cwd: "/", env }, { isAnswered, place: "page" });
    await app.reload?.refresh();
  }
}

function configText(config: Config, env: Environment): string {
  const { origin, extended } = config;
  if (origin.kind === "demo") return "the built-in demo";
  const own = extended && ownServersOf(config).length > 0 ? [extended.file] : [];
  return [origin.file, ...own].map((file) => inHome(file, env)).join(" and ");
}

function fileOf(origin: ConfigOrigin): string {
  if (origin.kind !== "demo") return origin.file;
  throw noFile();
}

function inHome(file: string, env: Environment): string {
  const home = homeOf(env);
  return home !== "/" && file.startsWith(`${home}/`) ? `~${file.slice(home.length)}` : file;
}
