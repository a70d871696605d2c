/** What programs of other places take for granted and is not in here, each with what to use instead. */

export const noNetwork =
  "The sandbox has no network, only the servers' tools. Keys and addresses are in the servers' own config.";
export const keysElsewhere = "Addresses and keys are in the servers' own config.";
const noProcess = "The sandbox has no shell and no other processes: call a server's tool.";
const noPage = "The sandbox has no browser and no page.";
const noPerson = "The sandbox cannot ask the user: put the answer in the code, or return the question.";
const useDate = "Use Date and Intl: new Date(text), date.toISOString(), new Intl.DateTimeFormat(…).";
const useArrays = "Use the methods of arrays and objects: map, filter, reduce, Object.groupBy, toSorted.";
const python = (instead: string) => `This is Python; TypeScript is expected: write ${instead}.`;

interface Absent {
  why: string;
  /** Whether a tool may do what it was wanted for. */
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

export function absentModule(name: string): Absent | undefined {
  const plain = name.replace(/^node:/, "");
  return modules.find(([pattern]) => pattern.test(plain))?.[1];
}
