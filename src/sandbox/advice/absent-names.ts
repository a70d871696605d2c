/** What programs of other places take for granted and is not in here, each with what to use instead. */

export const noNetwork =
  "There is no network in here, only the tools of the servers: their keys and addresses are in their own config.";
export const keysElsewhere = "Addresses and keys are in the servers' own config.";
const noProcess = "There are no other processes and no shell in here: call a tool of a server.";
const noPage = "There is no page and no browser in here.";
const noPerson = "Nobody can be asked in here: put the answer into the code, or return the question.";
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
  Deno: { why: 'Neither Deno nor Bun: files are in fs, await fs.readFile("./workspace/name", "utf8").' },
  Bun: { why: 'Neither Deno nor Bun: files are in fs, await fs.readFile("./workspace/name", "utf8").' },
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
  _: { why: `There is no lodash in here. ${useArrays}` },
  moment: { why: `There is no moment in here. ${useDate}` },
  dayjs: { why: `There is no dayjs in here. ${useDate}` },
  exports: { why: "Write export in front of what a skill gives: export function name() { … }" },
  $: { why: noPage },
  search_tools: { why: 'In the code it is: await tools.search("words").' },
  list_tools: { why: 'In the code it is: await tools.list("server"), or await tools.search("words").' },
  execute_code: { why: "This is the code already: call the tools in it, await server.tool({ … })." },
  mcp: { why: "A tool is called as server.tool: await demo.name({ … }), with the server's own name." },
};

const modules: [RegExp, Absent][] = [
  [
    /^(?:axios|node-fetch|got|ky|undici|superagent|request|cross-fetch|https?|http2|net|tls|dns|ws)$/,
    { why: noNetwork, tool: true },
  ],
  [/^(?:child_process|cluster|worker_threads|execa|shelljs|zx)$/, { why: noProcess }],
  [
    /^(?:pg|mysql2?|mongodb|mongoose|redis|ioredis|sqlite3?|better-sqlite3|knex|prisma|@prisma\/.*|sequelize|bun:sqlite)$/,
    { why: "There is no database and no network in here: call a tool of a server.", tool: true },
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
