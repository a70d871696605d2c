/** Runs a program in Bun itself, which shows what the sandbox must provide too. */
import { Console } from "node:console";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, relative, resolve } from "node:path";
import { Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { parse } from "acorn";
import { transform } from "sucrase";
import type { App } from "../../src/app/app.ts";
import { bindingsFor } from "../../src/programs/bindings.ts";
import { parsedValue } from "../../src/sandbox/binding-value.ts";
import type { Bindings, BindingValue, LogEntry, Outcome, ToolUse } from "../../src/sandbox/contract.ts";
import { encode } from "../../src/sandbox/guest/values.ts";

/** The error of a failed call; code refers to it by name. */
class ToolError extends Error {
  override name = "ToolError";
}

const { constructor: AsyncFunction } = Object.getPrototypeOf(async () => {});
const nodeRequire = createRequire(import.meta.url);

type Scope = Record<string, unknown>;

/** An outcome, as far as it is known without the sandbox. */
export async function runInBun(written: string, app: App): Promise<Outcome> {
  const bindings = await bindingsFor(written, app);
  const [logs, display, tools]: [LogEntry[], unknown[], Record<string, ToolUse>] = [[], [], {}];
  const globals = namespaces(bindings, tools);
  const { console, write, flush } = captured(logs);
  const scope: Scope = {
    ...globals,
    servers: globals,
    ToolError,
    console,
    fs: { ...nodeRequire("node:fs"), ...nodeRequire("node:fs/promises") },
    display: (value: unknown) => void display.push(value),
    // Defined instead of assigned, which would change Bun's own.
    process: Object.create(process, {
      argv: { value: ["bun", "main.ts"] },
      env: { value: {} },
      stdout: { value: { write } },
      exit: { value: exit },
    }),
  };
  const before = process.cwd();
  mkdirSync(app.config.folders.workspace, { recursive: true });
  process.chdir(dirname(app.config.folders.workspace));
  const common = () => {
    flush();
    const calls = Object.values(tools).reduce((sum, use) => sum + use.calls, 0);
    return {
      logs,
      display,
      receipt: { ...emptyReceipt, calls, tools: Object.fromEntries(Object.entries(tools).sort()) },
    };
  };
  try {
    const text = encode(await resultOf(written, scope, globals));
    // Promises that are not awaited are awaited here.
    for (let quiet = 0; quiet < 3; quiet = open > 0 ? 0 : quiet + 1) await Bun.sleep(10);
    return { ok: true, value: text === undefined ? undefined : JSON.parse(text), ...common() };
  } catch (error) {
    const { name, message, code } = error as { name: string; message: string; code?: string };
    return {
      ok: false,
      reason: "threw",
      error: { name, message, stack: "", ...(code === undefined ? {} : { code }) },
      ...common(),
    };
  } finally {
    process.chdir(before);
  }
}

/** Ends the program, and not the process. */
function exit(code = 0): never {
  throw new Error(`exit ${code}`);
}

/** The number of calls without an answer. */
let open = 0;

const emptyReceipt = { id: "", durationMs: 0, failures: 0, charsIn: 0, charsOut: 0 };

async function resultOf(written: string, scope: Scope, servers: Scope): Promise<unknown> {
  const source = /^[ \t]*```[^\n]*\n([\s\S]*?)^[ \t]*```[ \t]*$/m.exec(written)?.[1] ?? written;
  const exports: Scope = {};
  const main = { exports };
  const require = Object.assign((name: string) => moduleOf(name, scope, servers), { main });
  const value = await evaluate(
    source,
    { ...scope, require, exports, module: main, __filename: "/main.ts", __dirname: "/" },
    true,
  );
  const exported = exports["default"];
  if (typeof exported === "function") return exported();
  return exported ?? value;
}

function moduleOf(name: string, scope: Scope, servers: Scope): unknown {
  const path = name.replace(/^(?:\.{1,2}\/|@\/)+/, "").replace(/(?:\/index)?(?:\.ts)?$/, "");
  const [folder, server = "", tool] = path.split("/");
  if (folder === "servers") {
    if (server === "") return { ...servers, default: servers, __esModule: true };
    const found = servers[server] as Scope;
    if (tool !== undefined) return { [tool]: found[tool], default: found[tool], __esModule: true };
    return { ...found, [server]: found, default: found, __esModule: true };
  }
  if (folder !== "skills" && folder !== "workspace") return nodeRequire(name);
  const file = resolve("workspace", path.replace(/^workspace\//, ""));
  if (name.endsWith(".json")) return { default: JSON.parse(readFileSync(file, "utf8")), __esModule: true };
  const exports: Scope = {};
  const require = (other: string) => {
    const besides = other.startsWith("./") && !/^\.\/(?:servers|skills|workspace)\b/.test(other);
    const folder = relative(resolve("workspace"), dirname(script));
    return moduleOf(besides ? `./${folder}/${other.slice(2)}` : other, scope, servers);
  };
  const script = [`${file}.ts`, `${file}/index.ts`].find((each) => existsSync(each)) ?? file;
  void evaluate(readFileSync(script, "utf8"), { ...scope, require, exports, module: {} });
  return exports;
}

/** The value of the last statement, if it is an expression, or of a `return`. */
async function evaluate(source: string, scope: Scope, isMain = false): Promise<unknown> {
  const written = source
    .replace(/^#!.*/, "")
    .replaceAll(/\bimport\.meta\.main\b/g, String(isMain))
    .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(resolve("main.ts"))));
  const { code } = transform(/^\s*(?:export )?namespace /m.test(written) ? withoutTypes(written) : written, {
    transforms: ["typescript", "imports"],
    disableESTransforms: true,
  });
  const { body } = parse(code, {
    ecmaVersion: "latest",
    sourceType: "script",
    allowReturnOutsideFunction: true,
    allowAwaitOutsideFunction: true,
  });
  const last = body.at(-1);
  const whole =
    last?.type === "ExpressionStatement" ? `${code.slice(0, last.start)}return ${code.slice(last.start)}` : code;
  // In a separate function, so that it can declare a name that is also in scope.
  return new AsyncFunction(...Object.keys(scope), `return (async () => {\n${whole}\n})();`)(...Object.values(scope));
}

/** Uses Bun's transpiler for namespaces; sucrase does not support them, but keeps a `return` at the top level. */
function withoutTypes(source: string): string {
  return new Bun.Transpiler({ loader: "ts" }).transformSync(source);
}

function namespaces(bindings: Bindings, tools: Record<string, ToolUse>): Scope {
  const call = async (namespace: string, name: string, args: unknown, raw: boolean) => {
    const id = `${namespace}.${name}`;
    open += 1;
    if (namespace !== "") tools[id] ??= { calls: 0, failures: 0, durationMs: 0, resultChars: 0 };
    if (tools[id]) tools[id].calls += 1;
    try {
      const given = (args ?? {}) as Record<string, unknown>;
      const { signal } = new AbortController();
      const value = plain(await bindings.call({ namespace, name, args: given, group: "tools", raw }, { signal }));
      return namespace === "" && name === "search" ? (value as { found: unknown }).found : value;
    } catch (error) {
      if (tools[id]) tools[id].failures += 1;
      const { message, code } = error as { message: string; code?: string };
      throw Object.assign(new ToolError(message), { code });
    } finally {
      open -= 1;
    }
  };
  const functionOf = (namespace: string, name: string) =>
    Object.assign((args?: unknown) => call(namespace, name, args, false), {
      raw: (args?: unknown) => call(namespace, name, args, true),
    });
  const found: Scope = {};
  for (const { name, jsName, functions } of bindings.namespaces) {
    const members: Scope = {};
    for (const each of functions === "any" ? [] : functions) {
      members[each.name] = functionOf(name, each.name);
      if (each.jsName !== undefined) members[each.jsName] = functionOf(name, each.name);
    }
    found[jsName ?? name] = members;
  }
  const namesOf = (id: string) => [id.split("__")[0] ?? "", id.split("__").slice(1).join("__")] as const;
  return {
    ...found,
    tools: Object.fromEntries(
      ["search", "describe", "list"].map((name) => [
        name,
        (value: unknown) => call("", name, listed(name, value), false),
      ]),
    ),
    __mcp_call: (id: string, args: unknown) => call(...namesOf(id), args, false),
    callTool: (server: string, tool: string, args: unknown) => call(server, tool, args, false),
  };
}

const listed = (name: string, value: unknown) => ({ [{ search: "query", describe: "id" }[name] ?? "server"]: value });

function plain(value: BindingValue): unknown {
  if (!("blocks" in value)) return parsedValue(value);
  const blocks = JSON.parse(value.blocks) as Scope[];
  const hidden = (of: unknown) => ({ value: of, enumerable: false });
  const first = (key: string) => blocks.find((block) => block[key] !== undefined)?.[key];
  return Object.defineProperties(blocks, {
    content: hidden(blocks),
    ...Object.fromEntries(["data", "mimeType", "text"].map((key) => [key, hidden(first(key))])),
  });
}

/** Everything that is logged, without levels. */
function captured(logs: LogEntry[]) {
  let partial = "";
  const write = (text: unknown) => {
    partial += String(text);
    return true;
  };
  const stream = () =>
    new Writable({
      write(chunk, _, done) {
        flush();
        logs.push({ level: "log", text: String(chunk).replace(/\n$/, "") });
        done();
      },
    });
  const flush = () => {
    if (partial !== "") logs.push({ level: "log", text: partial.replace(/\n$/, "") });
    partial = "";
  };
  const inspectOptions = { breakLength: 100, compact: 8, depth: 4 };
  return { console: new Console({ stdout: stream(), stderr: stream(), inspectOptions }), write, flush };
}
