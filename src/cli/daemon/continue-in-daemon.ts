/** Lets the daemon continue executions that no process runs. */
import { type DaemonFlags, usesDaemon } from "../flags/config-flags.ts";
import type { Io } from "../io.ts";

/**
 * The executions that the daemon runs now. Empty if there can be no daemon. `config` is the config file, undefined for the demo; the
 * daemon uses it only if it is trusted.
 */
export async function continuedInDaemon(
  ids: readonly string[],
  config: string | undefined,
  flags: DaemonFlags,
  { env }: Pick<Io, "env">,
): Promise<readonly string[]> {
  if (ids.length === 0 || !usesDaemon(flags, env)) return [];
  const { DaemonClient } = await import("../../daemon/client.ts");
  try {
    const answer = (await new DaemonClient(config, env).post("/adopt", { executions: ids })) as {
      executions: string[];
    };
    return answer.executions;
  } catch {
    // The executions stay in the store.
    return [];
  }
}
