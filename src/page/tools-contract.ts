/** The messages about the tools of all servers between the page and its server: see contract.ts. */
import type { PageTool } from "./servers-contract.ts";

export type PageToolState = PageTool["state"];

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
