/** The state of a server, as plain data without secrets, for everything that shows servers. */
import { basename } from "node:path";
import { waitText } from "../base/duration.ts";
import type { ErrorCode } from "../base/errors.ts";
import type { EntryMistake } from "../config/parse.ts";
import type { FailureFacts } from "./failures/server-failure.ts";

/** Times are milliseconds since 1970. */
export type ServerState =
  /** Cannot be started until the environment has these variables. */
  | { state: "needs"; variables: string[] }
  /** Not started, or ended after idle time. The next call starts it. */
  | { state: "idle" }
  | { state: "starting"; since: number }
  | ReadyState
  /** A person must sign in. The next call after that works. */
  | SignedOutState
  | BrokenState;

export interface ReadyState {
  state: "ready";
  since: number;
  startMs?: number | undefined;
  pid?: number | undefined;
  /** How many of the last calls in a row failed because the service behind the server refused them (401 or 403). */
  refused?: number | undefined;
}

export interface SignedOutState {
  state: "signed out";
  /** One line, as the end of a sentence that begins with the server's name. */
  why: string;
  /** A command. */
  hint?: string | undefined;
  since: number;
}

export interface BrokenState extends FailureFacts {
  state: "broken";
  code: ErrorCode;
  /** One line, as the end of a sentence that begins with the server's name. */
  why: string;
  hint?: string | undefined;
  since: number;
  /** In a row. */
  failures: number;
  /** The earliest time of the next attempt. */
  retryAt?: number | undefined;
}

/** The state in a few words: `ready`, `needs GITHUB_TOKEN`, `broken: its process exited with code 1`. */
export function stateText(state: ServerState): string {
  switch (state.state) {
    case "needs":
      return `needs ${state.variables.join(", ")}`;
    case "idle":
      return "not started";
    case "broken":
      return `broken: ${state.why}`;
    default:
      return state.state;
  }
}

/** The state of a server whose entry in the config has mistakes. Models read it, so it does not say where the file is. */
export function mistakenState({ file, problems }: EntryMistake, since: number): BrokenState {
  const [line] = problems[0]!.position.split(":");
  const hint = `Correct the entry in ${basename(file)}, line ${line} (claudikins config edit).`;
  const why = `has a mistake in its config entry: ${problems.map(({ text }) => text).join("; ")}`;
  const onPage = `Correct the entry in ${basename(file)}, line ${line}.`;
  return { state: "broken", code: "CONFIG_INVALID", why, hint, onPage, since, failures: 1, lasting: true };
}

/** When a broken server is tried again, as the end of a sentence. Empty if another attempt does not help. */
export function retryText({ retryAt, lasting }: BrokenState, now = Date.now()): string {
  if (retryAt === undefined || lasting) return "";
  return retryAt > now ? `can be retried in ${waitText(retryAt - now)}` : "retried on the next call";
}

/**
 * Why a server cannot be called now, when it is tried again, and how to repair it: with a command, or with what stands beside it on the page.
 * Undefined if nothing is known to be wrong.
 */
export function stateProblem(state: ServerState, isOnPage = false): string | undefined {
  switch (state.state) {
    case "needs":
      return isOnPage ? stateText(state) : `${stateText(state)}: set this before starting claudikins`;
    case "signed out":
      return withHint(`${stateText(state)}: ${state.why}`, isOnPage ? undefined : state.hint);
    case "broken": {
      const why = [state.why, retryText(state)].filter(Boolean).join("; ");
      if (isOnPage) return withHint(why, entryStep(state.onPage) ?? state.hint);
      return withHint(why, [state.hint, "To check it: claudikins doctor"].filter(Boolean).join(" "));
    }
    case "ready":
      return state.refused
        ? `its last ${state.refused} calls were refused as unauthorized. ${isOnPage ? "Check its token. To do so: Change." : "Check the token in its config entry: claudikins doctor"}`
        : undefined;
    default:
      return undefined;
  }
}

/** A step on the page with the button that leads to the form of the entry. */
export function entryStep(onPage: string | undefined): string | undefined {
  return onPage === undefined ? undefined : `${onPage} To do so: Change its entry.`;
}

function withHint(text: string, hint: string | undefined): string {
  return hint === undefined ? text : `${text}. ${hint}`;
}
