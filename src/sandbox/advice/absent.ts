/**
 * What programs take for granted and the sandbox does not have: the network, the environment, packages, other
 * globals.
 */
import type { ImportDeclaration, Literal, Node } from "acorn";
import { isCall, isMember, propertyName } from "../ast/nodes.ts";
import { candidates, objectName, wordsOf } from "../ast/tool-names.ts";
import type { Tree } from "../ast/tree.ts";
import { lines, toolsFor } from "./suggested-tools.ts";
import type { Advice, Failing, Surroundings } from "./surroundings.ts";

const noNetwork =
  "The sandbox has no network, only the servers' tools. Keys and addresses are in the servers' own config.";
const keysElsewhere = "Addresses and keys are in the servers' own config.";
const noProcess = "The sandbox has no shell and no other processes: call a server's tool.";
const noPage = "The sandbox has no browser and no page.";
const noPerson = "The sandbox cannot ask the user: put the answer in the code, or return the question.";
const useDate = "Use Date and Intl: new Date(text), date.toISOString(), new Intl.DateTimeFormat(…).";
const useArrays = "Use the methods of arrays and objects: map, filter, reduce, Object.groupBy, toSorted.";
const python = (instead: string) => `This is Python; TypeScript is expected: write ${instead}.`;

interface Absent {
  why: string;
  /** Whether a tool may do the same. */
  tool?: boolean;
}

const names: Record<string, Absent> = {
  __proto__: null as never,
  axios: { why: noNetwork, tool: true },
  got: { why: noNetwork, tool: true },
  ky: { why: noNetwork, tool: true },
  requests: { why: noNetwork, tool: true },
  httpx: { why: noNetwork, tool: true },
  Deno: { why: 'This is neither Deno nor Bun. Read files with fs: await fs.readFile("./workspace/name", "utf8").' },
  Bun: { why: 'This is neither Deno nor Bun. Read files with fs: await fs.readFile("./workspace/name", "utf8").' },
  window: { why: `${noPage} Globals are in globalThis.` },
  document: { why: noPage },
  localStorage: { why: `${noPage} Keep data in a file: await fs.writeFile("./workspace/name.json", text).` },
  sessionStorage: { why: `${noPage} Keep data in a file: await fs.writeFile("./workspace/name.json", text).` },
  navigator: { why: noPage },
  alert: { why: `${noPage} Use console.log.` },
  prompt: { why: noPerson },
  confirm: { why: noPerson },
  input: { why: noPerson },
  print: { why: python("console.log") },
  len: { why: python("list.length") },
  range: { why: python("for (let i = 0; i < n; i++)") },
  str: { why: python("String(value)") },
  int: { why: python("Number(value)") },
  sum: { why: python("list.reduce((sum, each) => sum + each, 0)") },
  sorted: { why: python("list.toSorted((a, b) => a - b)") },
  True: { why: python("true") },
  False: { why: python("false") },
  None: { why: python("null") },
  json: { why: "Write JSON.parse(text) and JSON.stringify(value)." },
  sleep: { why: "Wait with: await new Promise((resolve) => setTimeout(resolve, ms))." },
  _: { why: `lodash is not available. ${useArrays}` },
  moment: { why: `moment is not available. ${useDate}` },
  dayjs: { why: `dayjs is not available. ${useDate}` },
  exports: { why: "Write export before what a skill provides: export function name() { … }" },
  $: { why: noPage },
  search_tools: { why: 'In code, call await tools.search("words").' },
  list_tools: { why: 'In code, call await tools.list("server") or await tools.search("words").' },
  execute_code: { why: "This is already the code: call tools directly, await server.tool({ … })." },
  mcp: { why: "Call a tool as server.tool, with the server's own name: await demo.name({ … })." },
};

const modules: [RegExp, Absent][] = [
  [
    /^(?:axios|node-fetch|got|ky|undici|superagent|request|cross-fetch|https?|http2|net|tls|dns|ws)$/,
    { why: noNetwork, tool: true },
  ],
  [/^(?:child_process|cluster|worker_threads|execa|shelljs|zx)$/, { why: noProcess }],
  [
    /^(?:pg|mysql2?|mongodb|mongoose|redis|ioredis|sqlite3?|better-sqlite3|knex|prisma|@prisma\/.*|sequelize|bun:sqlite)$/,
    { why: "The sandbox has no database and no network: call a server's tool.", tool: true },
  ],
  [/^(?:lodash.*|underscore|ramda)$/, { why: useArrays }],
  [/^(?:moment.*|dayjs|date-fns.*|luxon)$/, { why: useDate }],
  [/^(?:uuid|nanoid)$/, { why: "Use crypto.randomUUID()." }],
  [/^(?:readline.*|inquirer|prompts)$/, { why: noPerson }],
  [/^(?:dotenv|zlib)$/, { why: "Leave it out: keys and settings are in the servers' own config." }],
  [
    /^(?:csv-parse.*|papaparse|csv-stringify.*)$/,
    { why: 'Read CSV with split: text.trim().split("\\n").map((line) => line.split(",")).' },
  ],
  [/^@modelcontextprotocol\//, { why: "No client is needed: every server is a global, await server.tool({ … })." }],
];

export function absentName(name: string): Absent | undefined {
  return names[name];
}

function absentModule(name: string): Absent | undefined {
  const plain = name.replace(/^node:/, "");
  return modules.find(([pattern]) => pattern.test(plain))?.[1];
}

/** `fetch(…)` and the like, whose errors say that they do not exist. */
export function network({ message, at }: Failing, around: Surroundings): Advice | undefined {
  const name = /^(fetch|XMLHttpRequest|WebSocket|EventSource): There is no network/.exec(message)?.[1];
  if (!name) return undefined;
  const { tree } = around.values;
  const calls = tree.nodes.filter((node) => isCall(node) || node.type === "NewExpression");
  const here = calls.filter((node) => at !== undefined && node.start <= at && at < node.end).at(-1);
  return {
    hint: lines(keysElsewhere, ...toolsFor(here ? tree.text(here) : textsOf(tree), around)),
  };
}

/** The program failed because an environment variable is not set. */
export function environment({ name, message, hint }: Failing, around: Surroundings): Advice | undefined {
  if (hint !== undefined || name === "SyntaxError") return undefined;
  const { tree } = around.values;
  const reads = tree.nodes
    .filter(isMember)
    .filter((node) => isMember(node.object) && /^(?:process\.env|import\.meta\.env)$/.test(tree.text(node.object)));
  if (reads.length === 0) return undefined;
  const names = [...new Set(reads.flatMap((node) => propertyName(node) ?? []))];
  if (!names.some((each) => message.includes(each)) && !/env|token|key|secret|undefined|missing/i.test(message))
    return undefined;
  const calledNetwork = tree.nodes.filter(isCall).find(({ callee }) => /^(?:fetch|axios\b.*)$/.test(tree.text(callee)));
  const why = `The sandbox has no environment variables, so ${names.slice(0, 3).join(", ")} is always undefined: keys are in the servers' own config.`;
  return {
    hint: lines(
      why,
      calledNetwork && noNetwork,
      ...toolsFor(calledNetwork ? tree.text(calledNetwork) : textsOf(tree), around),
    ),
  };
}

/** A module that does not exist. Imports are loaded first, so nothing has run. */
export function missingModule({ message, code, hint }: Failing, around: Surroundings): Advice | undefined {
  if (!code || !/^(?:MODULE|EXPORT|SERVER|TOOL)_/.test(code)) return undefined;
  const { tree } = around.values;
  const imports = tree.all<ImportDeclaration>("ImportDeclaration");
  const named = imports.find(({ source }) => message.includes(JSON.stringify(source.value)));
  const skill = /no skill "(.+)"/.exec(message)?.[1];
  const here = named ?? imports.find(({ source }) => skill !== undefined && String(source.value).includes(skill));
  const specifier = here ? String(here.source.value) : (/no module "(.+)"/.exec(message)?.[1] ?? "");
  const known = code === "MODULE_NOT_FOUND" ? absentModule(specifier) : undefined;
  const words = textsOf(tree);
  const meant =
    exported(message, specifier, around) ??
    (code === "MODULE_NOT_FOUND" ? serverPackage(specifier, around) : undefined);
  const better = meant ?? (known && lines(known.why, ...(known.tool ? toolsFor(words, around) : [])));
  if (!better && !here) return undefined;
  return { hint: better ?? hint, at: here?.start };
}

/** The addresses in a program, or its short strings if it has none. */
function textsOf(tree: Tree): string {
  const texts = tree
    .all<Literal>("Literal")
    .flatMap(({ value }) => (typeof value === "string" && value.length < 200 ? [value] : []));
  const parts = tree.all<Node & { value: { raw: string } }>("TemplateElement").map(({ value }) => value.raw);
  const addresses = [...texts, ...parts].filter((text) => /^https?:/.test(text));
  return (addresses.length > 0 ? addresses : texts).join(" ");
}

/** A name that is imported from a server's module and is not one of its tools. */
function exported(message: string, specifier: string, around: Surroundings): string | undefined {
  const name = /has no (?:export|tool) "(.+)"$/.exec(message)?.[1];
  const server = /servers\/([^/]+?)(?:\/.*)?$/.exec(specifier.replace(/(?:\/index)?\.[cm]?[jt]s$/, ""))?.[1];
  const namespace = around.scope.namespaces.find((each) => each.name === server || each.jsName === server);
  if (name === undefined || !namespace || namespace.functions === "any") return undefined;
  const suggested = around.suggest(wordsOf(name), 20).filter((each) => each.server === namespace.name);
  const { names, signatures } = candidates(name, namespace.functions, suggested);
  return names.length > 0 ? lines(`Did you mean ${names.join(" or ")}?`, ...signatures) : undefined;
}

/** A server that is imported like a package. */
function serverPackage(specifier: string, { scope }: Surroundings): string | undefined {
  const parts = specifier.split(/[/:@]/);
  const found = scope.namespaces.find((each) => parts.includes(each.name) || parts.includes(each.jsName ?? each.name));
  return (
    found &&
    `${objectName(found)} is a global and needs no import: await ${objectName(found)}.tool({ … }). Its module is "./servers/${found.name}".`
  );
}
