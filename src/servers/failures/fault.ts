/** Why a server cannot be used now, for answers to models: what failed, and what a person must do. */
import { oneLine } from "../../base/visible-text.ts";
import type { ServerState } from "../state.ts";
import type { FailureFacts } from "./server-failure.ts";

/** After this number of failures in a row, a model should ask its user instead of trying again. */
const hopelessFailures = 3;

export interface Fault extends Pick<FailureFacts, "missing"> {
  /** Ends a sentence that begins with the server's name. */
  why: string;
  /** What a person must do: sentences, or a command. */
  remedy: string;
  /** Another attempt fails again until that is done. */
  lasting: boolean;
  /** It happened at an earlier start, perhaps of another process, and was not tried since. */
  isPast: boolean;
}

/** Undefined if nothing is known to be wrong. */
export function faultOf(state: ServerState): Fault | undefined {
  switch (state.state) {
    case "needs": {
      const names = state.variables.join(", ");
      return {
        why: `needs ${names}`,
        remedy: `Set ${names} before starting claudikins.`,
        lasting: true,
        isPast: false,
      };
    }
    case "signed out":
      return { why: `is signed out: ${state.why}`, remedy: state.hint ?? checkIt, lasting: true, isPast: false };
    case "broken": {
      const { why, said, hint = checkIt, lasting = false, failures, missing } = state;
      const isStuck = lasting || failures >= hopelessFailures;
      return {
        why: said === undefined ? why : `${why}: ${quoted(said)}`,
        remedy: hint,
        lasting: isStuck,
        isPast: false,
        missing,
      };
    }
    case "ready":
      return state.refused ? refusedCalls(state.refused) : undefined;
    default:
      return undefined;
  }
}

/** The service behind the server has refused calls for want of a valid token. */
export function refusedCalls(count: number): Fault {
  return {
    why: `refused its last ${count} calls as unauthorized`,
    remedy: "Check the token in its config entry: claudikins doctor",
    lasting: true,
    isPast: false,
  };
}

const checkIt = "Run: claudikins doctor";

const quoted = (text: string) => `"${oneLine(text, 200)}"`;

/** The hint of an error for a model: most hints say what a person must do, and a model would try it itself. */
export function hintForModel({ remedy, lasting }: Fault): string {
  return `${lasting ? "Retrying will not help. Tell" : "If it fails again, tell"} the user: ${remedy}`;
}
