/** The messages about executions, calls and their figures between the page and its server: see contract.ts. */

export interface PageExecution {
  id: string;
  kind: "running" | "waiting" | "good" | "bad";
  /** Its state in a few words. For one that waits for a timer, `until` says the rest. */
  stateText: string;
  /** When a timer wakes it up. */
  until?: number | undefined;
  isOver: boolean;
  isDryRun: boolean;
  /** What it is, in a few words: its comment, its program, or its calls. */
  title: string;
  startedBy: string;
  /** The agent, as it names itself. */
  agent?: string | undefined;
  /** The session of the agent, by a short name. */
  session?: string | undefined;
  /** The working folder. The home folder is shown as ~. */
  folder?: string | undefined;
  /** The door behind which it was started. */
  door?: string | undefined;
  /** The name of the person for whom it was started. */
  person?: string | undefined;
  /** The name of the saved program. */
  program?: string | undefined;
  /** The execution whose code it runs again, and when that began. */
  repeats?: { id: string; at: number } | undefined;
  startedAt: number;
  durationMs?: number | undefined;
  calls?: number | undefined;
  /** Without denied ones. */
  failures?: number | undefined;
  denied?: number | undefined;
  /** The called tools, the first called first. */
  tools: { server: string; tool: string; calls: number }[];
  /** Characters that did not go to the agent. */
  keptOut?: number | undefined;
  /** Whether it has a page of its own. */
  isRecorded: boolean;
  /** Whether its code is kept, so that it can be saved as a program. */
  canBeSaved: boolean;
}

/** Executions that fit a filter: the answer to `GET api/activity`. Those that run or wait come first on the first page. */
export interface PageActivity {
  executions: PageExecution[];
  /** The rest is found after the execution with this id. */
  next?: string | undefined;
  /** Agents and doors that the list can be narrowed to. */
  agents: string[];
  doors: string[];
  /** People that the list can be narrowed to. */
  people: { id: string; name: string }[];
}

/** One execution with its calls: `GET api/executions/ID/about`. */
export interface PageAbout {
  execution: PageExecution;
  /** The calls in their order, at most some hundreds. */
  calls: PageCall[];
  /** Number of calls that are not listed. */
  more: number;
  /** Why the calls that have ended are shown without arguments and answers, and how to have them next time. */
  noContents?: string | undefined;
  /** Why it failed. */
  failure?: string | undefined;
  /** The beginning of its code, if it is kept. */
  code?: string | undefined;
  /** The line of the code that failed. */
  failedLine?: number | undefined;
  /** Whether its code is kept, so that it can be run again. */
  canRunAgain: boolean;
  /** Whether its code can be opened in the editor. */
  hasCode?: boolean | undefined;
  /** The command that runs its code. Undefined if there is none that is safe to paste. */
  command?: string | undefined;
  /** Why it cannot be run again. */
  notAgain?: string | undefined;
}

export interface PageCall {
  server: string;
  tool: string;
  /** Line of the code. */
  line?: number | undefined;
  outcome: "ok" | "failed" | "cancelled" | "open";
  /** In milliseconds. `startMs` counts from the start of the code. */
  startMs?: number | undefined;
  tookMs?: number | undefined;
  waitedMs?: number | undefined;
  /** The code of its error. */
  code?: string | undefined;
  /** A dry run has not made it. */
  isPlanned: boolean;
  /** Characters of the arguments and of the result. */
  argumentChars?: number | undefined;
  resultChars?: number | undefined;
  /** The beginning of the arguments and of the result or the error, if the contents were recorded. */
  arguments?: string | undefined;
  answer?: string | undefined;
}

/** An execution with which another one can be compared: `GET api/executions/ID/comparable`. */
export interface PageComparable
  extends Pick<PageExecution, "id" | "title" | "stateText" | "kind" | "isDryRun" | "startedAt"> {
  relation: "run again from" | "run again as" | "same program" | "same code" | "other";
  /** Whether it is compared if nobody chooses another one. */
  isUsual: boolean;
}

/** Two executions side by side: `GET api/executions/ID/compare?with=ID`. */
export interface PageComparison {
  earlier: PageCompared;
  later: PageCompared;
  /** The facts that differ. */
  differs: ("state" | "failure" | "duration" | "calls" | "failures" | "charsIn" | "charsOut")[];
  calls: PageComparedCall[];
  /** Number of calls that are not listed. */
  moreCalls: number;
  code: PageDifference;
  value: PageDifference;
  logs: PageDifference;
}

export interface PageDifference {
  /** null if one of them is not stored. */
  isSame: boolean | null;
  missing: ("earlier" | "later")[];
  /** Whether only the beginnings were compared. */
  isCut: boolean;
  /** skipped: the text is a number of equal lines. */
  lines: { kind: "same" | "added" | "removed" | "skipped"; text: string }[];
  moreLines: number;
}

export interface PageCompared extends PageExecution {
  failure?: string | undefined;
  charsIn: number;
  charsOut: number;
  /** Whether arguments and results were recorded. */
  hasContents: boolean;
}

export interface PageComparedCall {
  change: "same" | "changed" | "added" | "removed";
  differs: ("arguments" | "outcome" | "result" | "duration")[];
  earlier?: PageCall | undefined;
  later?: PageCall | undefined;
}

/** Calls of the call log, newest first: the answer to `GET api/calls`. */
export interface PageCalls {
  calls: PageLoggedCall[];
  /** The place after which the rest is found. */
  next?: string | undefined;
}

export interface PageLoggedCall {
  id: string;
  at: number;
  server: string;
  tool: string;
  outcome: "ok" | "failed" | "denied" | "cancelled";
  /** The code of the error. */
  code?: string | undefined;
  /** The agent, or the kind of command. */
  by: string;
  /** The person or the token. */
  person?: string | undefined;
  door?: string | undefined;
  program?: string | undefined;
  execution?: string | undefined;
  durationMs: number;
  waitedMs: number;
  resultBytes: number;
  /** What a person has decided about it. */
  approval?: string | undefined;
  /** The labels of the tool's data, with spaces between them. */
  labels?: string | undefined;
}

/** The figures on the page: `GET api/figures?days=30`, or `days=all`. */
export interface PageFigures {
  /** Days including today; null for all. */
  days: number | null;
  /** Oldest first, including days without calls. Older ones are months and years. */
  periods: { period: string; calls: number; failures: number; denied: number; durationMs: number; keptOut: number }[];
  total: PageTotal;
  tools: PageUseFigures[];
  servers: PageUseFigures[];
  agents: PageCallerFigures[];
  doors: PageCallerFigures[];
  people: PageCallerFigures[];
  programs: PageCallerFigures[];
  /** The last day or period with calls before the chosen time. Undefined if there are calls in it, or none at all. */
  lastBefore?: string | undefined;
  problems: string[];
}

/** Denied calls are no failures. */
interface PageTotal {
  sessions: number;
  executions: number;
  shellExecutions: number;
  searches: number;
  calls: number;
  failures: number;
  denied: number;
  durationMs: number;
  keptOut: number;
  /** Tokens without claudikins. */
  without: number;
}

interface PageCallFigures {
  calls: number;
  failures: number;
  denied: number;
  durationMs: number;
  /** Null if the call log has no such calls. */
  p50Ms: number | null;
  p95Ms: number | null;
}

/** One tool, or one server without `tool`. The counts are those of the ledger, and the percentiles those of the call log. */
export interface PageUseFigures extends PageCallFigures {
  server: string;
  tool?: string | undefined;
  /** Tokens of results that went to code instead of a context. */
  takenTokens: number;
}

/** One agent, door, person or program, from the call log. */
export interface PageCallerFigures extends PageCallFigures {
  /** Null for calls without one. */
  name: string | null;
  executions: number;
  roundTrips: number;
}
