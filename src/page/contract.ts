/**
 * The messages between the page of `claudikins ui` and its server, as JSON, which omits undefined values. The browser imports only these
 * types.
 */
import type { PageExecution } from "./activity-contract.ts";
import type { PageProgram, PageSchedule } from "./programs-contract.ts";
import type { ConfirmMode, PageServerEntry } from "./servers-contract.ts";

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

/** More about a person, for administrators: `GET api/people/about?id=`. */
export interface PagePersonAbout {
  email?: string | undefined;
  firstAt: number;
  /** The groups in the newest token, and when it was issued. Undefined if no token with a time is known. */
  groups?: { names: string[]; at: number } | undefined;
  /** Whether the directory of the company says the groups, so that those of tokens do not count. */
  hasDirectory: boolean;
  /** The open sessions of agents at the process that serves the page. */
  sessions: number;
  /** The calls of the last days. */
  calls: { days: number; calls: number; failures: number; executions: number };
  /** The servers for which the person has credentials. */
  credentials: string[];
}

/** What the config says for everybody, for administrators: `GET api/administration`. */
export interface PageAdministration {
  /** Each right with the groups whose members have it. `*` is everybody who has signed in. */
  rights: { right: string; groups: string[] }[];
  quotas: PageQuota[];
  /** Days after which everything that is kept of a person who was not here is deleted. Undefined: never. */
  keepDays?: number | undefined;
}

export interface PageQuota {
  /** The owner: `the door "qa"`. */
  owner: string;
  /** The limit in words, such as `60 calls a minute`. */
  text: string;
  limit: number;
  /** Undefined for what is used at the same time. */
  used?: number | undefined;
  /** When the count begins again. */
  to?: number | undefined;
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
  /** For how long an approval holds. `always`: a rule was written on this page. */
  scope?: "once" | "program" | "session" | "always" | undefined;
  decidedAt?: number | undefined;
  /** The place where it was decided. */
  decidedBy?: "agent" | "terminal" | "page" | "command" | undefined;
  /** Why it was denied. */
  reason?: string | undefined;
  /** Only in `GET api/approvals/ID`. */
  facts?: PageFacts | undefined;
}

/** The asker of a call, the labelled data that was read before, and the differences from the last approved call. */
export interface PageFacts {
  /** The home folder is shown as ~. Undefined if the execution is not stored. */
  asker?:
    | {
        startedBy: "exec" | "serve" | "schedule" | "event";
        agent?: string | undefined;
        folder?: string | undefined;
        program?: string | undefined;
      }
    | undefined;
  /** The first calls of each source. None if the session had read it before the execution. */
  reads: { label: string; source: string; calls: { call: number; at: number }[] }[];
  /** Nothing is compared if only the beginning of the earlier arguments is kept. */
  lastApproved?:
    | {
        id: string;
        decidedAt: number;
        isWhole: boolean;
        /** The beginning of the values, as JSON. */
        changes: {
          at: string;
          kind: "new" | "gone" | "changed";
          before?: string | undefined;
          now?: string | undefined;
        }[];
        more: number;
      }
    | undefined;
}

/** `always` also writes a rule, and `deny all` also denies all other questions of the execution. */
export type PageDecision = "once" | "program" | "session" | "always" | "deny" | "deny all";

/** The rule that `always` writes: `GET api/approvals/ID/rule`. */
export interface PageLastingRule {
  file: string;
  changes: { at: string; before?: string | undefined; after?: string | undefined }[];
  mark: string;
}

/** The answer to a decision. */
export interface Decided {
  execution: string;
  /** Whether a process runs the execution, so that the call is made or fails now. */
  isRunning: boolean;
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
  /** Number of tools that it shows. */
  tools: number;
  /** The tokens of serve --http that open only this door. */
  tokens: PageToken[];
  /** Agents on this machine that use the door. */
  agents: string[];
  /** Patterns of its tools. An empty `allow` stands for all. */
  allow: string[];
  deny: string[];
  ask: string[];
  /** Its tools of which each call waits for a person, by the door or by the policy: the first ones. */
  asked: string[];
  /** Number of further ones. */
  askedMore: number;
  /** Why it cannot be opened. */
  problem?: string | undefined;
}

/** A token of serve --http by its public id. */
export interface PageToken {
  id: string;
  name?: string | undefined;
  /** Undefined: it opens every address of the config. */
  door?: string | undefined;
  /** Undefined: it never expires. */
  expiresAt?: number | undefined;
  lastUsedAt?: number | undefined;
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
