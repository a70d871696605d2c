/** What the page can ask and do, once a request has been accepted. */
import type { Approvals } from "../approvals/approvals.ts";
import type { CredentialStore } from "../clients/auth/credentials.ts";
import type { ConfigOrigin } from "../config/discover.ts";
import type { Environment } from "../config/environment.ts";
import { executionsFolder, storeFile } from "../config/locations.ts";
import { ClaudikinsError } from "../errors.ts";
import { changePolicy } from "../settings/change-policy.ts";
import type { Toolbox } from "../toolbox/toolbox.ts";
import { isId } from "../trace/id.ts";
import { pageOf } from "../trace/page/page.ts";
import { readRecord } from "../trace/store.ts";
import { type Continued, UiApprovals } from "./approvals.ts";
import type { State } from "./contract.ts";
import { RefusedRequest } from "./guard.ts";
import { bodyOf, decisionBody, type PolicyBody, pastedBody, policyBody, signInBody } from "./requests.ts";
import type { RunningServers } from "./servers.ts";
import { UiSignIns } from "./sign-ins.ts";
import { StateReader } from "./state.ts";
import { ToolViews } from "./tools.ts";

interface UiApiOptions {
  /** The page's own toolbox, and the approvals of all processes. The API disposes of both. */
  toolbox: Toolbox;
  approvals: Approvals;
  credentials: CredentialStore;
  env: Environment;
  /** Whether the user vouches for the config, trusted or not. */
  isAnswered: boolean;
  continued: Continued;
  /** What the daemon of the config knows of its servers. Undefined if none is running. */
  running(): Promise<RunningServers | undefined>;
}

export class UiApi {
  readonly #options: UiApiOptions;
  readonly #signIns = new UiSignIns();
  readonly #tools = new ToolViews();
  readonly #approvals: UiApprovals;
  readonly #state: StateReader;

  constructor(options: UiApiOptions) {
    this.#options = options;
    this.#approvals = new UiApprovals(options.approvals, storeFile(options.env), options.continued);
    this.#state = new StateReader({ ...options, approvals: this.#approvals, signIns: this.#signIns });
  }

  state(): Promise<State> {
    return this.#state.read();
  }

  /** The page of one recorded execution. Throws if there is none. */
  tracePage(id: string): string {
    const record = isId(id) ? readRecord(executionsFolder(this.#options.env), id) : undefined;
    if (!record) throw new RefusedRequest(404, "This execution is not recorded, or no longer");
    return pageOf(record);
  }

  /** Answers every other request. Throws RefusedRequest and errors of what it does. */
  async answer(route: string, request: Request, search: URLSearchParams): Promise<unknown> {
    const { toolbox, credentials } = this.#options;
    const [, approval] = /^(?:GET|POST) api\/approvals\/([0-9a-z]{1,40})$/.exec(route) ?? [];
    if (approval !== undefined) {
      if (request.method === "GET") return this.#approvals.whole(approval);
      const { decision } = await bodyOf(request, decisionBody);
      return this.#approvals.decide(approval, decision);
    }
    const [, execution] = /^POST api\/executions\/([0-9a-z]{1,40})\/cancel$/.exec(route) ?? [];
    if (execution !== undefined) return (await toolbox.executions()).cancel(execution, toolbox);
    switch (route) {
      case "GET api/tools":
        return this.#tools.of(search.get("server") ?? "", toolbox);
      case "POST api/policy": {
        const change = await bodyOf(request, policyBody);
        await this.#changePolicy(change);
        return this.#tools.of(change.server, toolbox);
      }
      case "POST api/sign-in":
        return this.#signIns.start((await bodyOf(request, signInBody)).server, toolbox, credentials);
      case "POST api/sign-in/address": {
        const { server, address } = await bodyOf(request, pastedBody);
        return this.#signIns.paste(server, address);
      }
      default:
        throw new RefusedRequest(404, "The page has no such request");
    }
  }

  async close(): Promise<void> {
    this.#signIns.close();
    await this.#options.toolbox[Symbol.asyncDispose]();
    await this.#options.approvals[Symbol.asyncDispose]();
  }

  async #changePolicy(change: PolicyBody): Promise<void> {
    const { toolbox, env, isAnswered } = this.#options;
    const { origin } = toolbox.config;
    const file = fileOf(origin);
    if ("confirm" in change && change.tool.includes("*")) {
      throw new RefusedRequest(400, 'The name contains "*", which stands for any text in the config');
    }
    this.#tools.touch(change.server, change.tool, toolbox);
    await changePolicy(change, { flag: file, cwd: "/", env }, { isAnswered, place: "page" });
    await toolbox.reload?.refresh();
  }
}

function fileOf(origin: ConfigOrigin): string {
  if (origin.kind !== "demo") return origin.file;
  throw new ClaudikinsError("CONFIG_NOT_FOUND", "The demo has no config file to write to", {
    hint: "Make a config with claudikins add or claudikins init.",
  });
}
