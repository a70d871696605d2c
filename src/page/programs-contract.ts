/** The messages about saved programs and the editor between the page and its server: see contract.ts. */
import type { PageExecution } from "./activity-contract.ts";

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
  /** The number of its version. */
  version: number;
  /** The version that its schedules and triggers run, if it is another one. */
  accepted?: number | undefined;
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
  notifications: PageNotification[];
  /** How often a run of it may ask a model. 0 if programs may not. Undefined if its code does not ask. */
  modelCalls?: number | undefined;
  /** Dead ones first, and the newest of each. */
  deliveries: PageDelivery[];
}

/** A command, an address, a tool or an agent that is told the outcomes of a program. */
export interface PageNotification {
  id: string;
  /** `if it failed, webhook https://example.com` */
  text: string;
  filter?: string | undefined;
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

/** A new test: the answer to `POST api/programs/record`. */
export interface PageRecorded {
  /** The name of its file. */
  recording: string;
  calls: number;
  /** Whether placeholders stand for private data. */
  isPrivateReplaced: boolean;
}

/** A new trigger: the answer to `POST api/programs/on`. */
export interface PageTriggered {
  id: string;
  /** The path of a webhook below the address of `serve --http`. */
  path?: string | undefined;
  /** The secret that was made for the webhook. No other answer has it. */
  secret?: string | undefined;
  /** Whether something looks for its events: a running daemon, or `serve --http` for a webhook. */
  isWatched: boolean;
}

export interface PageInput {
  name: string;
  /** The type of the input in words, such as "a whole number". */
  type: string;
  isRequired: boolean;
  description?: string | undefined;
  example?: string | undefined;
}

export type PageRun = Pick<
  PageExecution,
  "id" | "kind" | "stateText" | "isOver" | "startedAt" | "durationMs" | "isRecorded"
>;

export interface PageSchedule {
  id: string;
  program: string;
  door?: string | undefined;
  cron: string;
  /** The times of `cron` in words. */
  times: string;
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
  /** The place of the failure in the code. Both count from 1. */
  line?: number | undefined;
  column?: number | undefined;
  logs: { level: string; text: string }[];
  /** Number of later lines. */
  moreLogs: number;
  /** Texts that the program has shown with `display`. */
  texts: string[];
  /** Images and files, shown or returned. `GET api/executions/ID/image?place=0` has the first one, if it is an image that can be drawn. */
  media: { type: string; bytes: number; isImage: boolean }[];
}

/** Saved programs that would break: `GET api/programs/drift`. */
export interface PageDrift {
  /** `2 of 31 saved programs would break`. Empty if none would. */
  text: string;
  broken: { name: string; door?: string | undefined; reasons: string[] }[];
}

/** The servers and doors that a program can name: the answer to `GET api/editor/servers`. */
export interface PageEditor {
  servers: { name: string; jsName?: string | undefined; description: string }[];
  doors: string[];
  /** The agent that executions of the editor are listed with. */
  agent: string;
}

/** The tools of one server, for completion: the answer to `POST api/editor/tools`. */
export interface PageEditorTool {
  name: string;
  /** Undefined if two tools would get the same one. */
  jsName?: string | undefined;
  description: string;
  signature: string;
  arguments: PageType;
  /** Undefined if it is not known. */
  result?: PageType | undefined;
}

/** A type, as far as completion needs it. */
export interface PageType {
  /** Its name, or its values: `string`, `"paid" | "open"`, `list`. */
  text: string;
  fields?: PageField[] | undefined;
  /** The type of the items of a list. */
  items?: PageType | undefined;
  /** Possible values, as code. */
  values?: string[] | undefined;
}

export interface PageField {
  name: string;
  isOptional: boolean;
  description: string;
  type: PageType;
}

/** A mistake in the code of the editor, in the answer to `POST api/editor/check`. Lines and columns count from 1. */
export interface PageMistake {
  line: number;
  column: number;
  message: string;
  hint?: string | undefined;
  /** Whether the program runs all the same. */
  isWarning: boolean;
}
