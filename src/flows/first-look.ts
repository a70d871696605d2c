/** The first question to servers whose tools nobody has asked for yet, and why servers cannot be asked now. */
import { retryText, type ServerState, stateText } from "../clients/state.ts";
import { ClaudikinsError, messageOf } from "../errors.ts";
import type { Toolbox } from "./toolbox.ts";

/** How long it is waited for. */
const firstLookMs = 10_000;

/**
 * Asks the servers that the registry does not know for their tools, all at once, and waits as well for those that have
 * just said that theirs changed; one that is slow or broken is not waited for. Why those that are still not known are
 * not, by their names.
 */
export async function lookAtUnknownServers(toolbox: Toolbox, signal: AbortSignal): Promise<Map<string, string>> {
  const problems = new Map<string, string>();
  const looks = toolbox.unknownServers().map(async (name) => {
    problems.set(name, "still starting");
    try {
      await toolbox.learn(name, signal);
      problems.delete(name);
    } catch (error) {
      problems.set(name, stateProblem(toolbox.pool.state(name)) ?? failureText(error));
    }
  });
  const changing = [...toolbox.config.servers.keys()].filter((name) => toolbox.isChanging(name));
  looks.push(...changing.map((name) => toolbox.settled(name, signal).catch(() => {})));
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, firstLookMs);
  await Promise.race([Promise.all(looks), promise]);
  clearTimeout(timer);
  return problems;
}

/** Why a server cannot be called now, when it is tried again, and what repairs it; undefined where nothing is known to be wrong. */
export function stateProblem(state: ServerState): string | undefined {
  switch (state.state) {
    case "needs":
      return `${stateText(state)}: to be set before claudikins is started`;
    case "broken":
      return sentences([state.why, retryText(state)].filter(Boolean).join("; "), state.hint);
    default:
      return undefined;
  }
}

/** Of a server that runs and did not give its tools. */
function failureText(error: unknown): string {
  return sentences(messageOf(error).split("\n")[0] ?? "", error instanceof ClaudikinsError ? error.hint : undefined);
}

function sentences(text: string, hint: string | undefined): string {
  return hint === undefined ? text : `${text}. ${hint}`;
}
