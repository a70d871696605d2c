/** Implements `import` and `require`: servers as modules, skills of the workspace, generated files, and some modules of Node. */
import { ToolError } from "./calls.ts";
import { host } from "./host.ts";
import { nodeModules } from "./modules.ts";
import { callTool, serverCalled, servers, toolCalled } from "./namespaces.ts";
import { operations } from "./node/fs-operations.ts";

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
  const file = fileOf(specifier, path);
  const module = file === undefined ? loadedModule(specifier) : await loadModule(file, specifier, path);
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
  if (path === bridgePath) return bridge;
  const name = String(specifier).replace(/^node:/, "");
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

/**
 * Returns the name of a module that the host loads: its path from `./workspace/skills`, or `path:` and a path as programs on disk
 * write it. Only the host knows whether such a path leads to the registry.
 */
function fileOf(specifier: unknown, path: string): string | undefined {
  if (path.endsWith(".json") || path === bridgePath) return undefined;
  if (path.startsWith("registry/")) return `../../${path}`;
  const [, skill, other] = /^(?:workspace\/)?skills\/(.+)$|^workspace\/(.+)$/.exec(path) ?? [];
  if (skill !== undefined) return skill;
  if (other !== undefined) return `../${other}`;
  const isPath = /^(?:\.{1,2}\/|\/|@\/|~\/|file:)/.test(String(specifier));
  return isPath && !/^(?:servers|skills|workspace)(?:\/|$)/.test(path) ? `path:${specifier}` : undefined;
}

/** Returns a JSON file as a module with its value as the default export. The members of an object are exports as well. */
function jsonModule(path: string): Module {
  const file = /^(?:workspace|registry)\//.test(path) ? path : `workspace/${path}`;
  const value = JSON.parse(String(operations.readFile(`./${file}`, "utf8")));
  const members = typeof value === "object" && !Array.isArray(value) ? value : {};
  return moduleOf({ ...members, default: value });
}

async function loadModule(file: string, specifier: unknown, path: string): Promise<Module> {
  try {
    return await (skills.get(file) ?? loadFile(file));
  } catch (error) {
    if (error instanceof ToolError && error.code === "NOT_IN_REGISTRY") throw notThere(specifier, path);
    // A tool that the config denies has no generated file. Its call explains why.
    const isGenerated = path.startsWith("registry/") || file.startsWith("path:");
    const [, server = "", tool = ""] = (isGenerated && /\/([^/]+)\/([^/]+)$/.exec(path)) || [];
    const found = servers[server];
    if (!found || !(tool in found)) throw error;
    return toolModule(tool, found[tool]);
  }
}

function loadFile(file: string): Promise<Module> {
  const id = ++lastLoad;
  const load = { ...Promise.withResolvers<ModuleBody>(), stack: String(new Error().stack) };
  waiting.set(id, load);
  host.load(id, file);
  const module = load.promise.then(async (body) => {
    const exports = moduleOf({});
    await body(exports);
    return exports;
  });
  skills.set(file, module);
  // A skill that could not be loaded may be written later and imported again.
  module.catch(() => skills.delete(file));
  return module;
}

const toolModule = (tool: string, found: unknown) => moduleOf({ [tool]: found, default: found });

function serverModule(server: string | undefined, tool: string | undefined): Module {
  if (server === undefined) return moduleOf({ ...servers, default: servers });
  if (tool !== undefined) return toolModule(tool, toolCalled(server, tool));
  const found = serverCalled(server);
  return new Proxy(Object.create(null), {
    get: (_, key) => (key === "default" || key === server ? found : Reflect.get(found, key)),
    has: (_, key) => key === "default" || key === server || Reflect.has(found, key),
    ownKeys: () => Object.keys(found),
    getOwnPropertyDescriptor: (_, key) => ({ value: Reflect.get(found, key), enumerable: true, configurable: true }),
  });
}

/** Normalises a path: `./servers/demo/index.ts`, `@/servers/demo` and `/servers/demo` are the same. */
function plainPath(specifier: unknown): string {
  return String(specifier)
    .replace(/^(?:\.{1,2}\/|\/|@\/|~\/)+/, "")
    .replace(/\.(?:[cm]?[jt]s)$/, "")
    .replace(/\/index$/, "");
}

function notThere(specifier: unknown, path: string): Error {
  const name = JSON.stringify(specifier);
  const error = (message: string, hint: string) => new ToolError({ code: "MODULE_NOT_FOUND", message, hint });
  if (/^(?:(?:workspace\/)?skills|registry)\//.test(path)) {
    const kind = path.startsWith("registry/") ? "generated file" : "skill";
    return error(`A ${kind} cannot be loaded with require`, `Write: const { … } = await import(${name})`);
  }
  return error(
    `There is no module ${name}`,
    `Available: ./servers/<server>, ./skills/<name>, ./registry/<category>/<server>/<tool>.ts, and the Node modules ${Object.keys(nodeModules).sort().join(", ")}. There are no other packages and no network.`,
  );
}
