/** The first question to servers whose tools nobody has asked for yet. */
import { messageOf } from "../errors.ts";
import type { Toolbox } from "./toolbox.ts";

/** How long it is waited for. */
const firstLookMs = 10_000;

/**
 * Asks the servers that the registry does not know for their tools, all at once; one that is slow or broken is not
 * waited for. Why those that are still not known are not, by their names.
 */
export async function lookAtUnknownServers(toolbox: Toolbox, signal: AbortSignal): Promise<Map<string, string>> {
  const problems = new Map<string, string>();
  const looks = toolbox.unknownServers().map(async (name) => {
    problems.set(name, "still starting");
    try {
      await toolbox.learn(name, signal);
      problems.delete(name);
    } catch (error) {
      problems.set(name, messageOf(error).split("\n")[0] ?? "");
    }
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, firstLookMs);
  await Promise.race([Promise.all(looks), promise]);
  clearTimeout(timer);
  return problems;
}
