/** gen: every configured server is asked for its tools, side by side; one that fails is reported and the rest goes on. */
import { type ClaudikinsError, type ErrorCode, toClaudikinsError } from "../errors.ts";
import type { Toolbox } from "./toolbox.ts";

export interface ServerReport {
  server: string;
  tools: number;
  durationMs: number;
  /** Files written because they changed, and removed because their tools are gone. */
  written: number;
  removed: number;
  /** Tools of which only one can have the identifier; each group by name. */
  collisions: string[][];
  /** Paths where somebody's own file stands in the place of a generated one: left alone. */
  kept: string[];
  problem?: { code: ErrorCode; message: string; hint?: string };
}

export interface GenerateReport {
  folder: string;
  /** In the order of the config. */
  servers: ServerReport[];
  /** Servers of the registry that the config has no more. */
  pruned: string[];
}

export async function generate(
  toolbox: Toolbox,
  options: { signal?: AbortSignal | undefined; onServer?: (report: ServerReport) => void } = {},
): Promise<GenerateReport> {
  // First, so that what is gone takes no name from what is new.
  const pruned = toolbox.prune();
  const servers = await Promise.all(
    [...toolbox.config.servers.keys()].map(async (name) => {
      const report = await generateServer(name, toolbox, options.signal);
      options.onServer?.(report);
      return report;
    }),
  );
  return { folder: toolbox.config.folders.registry, servers, pruned };
}

async function generateServer(name: string, toolbox: Toolbox, signal: AbortSignal | undefined): Promise<ServerReport> {
  const startedAt = performance.now();
  const durationMs = () => Math.round(performance.now() - startedAt);
  try {
    const { server, files, collisions } = await toolbox.sync(name, signal);
    const { written, removed, kept } = files;
    return { server: name, tools: server.tools.length, durationMs: durationMs(), written, removed, collisions, kept };
  } catch (error) {
    const problem = problemOf(toClaudikinsError(error));
    const nothing = { tools: 0, written: 0, removed: 0, collisions: [], kept: [] };
    return { server: name, durationMs: durationMs(), ...nothing, problem };
  }
}

function problemOf(error: ClaudikinsError): NonNullable<ServerReport["problem"]> {
  const { code, message, hint } = error;
  return { code, message, ...(hint === undefined ? {} : { hint }) };
}
