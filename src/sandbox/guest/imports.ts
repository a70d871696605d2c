/** Implements `import` and `require`: servers as modules, skills of the workspace, generated files, and some modules of Node. */
import { ToolError } from "./calls.ts";
import { host } from "./host.ts";
import { nodeModules } from "./modules.ts";
import { callTool, serverCalled, servers } from "./namespaces.ts";
import { readFile } from "./node/fs-operations.ts";

type Module = Record<string, unknown>;

const moduleOf = (members: object): Module => Object.assign(Object.create(null), members);

/** Runs the code of a module, which adds its exports to the given object. */
type ModuleBody = (exports: Module) => Promise<unknown>;

const skills = new Map<string, Promise<Module>>();
const builtins = new Map<string, Module>();
/** Pending loads by their number. Each has the stack of its import, where its failure is shown. */
const waiting = new Map<number, PromiseWithResolvers<ModuleBody> & { stack: string }>();
let lastLoad = 0;

/** Imports a module. `names` are the names that the program imports from it. Throws ToolError if one of them does not exist. */
export async function importModule(specifier: unknown, names: readonly string[] = []): Promise<Module> {
  const path = plainPath(specifier);
  const skill = skillOf(path);
  const module =
    skill !== undefined
      ? await loadModule(skill, path)
      : isElsewhere(specifier, path)
        ? await loadFromPath(specifier, path)
        : loadedModule(specifier);
  for (const name of names) {
    if (name in module) continue;
    const known = Object.keys(module).filter((key) => key !== "default");
    throw new ToolError({
      code: path.startsWith("servers/") ? "TOOL_NOT_FOUND" : "EXPORT_NOT_FOUND",
      message: `${JSON.stringify(specifier)} has no export "${name}"`,
      hint: `It has: ${known.slice(0, 40).join(", ") || "none"}`,
    });
  }
  return module;
}

/**
 * Implements `require`. It handles everything that needs no loading, which excludes skills. JSON files are returned as their value.
 */
export function requireModule(specifier: unknown): unknown {
  const module = loadedModule(specifier);
  return isData(specifier) ? module["default"] : module;
}

/** Returns a module that needs no loading. */
function loadedModule(specifier: unknown): Module {
  const path = plainPath(specifier);
  const [folder, server, tool] = path.split("/");
  if (folder === "servers") return serverModule(server, tool);
  if (isData(specifier)) return jsonModule(path);
  const name = String(specifier).replace(/^node:/, "");
  if (path === bridgePath) return bridge;
  const known = builtins.get(name);
  if (known) return known;
  if (!Object.hasOwn(nodeModules, name)) throw notThere(specifier, path);
  const made = nodeModules[name]?.() as Module;
  const module: Module = "default" in made ? made : moduleOf({ ...made, default: made });
  builtins.set(name, module);
  return module;
}

/** The module through which generated files call tools. In the sandbox it starts no process, and no file is the main program. */
const bridgePath = "registry/_runtime/bridge";
const bridge: Module = Object.freeze(moduleOf({ call: callTool, program: () => {} }));

/** Answers a load. */
export function loaded(id: number, body: ModuleBody): void {
  waiting.get(id)?.resolve(body);
  waiting.delete(id);
}

export function loadFailed(id: number, errorJson: string): void {
  const load = waiting.get(id);
  load?.reject(Object.assign(new ToolError(JSON.parse(errorJson)), { stack: load.stack }));
  waiting.delete(id);
}

export function hasPendingLoads(): boolean {
  return waiting.size > 0;
}

/** Matches JSON files, and not packages whose name ends in `.json`. */
const isData = (specifier: unknown) => /^(?:\.{1,2}\/|\/|@\/|~\/).*\.json$/.test(String(specifier));

/** Returns whether it is a path as programs on disk write it. Only the host knows whether it leads to the registry. */
function isElsewhere(specifier: unknown, path: string): boolean {
  const isPath = /^(?:\.{1,2}\/|\/|@\/|~\/|file:)/.test(String(specifier));
  return isPath && !isData(specifier) && path !== bridgePath && !/^(?:servers|skills|workspace)(?:\/|$)/.test(path);
}

async function loadFromPath(specifier: unknown, path: string): Promise<Module> {
  try {
    return await loadModule(`path:${specifier}`, path);
  } catch (error) {
    throw isNotInRegistry(error) ? notThere(specifier, path) : error;
  }
}

function isNotInRegistry(error: unknown): boolean {
  return error instanceof ToolError && error.code === "NOT_IN_REGISTRY";
}

/** Returns the path of a module of the workspace or the registry, relative to `./workspace/skills`. */
function skillOf(path: string): string | undefined {
  if (path.endsWith(".json") || path === bridgePath) return undefined;
  if (path.startsWith("registry/")) return `../../${path}`;
  const [, skill] = /^(?:workspace\/)?skills\/(.+)$/.exec(path) ?? [];
  if (skill !== undefined) return skill;
  const [, other] = /^workspace\/(.+)$/.exec(path) ?? [];
  return other === undefined ? undefined : `../${other}`;
}

/** Returns a JSON file as a module with its value as the default export. The members of an object are exports as well. */
function jsonModule(path: string): Module {
  const text = readFile(/^(?:workspace|registry)\//.test(path) ? `./${path}` : `./workspace/${path}`, "utf8");
  const value = JSON.parse(String(text));
  const members = typeof value === "object" && !Array.isArray(value) ? value : {};
  return moduleOf({ ...members, default: value });
}

async function loadModule(skill: string, path: string): Promise<Module> {
  try {
    return await (skills.get(skill) ?? loadSkill(skill));
  } catch (error) {
    if (isNotInRegistry(error)) throw error;
    // A tool that the config denies has no generated file. Its call explains why.
    const isGenerated = path.startsWith("registry/") || skill.startsWith("path:");
    const [, server = "", tool = ""] = (isGenerated && /\/([^/]+)\/([^/]+)$/.exec(path)) || [];
    const found = servers[server];
    if (!found || !(tool in found)) throw error;
    return moduleOf({ [tool]: found[tool], default: found[tool] });
  }
}

function loadSkill(name: string): Promise<Module> {
  const id = ++lastLoad;
  const load = { ...Promise.withResolvers<ModuleBody>(), stack: String(new Error().stack) };
  waiting.set(id, load);
  host.load(id, name);
  const module = load.promise.then(async (body) => {
    const exports: Module = Object.create(null);
    await body(exports);
    return exports;
  });
  skills.set(name, module);
  // A skill that could not be loaded may be written later and imported again.
  module.catch(() => skills.delete(name));
  return module;
}

function serverModule(server: string | undefined, tool: string | undefined): Module {
  if (server === undefined) return moduleOf({ ...servers, default: servers });
  const found = serverCalled(server);
  const module: Module = new Proxy(Object.create(null), {
    get: (_, key) => (key === "default" || key === server ? found : Reflect.get(found, key)),
    has: (_, key) => key === "default" || key === server || Reflect.has(found, key),
    ownKeys: () => Object.keys(found),
    getOwnPropertyDescriptor: (_, key) => ({ value: Reflect.get(found, key), enumerable: true, configurable: true }),
  });
  if (tool === undefined) return module;
  if (!(tool in found)) throw new ToolError({ code: "TOOL_NOT_FOUND", message: `${server} has no tool "${tool}"` });
  return moduleOf({ [tool]: found[tool], default: found[tool] });
}

/** Normalises a path: `./servers/demo/index.ts`, `@/servers/demo` and `/servers/demo` are the same. */
function plainPath(specifier: unknown): string {
  return String(specifier)
    .replace(/^(?:\.{1,2}\/|\/|@\/|~\/)+/, "")
    .replace(/\.(?:[cm]?[jt]s)$/, "")
    .replace(/\/index$/, "");
}

function notThere(specifier: unknown, path: string): Error {
  if (/^(?:(?:workspace\/)?skills|registry)\//.test(path)) {
    const hint = `Write: const { … } = await import(${JSON.stringify(specifier)})`;
    return new ToolError({
      code: "MODULE_NOT_FOUND",
      message: `A ${path.startsWith("registry/") ? "generated file" : "skill"} cannot be loaded with require`,
      hint,
    });
  }
  return new ToolError({
    code: "MODULE_NOT_FOUND",
    message: `There is no module ${JSON.stringify(specifier)}`,
    hint: `Available: ./servers/<server>, ./skills/<name>, ./registry/<category>/<server>/<tool>.ts, and the Node modules ${Object.keys(nodeModules).sort().join(", ")}. There are no other packages and no network.`,
  });
}
