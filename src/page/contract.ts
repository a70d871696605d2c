/**
 * The messages between the page of `claudikins ui` and its server, as JSON, which omits undefined values. The browser imports only these
 * types.
 */

/**
 * Everything that the page shows, except long texts and tools, which have their own requests. Names and texts are unchanged texts of
 * servers.
 */
export interface PageState {
  version: string;
  /** The config file; null for the demo. */
  config: string | null;
  /** The same for people: the home folder is shown as ~. */
  configText: string;
  /** Why the current config file is not in use. */
  problem?: string | undefined;
  /** Open approvals, oldest first, of all configs. */
  approvals: PageApproval[];
  /** Recently decided approvals, newest first. */
  decided: PageApproval[];
  /** All executions that run or wait, and then the newest ended ones. `GET api/activity` has the others. */
  executions: PageExecution[];
  servers: PageServerEntry[];
  /** The saved programs of the config, then the ones of its doors. */
  programs: PageProgram[];
  /** The schedules of saved programs. */
  schedules: PageSchedule[];
  /** Files of programs and schedules that cannot be read. */
  programProblems: string[];
  savings: Savings;
  /** Changes when doors, rules, labels or edits of tools may have changed. */
  rulesMark?: string | undefined;
  /** The person who has signed in to `serve --http`, and sees less. Undefined for the user of `claudikins ui`. */
  viewer?: PageViewer | undefined;
}

export interface PageViewer {
  name: string;
  /** Whether the person may approve and deny calls. */
  mayApprove: boolean;
  /** The groups whose members may approve. `*` means everyone. */
  approvers: string[];
  /** For administrators: everyone who has signed in. */
  people?: PagePerson[] | undefined;
}

export interface PagePerson {
  id: string;
  name: string;
  /** The doors that the person has used. */
  doors: string[];
  lastAt: number;
  isRevoked: boolean;
  /** Whether the person's data was deleted. The name is then the id. */
  isDeleted: boolean;
  isViewer: boolean;
}

export interface PageApproval {
  id: string;
  server: string;
  tool: string;
  /** The end of the sentence "You are asked because …". */
  why: string;
  /** The parts of the tool that changed since it was last allowed. */
  changed?: string[] | undefined;
  /** The execution that waits. */
  execution: string;
  line?: number | undefined;
  /** The line of the code that makes the call. */
  code?: string | undefined;
  /** The arguments as indented JSON. In `PageState` only the beginning; `GET api/approvals/ID` has all as long as the approval is open. */
  args: string;
  /** Characters of the whole JSON. */
  argsChars: number;
  /** The config file; null for the demo. */
  config: string | null;
  /** The door of the config behind which the execution runs. */
  door?: string | undefined;
  /** The person for whom the execution runs, who has signed in to `serve --http`. */
  person?: { id: string; name: string } | undefined;
  askedAt: number;
  expiresAt: number;
  state: "open" | "approved" | "denied" | "expired" | "withdrawn";
  decidedAt?: number | undefined;
  /** The place where it was decided. */
  decidedBy?: "agent" | "terminal" | "page" | "command" | undefined;
}

/** `deny all` also denies all other questions of the execution. */
export type PageDecision = "once" | "session" | "deny" | "deny all";

/** The answer to a decision. */
export interface Decided {
  execution: string;
  /** Whether a process runs the execution, so that the call is made or fails now. */
  isRunning: boolean;
}

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
  /** The working folder. The home folder is shown as ~. */
  folder?: string | undefined;
  /** The door behind which it was started. */
  door?: string | undefined;
  /** The name of the person for whom it was started. */
  person?: string | undefined;
  /** The name of the saved program. */
  program?: string | undefined;
  startedAt: number;
  durationMs?: number | undefined;
  calls?: number | undefined;
  failures?: number | undefined;
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
}

/** One execution with its calls: `GET api/executions/ID/about`. */
export interface PageAbout {
  execution: PageExecution;
  /** The calls in their order, at most some hundreds. */
  calls: PageCall[];
  /** Number of calls that are not listed. */
  more: number;
  /** Why it failed. */
  failure?: string | undefined;
  /** Whether its code is kept, so that it can be run again. */
  canRunAgain: boolean;
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
  outcome: "ok" | "tool_error" | "denied" | "failed" | "cancelled";
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

/** A saved program. `GET api/programs/code?name=NAME&door=DOOR` has its code. */
export interface PageProgram {
  name: string;
  /** The door that it belongs to. Undefined for the whole config. */
  door?: string | undefined;
  description: string;
  /** The expression with which code calls it. */
  call: string;
  inputs: PageInput[];
  /** The tools that it may call. */
  calls: string[];
  savedAt: number;
  savedBy: "user" | "agent";
  /** The repository, at a commit. */
  from?: string | undefined;
  /** A sentence about its last change. */
  changed?: string | undefined;
  /** The newest first. */
  runs: PageRun[];
}

/** The tests, triggers and deliveries of a saved program: `GET api/programs/about?name=NAME&door=DOOR`. */
export interface PageProgramAbout {
  /** The files of its recordings, which are its tests. */
  recordings: string[];
  triggers: { id: string; source: string; filter?: string | undefined; perMinute: number }[];
  /** Dead ones first, and the newest of each. */
  deliveries: PageDelivery[];
}

export interface PageDelivery {
  id: string;
  trigger: string;
  /** `failed`: it begins again at `nextAt`. `dead`: only if a person says so. */
  state: "waiting" | "running" | "done" | "failed" | "dead";
  attempts: number;
  at: number;
  nextAt?: number | undefined;
  execution?: string | undefined;
  message?: string | undefined;
}

/** One replayed recording: `POST api/programs/test`. */
export interface PageTested {
  recording: string;
  ok: boolean;
  durationMs: number;
  differences: string[];
  /** Number of further differences. */
  more: number;
  /** Why it cannot be replayed. */
  problem?: string | undefined;
}

export interface PageInput {
  name: string;
  /** The type of the input in words, such as "a whole number". */
  type: string;
  isRequired: boolean;
  description?: string | undefined;
  example?: string | undefined;
}

export interface PageRun {
  /** The execution. */
  id: string;
  kind: PageExecution["kind"];
  stateText: string;
  isOver: boolean;
  startedAt: number;
  durationMs?: number | undefined;
  /** Whether it has a page of its own. */
  isRecorded: boolean;
}

export interface PageSchedule {
  id: string;
  program: string;
  door?: string | undefined;
  cron: string;
  zone: string;
  /** JSON on one line. */
  input: string;
  /** When it runs next. */
  next?: number | undefined;
  lastRun?: PageScheduledRun | undefined;
}

export interface PageScheduledRun {
  startedAt: number;
  /** Its execution. Undefined if it could not be started. */
  execution?: string | undefined;
  /** Earlier times that were missed. */
  missed: number;
  /** Set when it has ended. */
  ok?: boolean | undefined;
  /** Why it failed. */
  message?: string | undefined;
}

/** A preview of a program that would be saved: the answer to `POST api/programs/preview`. */
export interface PageSaving {
  call: string;
  description: string;
  code: string;
  calls: string[];
  inputs: PageInput[];
  /** How often each value was replaced in the code. */
  replaced: { input: string; places: number }[];
  /** Identifies the existing program with this name, which would be replaced. Null if there is none. */
  before: string | null;
  /** The changes to the existing program. */
  changes: string[];
}

/** The answer to `POST api/programs/schedule`. */
export interface PageScheduled {
  /** When it runs first. */
  next?: number | undefined;
  /** Whether a running daemon starts it at its times. */
  isWatched: boolean;
}

/** How an execution ended: `GET api/executions/ID/outcome`. */
export interface PageOutcome {
  ok: boolean;
  /** The value as JSON, or the message. */
  text: string;
  /** Whether only the beginning of the text is here. */
  isCut: boolean;
  hint?: string | undefined;
}

export interface PageServerEntry {
  name: string;
  transport: string;
  /** The program, or the host. */
  where?: string | undefined;
  description?: string | undefined;
  state: "idle" | "starting" | "ready" | "needs" | "signed out" | "broken" | "denied" | "disabled";
  stateText: string;
  problem?: string | undefined;
  tools?: number | undefined;
  denied?: number | undefined;
  /** Changes when the tools or their policy have changed. */
  toolsMark: string;
  protocol?: string | undefined;
  serverVersion?: string | undefined;
  signIn?: PageSignIn | undefined;
  /** The program that confines it. Undefined if it has all rights of the user. */
  sandbox?: string | undefined;
  /** Number of tools that are held because their definitions changed. */
  held?: number | undefined;
  /** Whether it has an entry in the config, which can be switched off and removed. */
  isOwn: boolean;
}

/** The result of starting a server once: the answer to `POST api/servers/check`. */
export interface PageChecked {
  tools?: number | undefined;
  tookMs: number;
  /** Why the tools cannot be called. The lines of the message after the first are the server's last output. */
  problem?: { message: string; hint?: string | undefined } | undefined;
  /** What is missing from the tools, and why. */
  misfits: readonly string[];
}

/** A line of a server's log: `GET api/servers/log?server=NAME`. */
export interface PageLogLine {
  at: number;
  kind: string;
  text: string;
}

/** The answer to `POST api/servers/add`. */
export interface PageAdded {
  added: {
    server: string;
    tools?: number | undefined;
    /** Variables that are not set, so that it was not started. */
    needs?: string[] | undefined;
    /** Whether it requires a sign-in. */
    signIn: boolean;
    notes: string[];
  }[];
}

/** A server of the catalog: `GET api/servers/catalog`. */
export interface PageCatalogServer {
  name: string;
  title: string;
  description: string;
  variables: { name: string; what: string; required: boolean }[];
}

/** The held tools of one server: `GET api/held?server=NAME`. `POST api/held` accepts them as they were shown. */
export interface PageHeld {
  server: string;
  /** Whether the server has another version, or is started in another way. */
  isUpgrade: boolean;
  /** The server's own versions. */
  before?: string | undefined;
  now?: string | undefined;
  tools: PageHeldTool[];
}

export interface PageHeldTool {
  tool: string;
  /** Identifies the new definition. */
  mark: string;
  /** Short sentences without their end. */
  why: string[];
  /** Ends of sentences about the new definition. */
  suspicions: string[];
  /** Whether the earlier definition is on this machine. */
  isKnown: boolean;
  lines: DiffLine[];
  /** Number of lines that are not shown. */
  left: number;
}

export interface DiffLine {
  kind: "same" | "added" | "removed";
  text: string;
}

export interface PageSignIn {
  state: "signed in" | "expired" | "signed out";
  /** A sign-in that runs. */
  running?: { url: string; back: string; problem?: string | undefined } | undefined;
  /** Why the last sign-in failed. */
  failed?: string | undefined;
}

/** Tools of one server and their settings in the config: `GET api/tools?server=NAME`. */
export interface PageTools {
  server: string;
  tools: PageTool[];
  /** Patterns of the config that deny tools and match none of the listed ones. */
  patterns: DeniedPattern[];
  /** The places in the config that list allowed tools: all others are denied, and not listed. */
  allowLines: string[];
  /** Whether the tools have been listed yet. */
  isKnown: boolean;
  /** Whether the page may change the config. */
  canChange: boolean;
}

export interface DeniedPattern {
  pattern: string;
  /** The place in the config. */
  line: string;
  /** Whether the pattern is in the server's own entry, which the page may change. */
  isOwn: boolean;
}

export type ConfirmMode = "never" | "destructive" | "always";

export interface PageTool {
  /** Its own name, which rules match. */
  name: string;
  /** The name by which agents know it, if that is a different name. */
  shownAs?: string | undefined;
  description: string;
  /** The tool's effect, as its server states it. */
  effect: "reads" | "changes" | "destroys" | "unstated";
  /** The labels of its data, each with its reason as the end of a sentence. */
  labels: { label: "untrusted" | "private" | "public"; why: string }[];
  /** Why it is denied, as the end of a sentence. */
  denied?: string | undefined;
  confirm: ConfirmMode;
  /** The place of this setting in the config. */
  confirmLine?: string | undefined;
}

/** The doors, rules, labels and edits in the config: the answer to `GET api/rules` and to each change of them. */
export interface PageRules {
  /** The servers that doors and rules can be about. */
  servers: string[];
  doors: PageDoor[];
  rules: PageRule[];
  labels: PageLabels[];
  edits: PageEdit[];
  /** Whether the page may change the config. */
  canChange: boolean;
}

export interface PageDoor {
  name: string;
  servers: string[];
  /** Agents on this machine that use the door. */
  agents: string[];
  /** Patterns of its tools. An empty `allow` stands for all. */
  allow: string[];
  deny: string[];
  ask: string[];
  /** Why it cannot be opened. */
  problem?: string | undefined;
}

export interface PageRule {
  /** Undefined for a rule about all servers, which only the config file changes. */
  server?: string | undefined;
  /** A tool or a pattern, or for a condition the whole rule. */
  pattern: string;
  effect: "allow" | "deny" | "condition" | ConfirmMode;
  /** The place in the config. */
  line: string;
}

export interface PageLabels {
  /** Undefined for labels about all servers, which only the config file changes. */
  server?: string | undefined;
  pattern: string;
  /** Empty if the tools have none. */
  labels: string[];
}

export interface PageEdit {
  server: string;
  /** Its own name. */
  tool: string;
  name?: string | undefined;
  description?: string | undefined;
  /** The arguments that are fixed, hidden or have a default. */
  arguments: string[];
}

export interface Savings {
  /** Oldest first. */
  days: { day: string; keptOut: number; calls: number }[];
  keptOut: number;
  without: number;
  with: number;
  sessions: number;
  /** Of agents. */
  executions: number;
  shellExecutions: number;
  searches: number;
  calls: number;
  failures: number;
  /** The most called first. */
  tools: { server: string; tool: string; calls: number; failures: number; durationMs: number }[];
  problems: string[];
}

/** The page of one execution as HTML from its components. */
export interface ExecutionHtml {
  /** HTML, like the body. */
  title: string;
  body: string;
  /** CSS rules that only this execution needs. */
  rules: string;
}

/** The answer to a person who signs out, if the provider has a session to end. The address contains the ID token. */
export interface SignedOut {
  to: string;
}

/** The answer to a request that was refused. */
export interface PageRefusal {
  error: string;
  hint?: string | undefined;
}
