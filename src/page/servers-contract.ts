/** The messages about servers and their tools between the page and its server: see contract.ts. */
import type { PageDrift } from "./programs-contract.ts";

export interface PageServerEntry {
  name: string;
  transport: string;
  /** The path of the command, or the host. */
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
  /** The names of the first ones. */
  heldTools?: string[] | undefined;
  /** Variables of its entry that are not set. */
  needs?: string[] | undefined;
  /** Whether it has an entry in the config, which can be changed, switched off and removed. */
  isOwn: boolean;
}

/** The result of starting a server once: the answer to `POST api/servers/check`. */
export interface PageChecked {
  tools?: number | undefined;
  tookMs: number;
  /** Why the tools cannot be called. The lines of the message after the first are the server's last output. */
  problem?: { message: string; hint?: string | undefined } | undefined;
  /** Tools that are missing, each with the reason. */
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
  /** The address of the page of the config that was made for it. It works once, for a minute. */
  movedTo?: string | undefined;
}

/** The entry of a server without its secrets: `GET api/servers/entry?server=NAME`. Keys that it does not have are left out. */
export interface PageEntry {
  server: string;
  /** The file that has it. */
  file: string;
  /** Identifies the entry as it was shown. */
  mark: string;
  kind: "program" | "address" | "openapi" | "graphql";
  /** Without a value, it has a secret. */
  texts: { key: string; value?: string | undefined }[];
  /** Keys with credentials, which are set. */
  credentials: string[];
  /** Without a text, it has a secret. */
  args: { text?: string | undefined }[];
  env: PageEntryValue[];
  headers: PageEntryValue[];
  sandbox?: boolean | { read: string[]; write: string[]; network: boolean | string[] } | undefined;
  /** `usual` is the value that counts if the entry has none. */
  numbers: { key: string; value?: number | undefined; usual: number }[];
  keepAlive?: boolean | undefined;
  /** Keys that are only in the file. */
  others: string[];
  /** Variables that the entry needs and that are not set. */
  missing: string[];
  /** The names of all secrets that are set. */
  secrets: string[];
}

/** A variable or a header, which is set. Only a reference is shown. */
export interface PageEntryValue {
  name: string;
  /** Such as `${secret:API_KEY}`. */
  shown?: string | undefined;
  /** Whether the reference leads to nothing. */
  isMissing?: boolean;
}

/** The answer to `POST api/servers/edit`. */
export interface PageEntryChanged {
  /** The places that differ, such as `env.API_KEY`. */
  changed: string[];
  /** Undefined if the server was not started. */
  tools?: number | undefined;
  needs?: string[] | undefined;
  signIn: boolean;
  notes: string[];
  /** Identifies the change for `POST api/policy/undo`. */
  undo?: string | undefined;
}

/** The servers of agents, before they are imported: `GET api/first/import`. */
export interface PageImport {
  file: string;
  servers: { name: string; from: string[] }[];
  left: { name: string; why: string }[];
  diffs: { config: string; agents: string[] };
  mark: string;
}

/** What was imported. */
export interface PageImported {
  movedTo: string;
  /** The agents' settings that were changed, and the ones that could not be. */
  changed: string[];
  problems: string[];
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
  /** What the programs would do if the changes were accepted. */
  programs: PageDrift;
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
  /** Whether it is the definition from before the last accepted change: the server may still run its earlier program. */
  isReplaced: boolean;
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
  state: PageToolState;
  /** The place in the config that decides the state; if it is denied, why, as the end of a sentence. Undefined if nothing does. */
  line?: string | undefined;
}

/** What happens now when the tool is called. */
export type PageToolState = "allow" | "ask" | "deny";

/** The tools of all servers: `GET api/policy/tools`, with `door=NAME` as the door sees them. */
export interface PageToolTable {
  tools: PageToolRow[];
  /** Servers whose tools were never listed. */
  unlisted: string[];
  /** Whether the page may change the config. Behind a door, nothing can be changed. */
  canChange: boolean;
}

export interface PageToolRow extends Pick<PageTool, "name" | "shownAs" | "description" | "effect" | "state" | "line"> {
  server: string;
  labels: PageTool["labels"][number]["label"][];
  /** The rules of the config that can apply to a call. */
  rules: { line: string; text: string }[];
  isEdited: boolean;
}

/** One tool: `GET api/policy/tool?server=NAME&tool=NAME`, with its own name. */
export interface PageToolAbout extends Pick<PageTool, "labels"> {
  /** As an agent gets it. */
  signature: string;
  /** The description that an agent gets. */
  description: string;
  example: string;
}

/** The calls of the last seven days, of called tools only: `GET api/policy/uses`, with `door=NAME` those behind the door. */
export interface PageToolUse {
  server: string;
  tool: string;
  calls: number;
  failures: number;
  lastAt: number;
}

/** The tools that an agent would find, best first: `GET api/policy/search?query=TEXT`, with `door=NAME` behind the door. */
export interface PageSearch {
  found: PageFound[];
  /** The number of tools that an agent gets if it sets no limit. */
  usual: number;
  /** Why nothing was searched. */
  problem?: string | undefined;
}

export interface PageFound {
  kind: "tool" | "skill" | "resource" | "prompt";
  id: string;
  server: string;
  /** The name for agents. */
  name: string;
  signature: string;
  description: string;
}

/** The answer to `POST api/policy/preview`: what a change would have meant for the calls of the last days. */
export interface PageImpact {
  calls: number;
  /** Calls that wait for approval, and that the change would end. */
  waiting: number;
  text: string;
}

/** A part of the answers to changes of the config. */
export interface PageUndo {
  /** Identifies the change for `POST api/policy/undo`. Undefined if nothing had to be changed, or the change cannot be undone. */
  undo?: string | undefined;
}
