/** The first question to servers whose tools nobody has asked for yet, and why servers cannot be asked now. */
import { retryText, type ServerState, stateText } from "../clients/state.ts";
import { ClaudikinsError, messageOf } from "../errors.ts";
import type { Toolbox } from "./toolbox.ts";

/** How long anybody waits for the first answer of a server, from the moment in which it was asked. */
const firstLookMs = 10_000;

/**
 * Asks the servers that the registry does not know for their tools, and waits as well for those that have just said that
 * theirs changed; one that is slow or broken is not waited for. Why those that are still not known are not, by their
 * names. Those that are known from another entry, or by another version of us, are asked, too, and nobody waits.
 */
export async function lookAtUnknownServers(toolbox: Toolbox, signal: AbortSignal): Promise<Map<string, string>> {
  const names = toolbox.unknownServers();
  const looks = lookAt(
    names.filter((name) => !toolbox.isOutdated(name)),
    toolbox,
    signal,
  );
  const outdated = names.filter((name) => toolbox.isOutdated(name));
  // After the answer, which shall not wait for processes to be started either.
  setImmediate(() => {
    for (const name of outdated) void toolbox.learnInTurn(name).catch(() => {});
  });
  const changes = changesKnown([...toolbox.config.servers.keys()], toolbox, signal);
  const problems = await looks;
  await changes;
  return problems;
}

/** The same for who shows tools as they are: those that are known from another entry are waited for as well. */
export async function askUnknownServers(toolbox: Toolbox, signal: AbortSignal): Promise<Map<string, string>> {
  const [problems] = await Promise.all([
    lookAt(toolbox.unknownServers(), toolbox, signal),
    changesKnown([...toolbox.config.servers.keys()], toolbox, signal),
  ]);
  return problems;
}

/** Asks them all; why those that did not answer did not. */
async function lookAt(names: string[], toolbox: Toolbox, signal: AbortSignal): Promise<Map<string, string>> {
  const looks = await Promise.all(
    names.map(async (name): Promise<[string, string | undefined]> => [name, await answerInTurn(name, toolbox, signal)]),
  );
  return new Map(looks.flatMap(([name, problem]) => (problem === undefined ? [] : [[name, problem]])));
}

/**
 * Asks a server for its tools; undefined when it has answered, else why not. Who comes when others wait already waits
 * for the rest of their time: a server that never answers holds up one of many searches.
 */
export async function firstAnswer(
  name: string,
  toolbox: Toolbox,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  return problemOf(name, toolbox, signal, toolbox.askedForMs(name), (patience) => toolbox.learn(name, patience));
}

function answerInTurn(name: string, toolbox: Toolbox, signal: AbortSignal): Promise<string | undefined> {
  const waitedMs = Math.max(toolbox.turnAwaitedMs(name), toolbox.askedForMs(name));
  return problemOf(name, toolbox, signal, waitedMs, (patience) => toolbox.learnInTurn(name, patience));
}

async function problemOf(
  name: string,
  toolbox: Toolbox,
  signal: AbortSignal | undefined,
  waitedMs: number,
  learn: (patience: AbortSignal) => Promise<unknown>,
): Promise<string | undefined> {
  const late = AbortSignal.timeout(Math.max(0, firstLookMs - waitedMs));
  try {
    await learn(signal ? AbortSignal.any([late, signal]) : late);
    return undefined;
  } catch (error) {
    const problem = stateProblem(toolbox.pool.state(name));
    if (problem !== undefined || !late.aborted) return problem ?? failureText(error);
    const seconds = Math.round(toolbox.askedForMs(name) / 1_000);
    if (seconds === 0) return "not asked yet: other servers come first; search again";
    return sentences(`no answer for ${seconds} s`, "It may still answer; to check: claudikins list --check");
  }
}

/** Resolves when is known what those of these servers have that just said that it changed; at the latest in a while. */
export async function changesKnown(names: string[], toolbox: Toolbox, signal: AbortSignal | undefined): Promise<void> {
  const changing = names.filter((name) => toolbox.isChanging(name));
  if (changing.length === 0) return;
  const late = AbortSignal.timeout(firstLookMs);
  const patience = signal ? AbortSignal.any([late, signal]) : late;
  await Promise.all(changing.map((name) => toolbox.settled(name, patience).catch(() => {})));
}

/** Why a server cannot be called now, when it is tried again, and what repairs it; undefined where nothing is known to be wrong. */
export function stateProblem(state: ServerState): string | undefined {
  switch (state.state) {
    case "needs":
      return `${stateText(state)}: set this before starting claudikins`;
    case "signed out":
      return sentences(`${stateText(state)}: ${state.why}`, state.hint);
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
