/** `setup`: the steps before the first use. Steps that are already done are skipped. */
import { existsSync } from "node:fs";
import { type Problem, problemOf } from "../base/errors.ts";
import { makeFolder } from "../base/files.ts";
import { about, either, named, number, oneOf, problem, record, text, type ValueOf } from "../base/json-shape.ts";
import type { Config } from "../config/load.ts";
import { inRegistry, isInOwnRegistry } from "../tools/catalog/registries.ts";
import type { CatalogParts, ToolCatalog } from "../tools/catalog/tool-catalog.ts";
import { generate } from "../tools/generate.ts";
import { writeBridge } from "../tools/registry/bridge.ts";
import { writeGlobals } from "../tools/registry/globals/globals-file.ts";
import { differencesOf, makeExecutable, notExecutable } from "../tools/registry/store.ts";
import { type AgentFile, installSkills } from "./agents/skill-files.ts";

/** `to do` is what a run without `--dry-run` would do. */
const result = oneOf("done", "unchanged", "to do", "failed");
export type StepResult = ValueOf<typeof result>;

const path = { path: text, result, "problem?": problem };

export const stepShape = named(
  "Step",
  about(
    "A step that was taken; with --dry-run, a step that would be taken",
    either(
      record({ step: oneOf("folder"), name: oneOf("registry", "workspace"), ...path }),
      record({ step: oneOf("tools"), server: text, result, "tools?": number, "problem?": problem }),
      record({ step: oneOf("executable"), ...path }),
      record({ step: oneOf("skill"), ...path }),
    ),
  ),
);
export type SetupStep = ValueOf<typeof stepShape>;

interface SetupOptions {
  dryRun: boolean;
  /** Whether servers may be started to ask for their tools. */
  withServers: boolean;
  /** The files that get the skill; empty if it was not requested. */
  skillFiles: readonly AgentFile[];
  signal: AbortSignal;
  onServer?: (name: string) => void;
}

/** A step that fails is reported and stops only the steps that need it. */
export async function setUp(parts: CatalogParts, options: SetupOptions): Promise<SetupStep[]> {
  const folders = makeFolders(parts.catalog.config, options);
  const hasRegistry = folders.every((step) => step.name !== "registry" || step.result !== "failed");
  const tools = options.withServers && hasRegistry ? await learnTools(parts, options) : [];
  return [...folders, ...tools, ...allowStarts(parts.catalog, options), ...writeSkills(options)];
}

function taken(dryRun: boolean, act: () => void): { result: StepResult; problem?: Problem } {
  if (dryRun) return { result: "to do" };
  try {
    act();
    return { result: "done" };
  } catch (thrown) {
    return { result: "failed", problem: problemOf(thrown) };
  }
}

function makeFolders(config: Config, { dryRun }: SetupOptions): Extract<SetupStep, { step: "folder" }>[] {
  return (["registry", "workspace"] as const).map((name) => {
    const path = config.folders[name];
    const outcome = existsSync(path) ? ({ result: "unchanged" } as const) : taken(dryRun, () => makeFolder(path));
    return { step: "folder", name, path, ...outcome };
  });
}

/** The servers that have to be asked for their tools. */
export function serversToAsk(catalog: ToolCatalog): string[] {
  const { config } = catalog;
  const unknown = new Set(catalog.missingServers());
  return [...catalog.config.servers.values()].flatMap(({ name, needs }) => {
    const known = catalog.findWithDenied(name);
    // The files in the user's own registry follow the rules of the user's own config.
    const isWhole =
      known !== undefined &&
      (isInOwnRegistry(config, name) || differencesOf(config.folders.registry, known, undefined).length === 0);
    return needs.length > 0 || (!unknown.has(name) && (isWhole || !known)) ? [] : [name];
  });
}

async function learnTools(parts: CatalogParts, { dryRun, signal, onServer }: SetupOptions): Promise<SetupStep[]> {
  const { catalog } = parts;
  const names = serversToAsk(catalog);
  if (dryRun) return names.map((server): SetupStep => ({ step: "tools", server, result: "to do" }));
  if (names.length === 0) {
    const { config, index } = catalog;
    const { registry } = config.folders;
    if (index.servers.length > 0) {
      writeBridge(registry);
      writeGlobals(registry, inRegistry(config, registry, index.servers));
    }
    return [];
  }
  const { servers } = await generate(parts, { only: names, signal, onServer });
  return servers.map(({ server, tools, problem }): SetupStep => {
    const outcome = problem ? ({ result: "failed", problem } as const) : ({ result: "done", tools } as const);
    return { step: "tools", server, ...outcome };
  });
}

function allowStarts({ config, index }: ToolCatalog, { dryRun }: SetupOptions): SetupStep[] {
  const { registry } = config.folders;
  return notExecutable(registry, inRegistry(config, registry, index.servers)).map((path) => {
    return { step: "executable", path, ...taken(dryRun, () => makeExecutable(path)) };
  });
}

function writeSkills({ skillFiles, dryRun }: SetupOptions): SetupStep[] {
  return installSkills(skillFiles, { force: false, dryRun }).map(({ path, result, error }): SetupStep => {
    if (error) return { step: "skill", path, result: "failed", problem: problemOf(error) };
    return { step: "skill", path, result: result === "unchanged" ? result : dryRun ? "to do" : "done" };
  });
}
