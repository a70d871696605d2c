/** `setup`: the steps before the first use. Steps that are already done are skipped. */
import { existsSync } from "node:fs";
import { type AgentFile, type FileChange, install } from "../agents/skill-files.ts";
import type { Problem } from "../catalog/ask-all.ts";
import type { ToolCatalog } from "../catalog/tool-catalog.ts";
import type { Pool } from "../clients/pool.ts";
import type { Config } from "../config/load.ts";
import { toClaudikinsError } from "../errors.ts";
import { makeFolder } from "../files.ts";
import { writeBridge } from "../registry/bridge.ts";
import { differencesOf } from "../registry/differences.ts";
import { makeExecutable, notExecutable } from "../registry/executables.ts";
import { generate } from "./generate.ts";

export type Step =
  | { step: "folder"; name: "registry" | "workspace"; path: string; result: Result; problem?: Problem }
  | { step: "tools"; server: string; result: Result; tools?: number; problem?: Problem }
  | { step: "executable"; path: string; result: Result; problem?: Problem }
  | { step: "skill"; path: string; result: Result; problem?: Problem };

/** `to do` is what a run without `--dry-run` would do. */
export type Result = "done" | "unchanged" | "to do" | "failed";

interface Parts {
  catalog: ToolCatalog;
  pool: Pool;
}

export interface SetupOptions {
  dryRun: boolean;
  /** Whether servers may be started to ask for their tools. */
  withServers: boolean;
  /** The files that get the skill; empty if it was not requested. */
  skillFiles: readonly AgentFile[];
  signal: AbortSignal;
  onServer?: (name: string) => void;
}

/** A step that fails is reported and stops only the steps that need it. */
export async function setUp(parts: Parts, options: SetupOptions): Promise<Step[]> {
  const folders = makeFolders(parts.catalog.config, options);
  const hasRegistry = folders.every((step) => step.name !== "registry" || step.result !== "failed");
  const tools = options.withServers && hasRegistry ? await learnTools(parts, options) : [];
  return [...folders, ...tools, ...allowStarts(parts.catalog, options), ...writeSkills(options)];
}

type FolderStep = Extract<Step, { step: "folder" }>;

function makeFolders(config: Config, { dryRun }: SetupOptions): FolderStep[] {
  return (["registry", "workspace"] as const).map((name): FolderStep => {
    const path = config.folders[name];
    const about = { step: "folder", name, path } as const;
    if (existsSync(path)) return { ...about, result: "unchanged" };
    if (dryRun) return { ...about, result: "to do" };
    try {
      makeFolder(path);
      return { ...about, result: "done" };
    } catch (thrown) {
      return { ...about, result: "failed", problem: problemOf(thrown) };
    }
  });
}

/** The servers that have to be asked for their tools. */
export function serversToAsk(catalog: ToolCatalog): string[] {
  const { registry } = catalog.config.folders;
  const unknown = new Set(catalog.missingServers());
  return [...catalog.config.servers.values()].flatMap(({ name, needs }) => {
    const known = catalog.findWithDenied(name);
    const isWhole = known !== undefined && differencesOf(registry, known, undefined).length === 0;
    return needs.length > 0 || (!unknown.has(name) && (isWhole || !known)) ? [] : [name];
  });
}

async function learnTools(parts: Parts, { dryRun, signal, onServer }: SetupOptions): Promise<Step[]> {
  const { catalog } = parts;
  const names = serversToAsk(catalog);
  if (dryRun) return names.map((server): Step => ({ step: "tools", server, result: "to do" }));
  if (names.length === 0) {
    if (catalog.index.servers.length > 0) writeBridge(catalog.config.folders.registry);
    return [];
  }
  const { servers } = await generate(parts, { only: names, signal, onServer });
  return servers.map(
    ({ server, tools, problem }): Step =>
      problem ? { step: "tools", server, result: "failed", problem } : { step: "tools", server, result: "done", tools },
  );
}

function allowStarts({ config, index }: ToolCatalog, { dryRun }: SetupOptions): Step[] {
  return notExecutable(config.folders.registry, index.servers).map((path): Step => {
    if (dryRun) return { step: "executable", path, result: "to do" };
    try {
      makeExecutable(path);
      return { step: "executable", path, result: "done" };
    } catch (thrown) {
      return { step: "executable", path, result: "failed", problem: problemOf(thrown) };
    }
  });
}

function writeSkills({ skillFiles, dryRun }: SetupOptions): Step[] {
  return install(skillFiles, { force: false, dryRun }).map((change): Step => {
    const { path, error } = change;
    if (error) return { step: "skill", path, result: "failed", problem: problemOf(error) };
    return { step: "skill", path, result: resultOf(change, dryRun) };
  });
}

function resultOf({ result }: FileChange, dryRun: boolean): Result {
  if (result === "unchanged") return "unchanged";
  return dryRun ? "to do" : "done";
}

function problemOf(thrown: unknown): Problem {
  const { code, message, hint } = toClaudikinsError(thrown);
  return { code, message, ...(hint === undefined ? {} : { hint }) };
}
