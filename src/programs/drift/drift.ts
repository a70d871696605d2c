/** Which saved programs of a config and of its doors would break with the tools of their servers as they are now. */
import { counted } from "../../base/counted.ts";
import { savedProgramsOf } from "../../config/saved-programs-place.ts";
import { ProgramLibrary } from "../saved/library.ts";
import { checkPrograms } from "./check.ts";
import type { Reason } from "./contract.ts";
import { CurrentTools, type ToolsAround } from "./current.ts";

export interface BrokenProgram {
  name: string;
  door: string | undefined;
  reasons: Reason[];
}

export interface Drift {
  /** All saved programs. */
  total: number;
  broken: BrokenProgram[];
}

export interface DriftOptions {
  /** Only what these servers do to programs. Default: all servers. */
  servers?: readonly string[] | undefined;
  /** The only tools that count, by their ids. Default: all tools of these servers. */
  tools?: ReadonlySet<string> | undefined;
  signal?: AbortSignal | undefined;
}

/** Whether there is a program or a recording. Reads nothing else. */
export function hasPrograms({ config }: Pick<ToolsAround, "config">): boolean {
  const { documents, mark } = config.savedPrograms;
  return documents.areKnown && documents.read(mark) !== undefined;
}

/** Throws the reason of the signal. */
export async function driftOf(
  around: ToolsAround,
  { servers, tools: changed, signal }: DriftOptions = {},
): Promise<Drift> {
  const drift: Drift = { total: 0, broken: [] };
  if (!hasPrograms(around)) return drift;
  const { config, env } = around;
  const tools = await CurrentTools.of(around, servers);
  for (const door of [undefined, ...config.doors]) {
    const place = savedProgramsOf(config.origin, env, door);
    const programs = new ProgramLibrary(place).readable();
    drift.total += programs.length;
    const isUsed = (id: string) => (changed ? changed.has(id) : !servers || isOf(id, servers));
    const calling = servers ? programs.filter(({ calls }) => calls.some(isUsed)) : programs;
    for (const { name, reasons } of await checkPrograms(calling, { place, tools, signal })) {
      // A test that fails by itself is not the doing of a server.
      const found = servers ? reasons.filter(({ recording }) => recording === undefined) : reasons;
      if (found.length > 0) drift.broken.push({ name, door, reasons: found });
    }
  }
  return drift;
}

/** Whether a tool is of one of the servers. */
function isOf(id: string, servers: readonly string[]): boolean {
  return servers.some((server) => id.startsWith(`${server}.`));
}

/** `2 of 31 saved programs would break`. */
export function driftText({ total, broken }: Drift): string {
  if (total === 0) return "No program is saved yet";
  return `${broken.length} of ${counted(total, "saved program")} would break`;
}

/** `report`, or `report (door qa)`. */
export function programText({ name, door }: BrokenProgram): string {
  return door === undefined ? name : `${name} (door ${door})`;
}
