/** Stores the observed shapes of results in one file beside the index. */
import { join } from "node:path";
import { readIfThere, writeWhenChanged } from "../../base/files.ts";
import { parsedJson } from "../../base/json-object.ts";
import { isNewer } from "../../base/newer.ts";
import type { RegistryServer, RegistryTool } from "../model.ts";
import type { Observed } from "./observe.ts";
import { bounded, merge, readShape, type Shape, shownShape } from "./shape.ts";

export const observedFileName = "observed.json";

/** The lock of the file. It stays, empty, when it is released. */
export const observedLockName = ".observed.lock";

const form = 1;

/** Shapes by server and tool. They are valid for one config entry and one schema of arguments. */
export type AllObserved = Map<string, { fingerprint: string; tools: Map<string, ObservedTool> }>;

interface ObservedTool {
  /** Identifies the schema of the arguments. */
  stamp: string;
  shape: Shape;
}

/** Empty if the file is missing or unreadable: its shapes will be observed again. */
export function readObserved(folder: string): AllObserved {
  const all: AllObserved = new Map();
  try {
    const { version, servers } = JSON.parse(readIfThere(join(folder, observedFileName)) ?? "{}");
    if (version !== form) return all;
    for (const { name, fingerprint, tools } of servers) {
      all.set(name, { fingerprint, tools: new Map(tools.map((tool: StoredTool) => [tool.name, readTool(tool)])) });
    }
  } catch {
    all.clear();
  }
  return all;
}

interface StoredTool extends ObservedTool {
  name: string;
}

function readTool({ stamp, shape }: StoredTool): ObservedTool {
  return { stamp: String(stamp), shape: readShape(shape) };
}

/** Writes sorted, so that the file changes only with new shapes. A newer version's file stays. Throws FILE_NOT_WRITABLE. */
export function writeObserved(folder: string, all: AllObserved): void {
  const path = join(folder, observedFileName);
  if (isNewer(parsedJson(readIfThere(path) ?? ""), form)) return;
  const servers = sorted(all).map(([name, { fingerprint, tools }]) => ({
    name,
    fingerprint,
    tools: sorted(tools).map(([tool, { stamp, shape }]) => ({ name: tool, stamp, shape })),
  }));
  const lines = servers.map((server) => JSON.stringify(server));
  writeWhenChanged(path, `{"version":1,"servers":[\n${lines.join(",\n")}\n]}\n`);
}

/** Forgets tools that the servers no longer have. Throws FILE_NOT_WRITABLE. */
export function hideObserved(folder: string, servers: readonly RegistryServer[]): void {
  const all = readObserved(folder);
  for (const { name, tools } of servers) {
    const names = new Set(tools.map((tool) => tool.name));
    const seen = all.get(name)?.tools;
    for (const tool of seen?.keys() ?? []) if (!names.has(tool)) seen?.delete(tool);
  }
  if (all.size > 0) writeObserved(folder, all);
}

function sorted<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * Adds the observed shapes to the server's tools, if they are still valid. A tool without a shape gets the shape of the same tool of a twin:
 * another entry of the same server.
 */
export function applyObserved(server: RegistryServer, all: AllObserved, twins: readonly string[] = []): void {
  const known = all.get(server.name);
  const own = known?.fingerprint === server.fingerprint ? [known] : [];
  const shapes = [...own, ...twins.flatMap((twin) => all.get(twin) ?? [])];
  for (const tool of server.tools) {
    const found = shapes.flatMap(({ tools }) => tools.get(tool.name) ?? []).find((each) => isOf(each, tool));
    if (found) tool.observed = { ...shownShape(found.shape) };
    else delete tool.observed;
  }
}

/** The shape of one result of a tool. */
export interface LearnedShape extends Observed {
  server: RegistryServer;
  tool: RegistryTool;
}

/** The shape of a tool's results, if the tool has it. */
export function knownShapeOf(
  { server, tool }: Pick<LearnedShape, "server" | "tool">,
  all: AllObserved,
): Shape | undefined {
  const before = all.get(server.name);
  const known = before?.fingerprint === server.fingerprint ? before.tools.get(tool.name) : undefined;
  return known && tool.observed && isOf(known, tool) ? known.shape : undefined;
}

/** Whether adding the shape would change nothing. */
export function isKnownShape(learned: LearnedShape, all: AllObserved): boolean {
  const known = knownShapeOf(learned, all);
  return (
    known !== undefined && JSON.stringify(bounded(merge(known, learned.shape, learned.part))) === JSON.stringify(known)
  );
}

/** Adds a shape. Drops shapes of an older config entry and of removed tools. */
export function addObserved({ server, tool, shape, part }: LearnedShape, all: AllObserved): void {
  const before = all.get(server.name);
  const kept = before?.fingerprint === server.fingerprint ? [...before.tools] : [];
  const tools = new Map(
    kept.filter(([name, found]) => server.tools.some((each) => each.name === name && isOf(found, each))),
  );
  const known = tools.get(tool.name);
  tools.set(tool.name, { stamp: stampOf(tool), shape: bounded(known ? merge(known.shape, shape, part) : shape) });
  all.set(server.name, { fingerprint: server.fingerprint, tools });
}

function isOf({ stamp }: ObservedTool, tool: RegistryTool): boolean {
  return stamp === stampOf(tool);
}

/** By input schema, which does not change. Each observed result needs the stamps of all tools of its server. */
const stamps = new WeakMap<object, string>();

function stampOf({ inputSchema }: RegistryTool): string {
  let stamp = stamps.get(inputSchema);
  if (stamp === undefined) {
    stamp = Bun.hash(JSON.stringify(inputSchema)).toString(36);
    stamps.set(inputSchema, stamp);
  }
  return stamp;
}
