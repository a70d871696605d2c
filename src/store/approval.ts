/** Approvals: the calls, the decisions that a person can make about them, their limits, and what the audit log says. */

import { ClaudikinsError } from "../base/errors.ts";
import { parseExact } from "../base/exact-json.ts";
import type { AuditEvent, Decider } from "./audit/event.ts";

/** Characters of an excerpt of a call's arguments. */
export const maxExcerptChars = 2_000;

/**
 * `open` waits for a decision. `withdrawn`: no decision is needed any more, or what was asked about has changed since. A row leaves
 * `open` once, and only an approved one can be withdrawn later.
 */
type ApprovalState = "open" | "approved" | "denied" | "expired" | "withdrawn";

/** Characters of the reason of a denial. */
export const maxReasonChars = 500;

/** Whether an approval counts for the call alone, or for the tool until the program or the session ends. */
export const approvalScopes = ["once", "program", "session"] as const;
export type ApprovalScope = (typeof approvalScopes)[number];

/** Where a decision was made: in the agent, at the terminal of the program, on the local page, or with `claudikins approvals`. */
export type DecisionPlace = "agent" | "terminal" | "page" | "command";

/** Such as ` for the session`. Empty for the call alone, and without an approval. */
export function scopeText(scope: string | null | undefined): string {
  return scope === "program" || scope === "session" ? ` for the ${scope}` : "";
}

/** A call that needs a person's permission. */
export interface Approval {
  id: string;
  /** The config file; null for the demo. */
  config: string | null;
  /** The door of the config behind which the execution runs. Null without one. */
  door: string | null;
  /** The id and the name of the person for whom the execution runs. Null unless the person has signed in to `serve --http`. */
  person: string | null;
  personName: string | null;
  execution: string;
  /** The number of the call in its execution. */
  call: number;
  /** The process that waits for it, see `Store.takeOwner`. */
  owner: string;
  /** The line of the code that makes the call: its number and its text. */
  line: number | null;
  code: string | null;
  server: string;
  /** The tool's original name. */
  tool: string;
  /** The beginning of the arguments as indented JSON, without the secrets of the config. */
  excerpt: string;
  /** The length of the whole indented JSON. If `excerpt` has it, it is whole. */
  argsChars: number;
  /** Bytes of the JSON without indents. */
  argsBytes: number;
  /** The end of "You are asked because …". */
  why: string;
  /** The same for the agent, without data. */
  told: string;
  /** The parts that have changed since an earlier permission. Null if there was none. */
  changed: string[] | null;
  /** Digests of everything that the approval is bound to, by names that a person understands. */
  bound: Record<string, string>;
  state: ApprovalState;
  /** Null unless approved. */
  scope: ApprovalScope | null;
  /** Milliseconds since 1970. */
  askedAt: number;
  expiresAt: number;
  /** When the row left `open`. */
  decidedAt: number | null;
  /** Null unless a person decided. */
  decidedBy: DecisionPlace | null;
  /** Why a person denied it, for the program. Null without a reason. */
  reason: string | null;
}

type Derived = "id" | "state" | "scope" | "decidedAt" | "decidedBy" | "reason" | "excerpt" | "argsChars" | "argsBytes";

/** An approval that is about to be asked for. */
export interface Asking extends Omit<Approval, Derived> {
  /** All arguments as JSON, without the secrets of the config. They are kept as long as the row is open. */
  args: string;
}

/**
 * A person's decision. A no counts for the tool until the execution ends, so that a loop cannot ask again and again; `all` extends it
 * to everything that the execution asks.
 */
export type Decision =
  | { state: "approved"; scope: ApprovalScope; by: DecisionPlace }
  | { state: "denied"; by: DecisionPlace; all?: boolean | undefined; reason?: string | undefined };

export interface ApprovalFilter {
  state?: ApprovalState | undefined;
  /** Null for the demo. */
  config?: string | null | undefined;
  /** An execution, with the saved programs that it runs. */
  execution?: string | undefined;
}

/** Without letters that are easily confused. */
const letters = "0123456789abcdefghjkmnpqrstvwxyz";
const idLetters = 8;

/** A short id that a person can type. */
function newApprovalId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(idLetters)), (byte) => letters[byte % 32]).join("");
}

/** Whether the excerpt has all arguments. */
export function hasWhole({ excerpt, argsChars }: Pick<Approval, "excerpt" | "argsChars">): boolean {
  return excerpt.length === argsChars;
}

/** The ids of the saved programs that an execution runs begin with its own, see `idWithin`. */
export function isOfExecution(id: string, execution: string): boolean {
  return id === execution || id.startsWith(`${execution}-`);
}

type New = Omit<Asking, "args"> & Pick<Approval, "id" | "excerpt" | "argsChars" | "argsBytes">;

/** The fields of a new row. */
export function newApproval({ args, ...rest }: Asking): New {
  const indented = JSON.stringify(parseExact(args), null, 2);
  return {
    ...rest,
    id: newApprovalId(),
    excerpt: indented.slice(0, maxExcerptChars),
    argsChars: indented.length,
    argsBytes: Buffer.byteLength(args),
  };
}

/** The same for all configs together. */
const maxOpenOfAll = { rows: 2_000, bytes: 256_000_000 };

/** Open approvals of one config, and the bytes of their arguments. */
const maxOpenOfConfig = { rows: 500, bytes: 64_000_000 };

/** Open rows, and the bytes of their arguments. */
export interface OpenSum {
  rows: number;
  bytes: number;
}

/** Throws POLICY_DENIED if an open row with `bytes` of arguments is too much. `tool` names its tool. */
export function requireRoom(open: { ofConfig: OpenSum; ofAll: OpenSum }, bytes: number, tool: string): void {
  const full = fullness(open, bytes);
  if (full === undefined) return;
  throw new ClaudikinsError("POLICY_DENIED", `${tool} was not called: ${full}`, {
    hint: "Decide about these first: claudikins approvals --all",
  });
}

/** What prevents another open row, such as `500 calls already wait for approval`. */
function fullness({ ofConfig, ofAll }: Parameters<typeof requireRoom>[0], bytes: number): string | undefined {
  const places = [
    [ofConfig, maxOpenOfConfig],
    [ofAll, maxOpenOfAll],
  ] as const;
  for (const [open, limit] of places) {
    if (open.rows >= limit.rows) return `${limit.rows.toLocaleString("en")} calls already wait for approval`;
    if (open.bytes + bytes > limit.bytes) {
      return `the calls that already wait for approval have ${Math.round(open.bytes / 1_000_000)} MB of arguments, and ${limit.bytes / 1_000_000} MB is the limit`;
    }
  }
  return undefined;
}

/** The name of the digest of the arguments. */
export const argumentsPart = "the values of its arguments";

export function argumentsDigest(bound: Readonly<Record<string, string>>): string {
  return bound[argumentsPart] ?? "";
}

/** An event for each row that is not open. */
export function eventsOf(rows: readonly Approval[]): AuditEvent[] {
  return rows.flatMap((row) => {
    const { state, scope } = row;
    return state === "open" ? [] : [{ decision: state, ...aboutRow(row), ...(scope ? { scope } : {}) }];
  });
}

function aboutRow({
  id,
  config,
  door,
  person,
  personName,
  execution,
  call,
  line,
  server,
  tool,
  argsBytes,
  bound,
}: Approval): Omit<AuditEvent, "decision"> {
  return {
    approval: id,
    ...(config === null ? {} : { config }),
    ...(door === null ? {} : { door }),
    ...(person === null ? {} : { person: { id: person, name: personName ?? person } }),
    execution,
    call,
    ...(line === null ? {} : { line }),
    server,
    tool,
    arguments: { sha256: argumentsDigest(bound), bytes: argsBytes },
  };
}

/** A call whose earlier calls are looked for. */
export type ApprovedBefore = Pick<Approval, "config" | "door" | "person" | "server" | "tool" | "decidedAt">;

export type ApprovalChange =
  /**
   * Writes an open row. Throws POLICY_DENIED if too much is open, see `requireRoom`; `tool` names the tool in this error. Also removes what
   * `prune` removes.
   */
  | { type: "ask"; asking: Asking; tool: string }
  /**
   * Decides an open row whose time is not over. A denial also decides the other open rows of the tool in the same execution, or with `all`
   * everything that the execution itself asks. The row with the id is the first of the changed rows; there are none if it was not decided.
   */
  | { type: "decide"; id: string; decision: Decision }
  /** Withdraws open and approved rows. */
  | { type: "withdraw"; ids: readonly string[] }
  /** Marks the open rows whose time is over. */
  | { type: "expire" }
  /** The process `owner` waits for the row from now on. No row counts as changed. */
  | { type: "adopt"; id: string; owner: string }
  /**
   * Removes rows that were decided more than `approvalKeptDays` ago, and beyond the `maxDecidedApprovals` of each config those that were
   * decided first. No row counts as changed.
   */
  | { type: "prune" }
  /** Removes rows that are not open. No row counts as changed. */
  | { type: "remove"; ids: readonly string[] }
  /** Only adds the event to the audit log. */
  | { type: "note"; event: AuditEvent };

/** Reads return rows as they are stored, even if their time is over and nothing has marked them yet. */
export interface ApprovalRows {
  get(id: string): Promise<Approval | undefined>;
  /** All arguments of an open row, as JSON. Undefined if the row is not open: they are deleted with the decision. */
  argumentsOf(id: string): Promise<string | undefined>;
  /** The oldest first. */
  list(filter?: ApprovalFilter): Promise<Approval[]>;
  /** The newest rows that were decided or expired after a time, at most `count`, newest first. */
  decided(after: number, count: number): Promise<Approval[]>;
  /** Whether a call of the execution is open, or of a saved program that it runs. It is asked for often. */
  isWaiting(execution: string): Promise<boolean>;
  /** The ids whose rows are open. */
  openAmong(ids: readonly string[]): Promise<Set<string>>;
  /** The last row of a call. A call has several if something changed while a person was asked. */
  ofCall(execution: string, call: number): Promise<Approval | undefined>;
  /** The last call of the same tool, config, door and person that was approved, before the row was decided if it was. Its arguments may be cut. */
  lastApproved(row: ApprovedBefore): Promise<Approval | undefined>;
  /** The last permission for further calls of a tool that a person gave an execution. */
  sessionApproval(execution: string, server: string, tool: string): Promise<Approval | undefined>;
  /** The open rows whose executions end with their process: no program is stored that another process could continue. */
  unsaved(filter?: Pick<ApprovalFilter, "config" | "execution">): Promise<Approval[]>;
  /** Whether the time of an open row is over. `now` is in milliseconds since 1970. It is asked for often. */
  isDue(now: number): Promise<boolean>;
  /** Whether rows were decided more than `approvalKeptDays` ago. */
  hasOld(now: number): Promise<boolean>;
  /**
   * Makes one change. Returns the changed rows, as they are now. Each row that has left `open`, or was withdrawn, has its line in the audit
   * log, made with `by`; see `eventsOf`. `now` is in milliseconds since 1970. Other work of the thread goes on meanwhile.
   */
  change(change: ApprovalChange, by: Decider, now: number): Promise<Approval[]>;
}
