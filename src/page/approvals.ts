/** Shows approvals on the page, and decides them. */

import { indentedJson } from "../base/json-object.ts";
import { hourMs } from "../base/units.ts";
import { oneLine } from "../base/visible-text.ts";
import type { Person } from "../config/oidc.ts";
import type { Approvals } from "../policy/approvals/approvals.ts";
import { approvalFacts } from "../programs/approvals/approval-facts.ts";
import type { ApprovalFacts } from "../programs/approvals/facts-shape.ts";
import type * as stored from "../store/approval.ts";
import type { Store } from "../store/store.ts";
import { runJob } from "../tools/work/run.ts";
import type { Body } from "./bodies.ts";
import { Cached, storeStamp } from "./cached.ts";
import type { Decided, PageApproval } from "./contract.ts";
import { inHome } from "./executions.ts";
import { RefusedRequest } from "./guard.ts";

/** Characters of the line of code of an approval. */
const maxApprovalCodeChars = 2_000;

/** Decided approvals on the page. */
const maxShownDecided = 10;

/** How long decided approvals stay on the page. */
const decidedShownMs = hourMs;

/** Longer arguments are indented in a worker. */
const maxIndentedInlineChars = 2_000;

/** Time for the worker to indent them. */
const indentingMs = 10_000;

/** `config` is null for the demo. */
export type Continued = (execution: string, config: string | null) => Promise<boolean>;

interface Listed {
  approvals: PageApproval[];
  decided: PageApproval[];
}

export class PageApprovals {
  /** Approvals for which a rule was written here, the oldest first. */
  readonly #withRules = new Set<string>();
  readonly #approvals: Approvals;
  readonly #store: Store;
  readonly #home: string;
  readonly #continued: Continued;
  readonly #listed = new Cached<Promise<Listed>>();

  /** `continued` continues an execution that no process runs, and says whether it runs now. */
  constructor(approvals: Approvals, store: Store, home: string, continued: Continued) {
    this.#approvals = approvals;
    this.#store = store;
    this.#home = home;
    this.#continued = continued;
  }

  /** The open approvals, and the recently decided ones. */
  async list(): Promise<Listed> {
    const now = this.#approvals.now();
    return this.#listed.get(await storeStamp(this.#store, now), () => this.#list(now));
  }

  async #list(now: number): Promise<Listed> {
    const open = await this.#approvals.open();
    const decided = await this.#approvals.decided(now - decidedShownMs, maxShownDecided);
    return { approvals: open.map((each) => shown(each)), decided: decided.map((each) => this.#withRule(shown(each))) };
  }

  /** Returns an approval. It has all arguments while it is open, and only their beginning afterwards. Throws if it does not exist. */
  async whole(id: string): Promise<PageApproval> {
    const row = await this.#find(id);
    const json = await this.#approvals.argumentsOf(id);
    const found = { ...shown(row), facts: await this.#factsOf(row, json) };
    if (json === undefined) return found;
    // Indenting makes deeply nested arguments much longer.
    const args =
      json.length > maxIndentedInlineChars ? await runJob({ work: "indented", json }, indentingMs) : indentedJson(json);
    return { ...found, args };
  }

  async #factsOf(row: stored.Approval, json: string | undefined): Promise<ApprovalFacts> {
    const facts = await approvalFacts(row, json, this.#approvals, this.#store);
    const { asker } = facts;
    const folder = asker?.folder === undefined ? {} : { folder: inHome(asker.folder, this.#home) };
    return { ...facts, ...(asker ? { asker: { ...asker, ...folder } } : {}) };
  }

  /** An open approval and what claudikins keeps of it. Throws if it was decided already. */
  async open(id: string): Promise<stored.Approval> {
    const row = await this.#find(id);
    if (row.state === "open") return row;
    throw decidedBefore(row);
  }

  /**
   * Decides an open approval. `person` is the person who decides, if that is not the user. Throws if it was decided already, or if its time
   * is over.
   */
  decide(id: string, body: Exclude<Body<"decision">, { mark: string }>, person?: Person): Promise<Decided> {
    return this.decideWith(id, () => this.#approvals.decide(id, storedDecision(body), person));
  }

  /** Remembers that a rule was written for the call, whose row says only that it was approved once. */
  noteRule(id: string): void {
    this.#withRules.add(id);
    const [oldest] = this.#withRules;
    if (this.#withRules.size > maxShownDecided && oldest !== undefined) this.#withRules.delete(oldest);
  }

  /** The decision has failed. */
  forgetRule(id: string): void {
    this.#withRules.delete(id);
  }

  #withRule(approval: PageApproval): PageApproval {
    return this.#withRules.has(approval.id) ? { ...approval, scope: "always" } : approval;
  }

  /** The same with a function that decides. */
  async decideWith(id: string, make: () => Promise<stored.Approval[]>): Promise<Decided> {
    const [decided] = await make();
    if (decided) {
      const isRunning =
        (await this.#approvals.isWaitedFor(decided)) || (await this.#continued(decided.execution, decided.config));
      return { execution: decided.execution, isRunning };
    }
    throw decidedBefore(await this.#find(id));
  }

  async #find(id: string): Promise<stored.Approval> {
    const found = await this.#approvals.get(id);
    if (found) return found;
    throw new RefusedRequest(404, "This approval does not exist");
  }
}

function storedDecision(body: Exclude<Body<"decision">, { mark: string }>): stored.Decision {
  const { decision } = body;
  if (!("reason" in body) && decision !== "deny" && decision !== "deny all")
    return { state: "approved", scope: decision, by: "page" };
  const reason = "reason" in body && body.reason !== undefined ? oneLine(body.reason) : undefined;
  return { state: "denied", by: "page", all: decision === "deny all", reason };
}

function decidedBefore(row: stored.Approval): RefusedRequest {
  return new RefusedRequest(409, `Nothing was changed: this approval ${stateWords(row)}`);
}

const places: Record<stored.DecisionPlace, string> = {
  agent: "in the agent",
  terminal: "at the terminal",
  page: "on a page",
  command: "with claudikins approvals",
};

/** The state of an approval, as the end of a sentence. */
function stateWords({ state, decidedBy }: stored.Approval): string {
  const by = decidedBy === null ? "" : ` ${places[decidedBy]}`;
  switch (state) {
    case "approved":
      return `was already approved${by}`;
    case "denied":
      return `was already denied${by}`;
    case "expired":
      return "has expired";
    case "withdrawn":
      return "is no longer needed";
    default:
      return "is still open";
  }
}

function shown(approval: stored.Approval): PageApproval {
  const { id, server, tool, why, changed, execution, line, code, config, door, askedAt, expiresAt } = approval;
  const { person, personName } = approval;
  return {
    id,
    server,
    tool,
    why,
    changed: changed ?? undefined,
    execution,
    line: line ?? undefined,
    code: code?.slice(0, maxApprovalCodeChars),
    args: approval.excerpt,
    argsChars: approval.argsChars,
    config,
    door: door ?? undefined,
    person: person === null ? undefined : { id: person, name: personName ?? person },
    askedAt,
    expiresAt,
    state: approval.state,
    scope: approval.scope ?? undefined,
    decidedAt: approval.decidedAt ?? undefined,
    decidedBy: approval.decidedBy ?? undefined,
    reason: approval.reason ?? undefined,
  };
}
