/** Explains features that programs expect and the sandbox lacks: the network, the environment, packages, other globals. */
import { isCall, propertyName } from "../ast/nodes.ts";
import { knownNamespace } from "../ast/tool-calls.ts";
import { insteadOfTool, objectName } from "../ast/tool-names.ts";
import type { Tree } from "../ast/tree.ts";
import { type Advice, type Failing, lines, type Surroundings, toolsFor } from "./surroundings.ts";

const noNetwork =
  "The sandbox has no network, only the servers' tools. Keys and addresses are in the servers' own config.";
const keysElsewhere = "Addresses and keys are in the servers' own config.";
/** Globals and packages of other places, each with what to do here, and whether a tool may do the same. */
const absentNames: [names: RegExp, why: string, tool?: "tool"][] = [
  [/^(?:axios|node-fetch|got|ky|undici|superagent|request|cross-fetch|requests|httpx)$/, noNetwork, "tool"],
  [/^(?:https?|http2|net|tls|dns|ws)$/, noNetwork, "tool"],
  [
    /^(?:child_process|cluster|worker_threads|execa|shelljs|zx)$/,
    "The sandbox has no shell and no other processes: call a server's tool.",
  ],
  [
    /^(?:pg|mysql2?|mongodb|mongoose|redis|ioredis|sqlite3?|better-sqlite3|knex|prisma|@prisma\/.*|sequelize|bun:sqlite)$/,
    "The sandbox has no database and no network: call a server's tool.",
    "tool",
  ],
  [
    /^(?:_|lodash.*|underscore|ramda|moment.*|dayjs|date-fns.*|luxon|uuid|nanoid)$/,
    "Use the language itself: arrays, Object.groupBy, Date, Intl, crypto.randomUUID().",
  ],
  [/^(?:Headers|Request|Response|FormData)$/, noNetwork, "tool"],
  [
    /^(?:Blob|File|(?:Readable|Writable|Transform)Stream)$/,
    "Keep text in a string, and bytes in a Uint8Array or a Buffer.",
  ],
  [/^Temporal$|^@js-temporal\//, "Use Date, and Intl.DateTimeFormat with a timeZone."],
  [/^(?:Async)?DisposableStack$/, "Declare each resource with using or await using, or write try { … } finally { … }."],
  [/^(?:wait|delay)$/, "Write await sleep(milliseconds)."],
  [
    /^(?:p-limit|p-map|p-queue|p-retry|bottleneck)$/,
    "Concurrent calls are limited already: await Promise.all(list.map(async (each) => …)).",
  ],
  [/^(?:zod|yup|joi|ajv|valibot)$/, "Check values with plain code, or with node:assert."],
  [/^dotenv(?:\/.*)?$/, `The sandbox has no environment variables. ${keysElsewhere}`],
  [
    /^(?:prompts?|confirm|input|readline.*|inquirer)$/,
    "The sandbox cannot ask the user: put the answer in the code, or return the question.",
  ],
  [/^@modelcontextprotocol\//, "No client is needed: every server is a global, await server.tool({ … })."],
  [
    /^(?:Deno|Bun|window|document|navigator|localStorage|sessionStorage)$/,
    "This is neither Deno nor Bun nor a browser. Files are in fs, globals in globalThis.",
  ],
  [/^(?:print|len|range|str|int|sum|sorted|True|False|None|json)$/, "This is Python; TypeScript is expected."],
  [/^search_tools$/, 'In code, call await tools.search("words").'],
  [/^list_tools$/, 'In code, call await tools.list("server") or await tools.search("words").'],
  [/^execute_code$/, "This is already the code: call tools directly, await server.tool({ … })."],
  [/^mcp$/, "Call a tool as server.tool, with the server's own name: await server.tool({ … })."],
];

/** What to do without a global or a package; `code` tells which tools may do the same. */
export function absent(name: string, code: string, around: Surroundings): string | undefined {
  const plain = name.replace(/^node:/, "");
  const [, why, tool] = absentNames.find(([names]) => names.test(plain)) ?? [];
  return why && lines(why, ...(tool ? toolsFor(code, around) : []));
}

/** `fetch(…)` and the like, whose errors say that they do not exist. */
export function network({ message, at = -1 }: Failing, around: Surroundings): Advice | undefined {
  const { tree } = around;
  if (!/^(?:fetch|XMLHttpRequest|WebSocket|EventSource): There is no network/.test(message)) return undefined;
  const here = tree.nodes.findLast((node) => {
    return (isCall(node) || node.type === "NewExpression") && node.start <= at && at < node.end;
  });
  return { hint: lines(keysElsewhere, ...toolsFor(here ? tree.text(here) : textsOf(tree), around)) };
}

/** The program failed because an environment variable is not set. */
export function environment({ name, message, hint }: Failing, around: Surroundings): Advice | undefined {
  const { tree } = around;
  const reads = tree
    .all("MemberExpression")
    .filter(({ object }) => /^(?:process\.env|import\.meta\.env)$/.test(tree.text(object)));
  const names = [...new Set(reads.flatMap((node) => propertyName(node) ?? []))];
  const isCause =
    names.some((each) => message.includes(each)) || /env|token|key|secret|undefined|missing/i.test(message);
  if (hint !== undefined || name === "SyntaxError" || reads.length === 0 || !isCause) return undefined;
  const called = tree.all("CallExpression").find(({ callee }) => /^(?:fetch|axios\b.*)$/.test(tree.text(callee)));
  const why = `The sandbox has no environment variables, so ${names.slice(0, 3).join(", ")} is always undefined: keys are in the servers' own config.`;
  return { hint: lines(why, called && noNetwork, ...toolsFor(called ? tree.text(called) : textsOf(tree), around)) };
}

/** A module that does not exist. Imports are loaded first, so nothing has run. */
export function missingModule({ message, code, hint }: Failing, around: Surroundings): Advice | undefined {
  if (!code || !/^(?:MODULE|EXPORT|SERVER|TOOL)_/.test(code)) return undefined;
  const { tree } = around;
  const skill = /no skill "(.+)"/.exec(message)?.[1];
  const imports = tree.all("ImportDeclaration");
  const here =
    imports.find(({ source }) => message.includes(JSON.stringify(source.value))) ??
    imports.find(({ source }) => skill !== undefined && String(source.value).includes(skill));
  const specifier = here ? String(here.source.value) : (/no module "(.+)"/.exec(message)?.[1] ?? "");
  const missing = () => serverPackage(specifier, around) ?? absent(specifier, textsOf(tree), around);
  const better = exported(message, specifier, around) ?? (code === "MODULE_NOT_FOUND" ? missing() : undefined);
  return better || here ? { hint: better ?? hint, at: here?.start } : undefined;
}

/** The addresses in a program, or its short strings if it has none. */
function textsOf(tree: Tree): string {
  const texts = tree
    .all("Literal")
    .flatMap(({ value }) => (typeof value === "string" && value.length < 200 ? [value] : []));
  const parts = tree.all("TemplateElement").map(({ value }) => value.raw);
  const addresses = [...texts, ...parts].filter((text) => /^https?:/.test(text));
  return (addresses.length > 0 ? addresses : texts).join(" ");
}

/** A name that is imported from a server's module and is not one of its tools. */
function exported(message: string, specifier: string, { namespaces, suggest }: Surroundings): string | undefined {
  const name = /has no (?:export|tool) "(.+)"$/.exec(message)?.[1];
  const server = /servers\/([^/]+?)(?:\/.*)?$/.exec(specifier.replace(/(?:\/index)?\.[cm]?[jt]s$/, ""))?.[1];
  const namespace = knownNamespace(server ?? "", namespaces);
  if (name === undefined || !namespace) return undefined;
  const { text, signatures } = insteadOfTool(name, namespace, suggest);
  return lines(text, ...signatures);
}

/** A server that is imported like a package. */
function serverPackage(specifier: string, { namespaces }: Surroundings): string | undefined {
  const parts = specifier.split(/[/:@]/);
  const found = namespaces.find((each) => parts.includes(each.name) || parts.includes(each.jsName ?? each.name));
  return (
    found &&
    `${objectName(found)} is a global and needs no import: await ${objectName(found)}.tool({ … }). Its module is "./servers/${found.name}".`
  );
}
