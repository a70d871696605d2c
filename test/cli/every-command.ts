/** For every command, a call that succeeds, one with wrong usage, and one that fails. `every-command.slow.test.ts` runs them. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { fixture } from "../support/servers.ts";
import type { CliOptions } from "./in-memory.ts";

export interface Case {
  /** The words after the command's name. FOLDER and PORT (where something listens) are replaced. */
  argv: string[];
  /** Relative to the folder, which is HOME and the working directory. */
  files?: Record<string, object | string>;
  /** Calls that run first. CHANGE replaces one text of a file by another, and WRITE replaces the whole file. */
  before?: string[][];
  options?: Pick<CliOptions, "env" | "stdin" | "interrupted" | "answers" | "terminal">;
  /** A call waits for approval. APPROVAL is replaced by its id. */
  waits?: true;
  /** An execution with the id `keptId` has ended. */
  keeps?: true;
  /** A person called ann@example.com has signed in with the config of the folder. */
  signedIn?: true;
  /** A daemon is started, and stopped afterwards. */
  startsDaemon?: true;
  /** Requires the streams of a real process. */
  isProcess?: true;
}

export const keptId = "0t80fs9gjc4vk2q7xh9mzc3wd8rn";

export interface Cases {
  success: Case;
  usage: Case;
  /** Undefined if only wrong usage can fail. */
  failure: Case | undefined;
  /** Further cases for `--json`. */
  json?: Case[];
}

const config = (mcpServers: object) => ({ "claudikins.json": { mcpServers } });
const odd = { ...fixture("odd"), description: "Odd things" };
const working = config({ odd });
/** A model that chooses the option named in the task, and no arguments. */
const thinking = {
  "claudikins.json": {
    mcpServers: { odd },
    llm: { baseUrl: "http://127.0.0.1:LLM/v1", apiKey: "test-key-1234567", model: "m" },
  },
};
const broken = config({ odd, broken: fixture("crash-on-start") });
const network = config({ open: { url: "http://127.0.0.1:PORT/mcp" }, program: fixture("odd") });
const cursor = { ".cursor/mcp.json": { mcpServers: { odd: fixture("odd") } } };
/** claudikins is not installed there. */
const options = { env: { PATH: "/usr/bin:/bin" } };
const vault = { VAULT_ADDR: "http://127.0.0.1:VAULT", VAULT_TOKEN: "t" };
const newerRelease = { CLAUDIKINS_BASE_URL: pathToFileURL(join(import.meta.dir, "../fixtures/release")).href };
/** Its server needs a secret. */
const naming = config({ odd: { ...odd, env: { TOKEN: "${secret:TOKEN}" } } });
const withDoor = { "claudikins.json": { mcpServers: { odd }, doors: { qa: { servers: ["odd"] } } } };
const interrupted = AbortSignal.abort();
const { command, args } = fixture("odd");
const crash = fixture("crash-on-start");

/** A program that is saved as "monthly". */
const program = { "report.ts": 'return "2026-10";\n' };
const saved = [["programs", "save", "report.ts", "--name", "monthly", "month=2026-10"]];
const changed = ["programs", "save", "monthly", "--call", "demo.get_order", "--why", "orders count", "--replace"];

/** A recording with one call. */
const recording = {
  version: 1,
  startsAt: "2026-11-29T21:00:00.000Z",
  seed: "0123456789abcdef0123456789abcdef",
  servers: { odd: { name: "odd", tools: { structured: { inputSchema: { type: "object" } } } } },
  calls: [{ server: "odd", tool: "structured", arguments: {}, result: { answer: 42 }, ms: 3 }],
  output: 42,
};

export const table: Record<string, Cases> = {
  serve: {
    success: { argv: ["--http", "127.0.0.1:0"], options: { interrupted } },
    usage: { argv: ["--mode", "sideways"] },
    failure: { argv: ["--http", "127.0.0.1:PORT"] },
  },
  init: {
    success: { argv: ["--apply"], files: cursor },
    usage: { argv: ["--host", "emacs"] },
    failure: { argv: ["--no-start", "--apply"], files: { ...cursor, ".gemini/settings.json": "{" } },
    json: [
      { argv: ["--dry-run"], files: cursor },
      { argv: ["--no-start"], files: cursor },
      {
        argv: [],
        files: {
          ".cursor/mcp.json": {
            mcpServers: {
              crash,
              needs: { command: "x", env: { A: "${NOT_SET_TOKEN}" } },
              off: { command: "x", disabled: true },
            },
          },
        },
      },
    ],
  },
  restore: {
    success: { argv: [], files: cursor, before: [["init", "--apply", "--no-start"]] },
    usage: { argv: ["--force", "--servers-only"] },
    failure: {
      argv: ["--host", "cursor"],
      // The length of a path would decide how the lines of the difference are laid out.
      files: { ".cursor/mcp.json": { mcpServers: { odd: { command: "odd-server", args: ["odd"] } } } },
      before: [
        ["init", "--apply", "--no-start"],
        ["WRITE", ".cursor/mcp.json", '{ "mcpServers": { "newer": { "command": "x" } } }\n'],
      ],
    },
    json: [{ argv: ["--dry-run"], files: cursor, before: [["init", "--apply", "--no-start"]] }, { argv: [] }],
  },
  uninstall: {
    success: {
      argv: ["--yes"],
      files: { ...config({ odd }), ...cursor },
      before: [["init", "--apply", "--no-start"]],
    },
    usage: { argv: [], files: cursor, before: [["init", "--apply", "--no-start"]] },
    failure: {
      argv: ["--yes"],
      files: { ".cursor/mcp.json": { mcpServers: { odd: { command: "odd-server", args: ["odd"] } } } },
      before: [
        ["init", "--apply", "--no-start"],
        ["WRITE", ".cursor/mcp.json", '{ "mcpServers": { "newer": { "command": "x" } } }\n'],
      ],
    },
    json: [{ argv: ["--dry-run"], files: cursor, before: [["init", "--apply", "--no-start"]] }, { argv: ["--yes"] }],
  },
  add: {
    success: { argv: ["odd", "--", command, ...args], files: config({}) },
    usage: { argv: ["odd", "--", command, ...args], files: working },
    failure: { argv: ["crash", "--", crash.command, ...crash.args], files: config({}) },
    json: [
      { argv: ["github"], files: config({}) },
      { argv: ['{ "a": { "command": "x", "env": { "A": "${NOT_SET_TOKEN}" }, "gallery": true } }'], files: config({}) },
      { argv: ["far", "http://127.0.0.1:PORT/mcp", "--no-check"], files: config({}) },
    ],
  },
  "programs list": {
    success: { argv: [], files: program, before: saved },
    usage: { argv: ["monthly"] },
    failure: { argv: ["--config", "missing.json"] },
    json: [{ argv: [] }, { argv: [], files: program, before: [...saved, ["programs", "run", "monthly", "month=x"]] }],
  },
  "programs show": {
    success: { argv: ["monthly"], files: program, before: saved },
    usage: { argv: [] },
    failure: { argv: ["monthl"], files: program, before: saved },
  },
  "programs run": {
    success: { argv: ["monthly", "month=2026-11"], files: program, before: saved },
    usage: { argv: ["monthly", "--timeout", "x"] },
    failure: { argv: ["monthly", "year=2026"], files: program, before: saved },
  },
  "programs save": {
    success: { argv: ["report.ts", "--name", "monthly", "month=2026-10"], files: program },
    usage: { argv: ["report.ts"], files: program },
    failure: { argv: ["report.ts", "--name", "monthly", "month=2026-11"], files: program },
    json: [{ argv: ["monthly", "--call", "demo.get_order", "--dry-run"], files: program, before: saved }],
  },
  "programs keep": {
    success: {
      argv: ["last", "--name", "monthly", "month=2026-10", "--yes"],
      files: program,
      before: [["exec", "report.ts", "--record"]],
    },
    usage: { argv: ["last", "--matches", "output"], files: program },
    failure: { argv: ["last"] },
    json: [{ argv: ["last", "--dry-run"], files: program, before: [["exec", "report.ts", "--record"]] }],
  },
  "programs record": {
    success: { argv: ["monthly", "month=2026-11"], files: program, before: saved },
    usage: { argv: ["monthly", "--ignore", "total"], files: program, before: saved },
    failure: { argv: ["monthly", "year=2026"], files: program, before: saved },
  },
  "programs test": {
    success: { argv: ["monthly"], files: program, before: [...saved, ["programs", "record", "monthly", "month=x"]] },
    usage: { argv: [] },
    failure: {
      argv: ["--all"],
      files: { ...program, "other.ts": 'return ["2026-10"];\n' },
      before: [
        ...saved,
        ["programs", "record", "monthly", "month=x"],
        ["programs", "save", "other.ts", "--name", "monthly", "month=2026-10", "--replace"],
      ],
    },
  },
  "programs check": {
    success: { argv: ["monthly"], files: program, before: [...saved, ["programs", "record", "monthly", "month=x"]] },
    usage: { argv: [] },
    failure: {
      argv: ["--all"],
      files: { ...program, "other.ts": 'return ["2026-10"];\n' },
      before: [
        ...saved,
        ["programs", "record", "monthly", "month=x"],
        ["programs", "save", "other.ts", "--name", "monthly", "month=2026-10", "--replace"],
      ],
    },
  },
  "programs remove": {
    success: { argv: ["monthly"], files: program, before: saved },
    usage: { argv: ["monthly", "--all"] },
    failure: { argv: ["monthl"], files: program, before: saved },
  },
  "programs share": {
    success: { argv: ["monthly", "--yes"], files: program, before: saved },
    usage: { argv: ["monthly", "--of"], files: program, before: saved },
    failure: { argv: ["monthly", "--of", "ann", "--yes"], files: program, before: saved },
  },
  "programs accept": {
    success: { argv: ["monthly"], files: program, before: saved },
    usage: { argv: [] },
    failure: { argv: ["monthl"] },
  },
  "programs history": {
    success: { argv: ["monthly"], files: program, before: [...saved, changed] },
    usage: { argv: ["monthly", "two"], files: program, before: saved },
    failure: { argv: ["monthly", "3"], files: program, before: saved },
    json: [{ argv: ["monthly", "2"], files: program, before: [...saved, changed] }],
  },
  "programs back": {
    success: { argv: ["monthly", "1", "--replace"], files: program, before: [...saved, changed] },
    usage: { argv: ["monthly"], files: program, before: saved },
    failure: { argv: ["monthly", "1"], files: program, before: [...saved, changed] },
  },
  "programs add": {
    success: { argv: ["--help"] },
    usage: { argv: ["https://example.com/programs"] },
    failure: { argv: ["file:///nowhere@5f1c0de8a1b0a7f3c9d2e4b6a8c0d2e4f6a8b0c2"] },
  },
  "programs export": {
    success: { argv: ["monthly", "--to", "out"], files: program, before: saved },
    usage: { argv: ["--all"] },
    failure: { argv: ["monthl"] },
  },
  "programs schedule": {
    success: {
      argv: ["monthly", "--cron", "0 8 * * *", "--zone", "UTC", "month=2026-11"],
      files: program,
      before: saved,
    },
    usage: { argv: ["monthly"], files: program, before: saved },
    failure: { argv: ["monthl", "--cron", "0 8 * * *"], files: program, before: saved },
  },
  "programs unschedule": {
    success: {
      argv: ["monthly"],
      files: program,
      before: [...saved, ["programs", "schedule", "monthly", "--cron", "0 8 * * *", "month=x"]],
    },
    usage: { argv: ["monthly", "--all"] },
    failure: { argv: ["monthl"] },
  },
  "programs on": {
    success: {
      argv: ["yearly", "--after", "monthly", "--if", "done", "month=2026-11"],
      files: program,
      before: [...saved, ["programs", "save", "report.ts", "--name", "yearly", "month=2026-10"]],
    },
    usage: { argv: ["monthly", "--webhook", "gitlab"], files: program, before: saved },
    failure: { argv: ["monthl", "--file", "*.csv"], files: program, before: saved },
    json: [{ argv: ["monthly", "--webhook", "standard", "month=x"], files: program, before: saved }],
  },
  "programs notify": {
    success: { argv: ["monthly", "--command", "true"], files: program, before: saved },
    usage: { argv: ["monthly", "--when", "broken", "--agent"], files: program, before: saved },
    failure: { argv: ["monthl", "--agent"], files: program, before: saved },
    json: [{ argv: ["monthly", "--tool", "demo.send_email", "to=me@example.com"], files: program, before: saved }],
  },
  "programs off": {
    success: {
      argv: ["monthly"],
      files: program,
      before: [...saved, ["programs", "on", "monthly", "--webhook", "standard", "month=x"]],
    },
    usage: { argv: ["monthly", "--all"] },
    failure: { argv: ["monthl"] },
  },
  "programs deliveries": {
    success: { argv: ["monthly"] },
    usage: { argv: ["monthly", "--all"] },
    failure: { argv: ["--config", "missing.json"] },
  },
  "programs retry": {
    success: { argv: ["--help"] },
    usage: { argv: ["one", "--all"] },
    failure: { argv: ["one"] },
  },
  "daemon enable": {
    success: { argv: ["--dry-run"], options },
    usage: { argv: [] },
    failure: { argv: ["--config", "missing.json"] },
  },
  "daemon disable": {
    success: { argv: ["--dry-run"] },
    usage: { argv: ["--now"] },
    failure: { argv: ["--config", "missing.json"] },
  },
  trust: {
    success: { argv: ["--yes"], files: working, options: { env: { CI: "" } } },
    usage: { argv: ["--list", "--revoke"] },
    failure: { argv: [], files: working, options: { env: { CI: "" } } },
    json: [
      { argv: ["--list"], files: working, before: [["trust", "--yes"]] },
      { argv: ["--revoke"], files: working, before: [["trust", "--yes"]] },
    ],
  },
  review: {
    success: { argv: [], files: working },
    usage: { argv: ["--all"] },
    failure: { argv: ["ood"], files: working },
    json: [
      { argv: ["--check"], files: working },
      { argv: ["--init"], files: working },
    ],
  },
  remove: {
    success: { argv: ["odd"], files: working },
    usage: { argv: [] },
    failure: { argv: ["ood"], files: working },
  },
  disable: {
    success: { argv: ["odd", "odd.structured"], files: working },
    usage: { argv: [] },
    failure: { argv: ["ood"], files: working },
  },
  label: {
    success: { argv: ["odd.structured", "private"], files: working },
    usage: { argv: ["odd.structured", "secret"] },
    failure: { argv: ["ood.structured", "none"], files: working },
  },
  enable: {
    success: { argv: ["odd"], files: config({ odd: { ...odd, disabled: true } }) },
    usage: { argv: ["odd", "--user", "--config", "x"] },
    failure: {
      argv: ["odd.structured"],
      files: { "claudikins.json": { mcpServers: { odd }, policy: { deny: ["*.str*"] } } },
    },
    json: [{ argv: ["odd", "odd.structured"], files: config({ odd: { ...odd, deny: ["structured"] } }) }],
  },
  "config path": {
    success: { argv: [], files: working },
    usage: { argv: ["here"] },
    failure: undefined,
  },
  "config edit": {
    success: { argv: [], files: working, options: { env: { EDITOR: "true" } } },
    usage: { argv: [], files: working, options: { env: { EDITOR: "", VISUAL: "" } } },
    failure: { argv: [], files: working, options: { env: { EDITOR: "false" } } },
  },
  "config server": {
    success: { argv: ["odd", "--env", "MODE=fast"], files: working },
    usage: { argv: ["odd", "--command", "a", "--", "b"], files: working },
    failure: { argv: ["odd", "--command", "no-such-program-of-ours"], files: working },
    json: [{ argv: ["odd", "--unset", "args", "--preview"], files: working }],
  },
  mock: {
    success: {
      argv: ["a.recording.json", "--server", "odd"],
      files: { "a.recording.json": recording },
      isProcess: true,
    },
    usage: { argv: ["a.recording.json", "--answers", "any"], files: { "a.recording.json": recording } },
    failure: { argv: ["missing.json"] },
  },
  exec: {
    success: { argv: ["-e", 'console.log("hello"); return (await odd.structured()).answer'], files: working },
    usage: { argv: ["a.ts", "-e", "1"] },
    failure: { argv: ["-e", 'console.warn("before"); throw new TypeError("no")'], files: working },
    json: [
      { argv: ["-e", "display(new Date(0)); tools.search('x'); console.error('a'); undefined"], files: working },
      { argv: ["-e", "while (true);", "--cpu", "50ms"], files: working },
      { argv: ["-e", "odd.nope()"], files: working },
    ],
  },
  call: {
    success: { argv: ["odd.structured"], files: working },
    usage: { argv: ["odd.structured", "--raw", "--size", "1"], files: working },
    failure: { argv: ["odd.strctured"], files: working },
    json: [
      { argv: ["odd", "structured", "--output", "result.json"], files: working },
      { argv: ["demo.render_chart", "title=Stock", 'points:=[{"label":"mugs","value":1}]', "--output", "chart.png"] },
      { argv: ["demo.get_order", "order_id=none"] },
    ],
  },
  run: {
    success: { argv: ["the structured answer"], files: thinking },
    usage: { argv: ["--dry", "it"], files: thinking },
    failure: { argv: ["fail, please"], files: thinking },
    json: [
      { argv: ["the structured answer", "--dry-run"], files: thinking },
      { argv: ["the demo's order"], files: { "claudikins.json": { ...thinking["claudikins.json"], mcpServers: {} } } },
      { argv: ["anything"], files: working },
    ],
  },
  search: {
    success: { argv: ["structured", "--limit", "1"], files: working, before: [["gen"]] },
    usage: { argv: ["--limit", "1"] },
    failure: { argv: ["structured server:nope"], files: working, before: [["gen"]] },
    json: [
      { argv: ["odd", "--detail", "names"], files: working, before: [["gen"]] },
      { argv: ["odd", "--detail", "full"], files: working, before: [["gen"]] },
      { argv: ["-"], files: working, before: [["gen"]], options: { stdin: "odd\nserver:nope x\n" } },
    ],
  },
  list: {
    success: { argv: [], files: working },
    usage: { argv: ["--chekc"] },
    failure: { argv: ["--check"], files: broken },
    json: [
      { argv: ["tools"], files: working },
      { argv: ["tools", "odd", "--detailed"], files: working },
      { argv: ["tools", "odd", "broken"], files: broken },
      { argv: ["tools"], files: broken },
      { argv: ["--check"], files: working },
      { argv: [] },
      {
        argv: [],
        files: config({ a: { command: "x", env: { A: "${NOT_SET_TOKEN}" } }, b: { url: "https://127.0.0.1:1/mcp" } }),
      },
      {
        argv: [],
        files: { "claudikins.json": { mcpServers: { odd: { ...odd, deny: ["structured"] } } } },
        before: [["gen"]],
      },
    ],
  },
  "auth login": {
    success: { argv: ["open"], files: network },
    usage: { argv: ["program"], files: network },
    failure: { argv: ["gone"], files: config({ gone: { url: "http://127.0.0.1:1/mcp" } }) },
    json: [{ argv: [], files: network }],
  },
  "auth logout": {
    success: { argv: ["--all"], files: network },
    usage: { argv: [], files: network },
    failure: { argv: ["opne"], files: network },
  },
  "auth status": {
    success: { argv: [], files: network },
    usage: { argv: ["open", "more"], files: network },
    failure: { argv: ["open"], files: network },
    json: [
      {
        argv: [],
        files: config({
          a: { url: "http://127.0.0.1:1/", oauth: false },
          b: { url: "http://127.0.0.1:1/", headers: { authorization: "Bearer x" } },
        }),
      },
    ],
  },
  "daemon status": {
    success: { argv: [], files: working },
    usage: { argv: ["all"] },
    failure: { argv: ["--config", "nope.json"] },
  },
  "daemon restart": {
    success: { argv: ["odd"], files: working, startsDaemon: true, options: { env: { CLAUDIKINS_DAEMON: "on" } } },
    usage: { argv: [] },
    failure: { argv: ["odd"], files: working },
  },
  "daemon stop": {
    success: { argv: [], files: working },
    usage: { argv: ["--all", "--config", "claudikins.json"] },
    failure: undefined,
  },
  "daemon run": {
    success: { argv: ["--idle", "1ms"], files: working, options: { env: { CLAUDIKINS_LOG: "silent" } } },
    usage: { argv: ["--idle", "soon"] },
    failure: { argv: [], files: { "claudikins.json": "{" } },
  },
  "daemon logs": {
    success: { argv: [], files: working },
    usage: { argv: ["--lines", "0"] },
    failure: { argv: ["--config", "nope.json"] },
    json: [{ argv: ["--path"], files: working }],
  },
  ui: {
    success: { argv: ["--no-open"], files: working, startsDaemon: true },
    usage: { argv: ["--open"] },
    failure: { argv: [], files: { "claudikins.json": "{" } },
  },
  setup: {
    success: { argv: ["--yes"], files: working, options },
    usage: { argv: ["--dry"] },
    failure: { argv: [], files: broken, options },
    json: [
      { argv: ["--dry-run", "--skill"], files: working },
      { argv: [], files: { "claudikins.json": "{" } },
    ],
  },
  doctor: {
    success: { argv: [], files: working, options },
    usage: { argv: ["now"] },
    failure: { argv: [], files: broken, options },
    json: [{ argv: ["--no-servers"], files: { "claudikins.json": "{" } }],
  },
  upgrade: {
    success: { argv: ["--check"], options: { env: newerRelease } },
    usage: { argv: ["--to", "new"] },
    failure: { argv: ["--to", "98.0.0"], options: { env: newerRelease } },
    json: [{ argv: [], options: { env: newerRelease } }],
  },
  "self-check": {
    success: { argv: [] },
    usage: { argv: ["now"] },
    failure: undefined,
  },
  "skill install": {
    success: { argv: ["--host", "claude"] },
    usage: { argv: ["--user", "--project"] },
    failure: { argv: ["--host", "claude"], files: { ".claude/skills/claudikins/SKILL.md": "mine" } },
    json: [{ argv: ["--project", "--host", "claude", "--claude-md", "--dry-run"], files: working }],
  },
  "skill remove": {
    success: { argv: [], before: [["skill", "install", "--host", "claude"]] },
    usage: { argv: ["--host", "emacs"] },
    failure: {
      argv: [],
      before: [
        ["skill", "install", "--host", "claude"],
        ["CHANGE", ".claude/skills/claudikins/SKILL.md"],
      ],
    },
  },
  "skill status": {
    success: { argv: [], before: [["skill", "install", "--host", "claude"]] },
    usage: { argv: ["claude"] },
    failure: undefined,
  },
  logs: {
    success: { argv: ["odd"], files: working, before: [["call", "odd.structured"]] },
    usage: { argv: ["--follow"] },
    failure: { argv: ["ood"], files: working },
    json: [
      { argv: [], files: working, before: [["call", "odd.structured"]] },
      { argv: ["odd", "--path"], files: working },
      { argv: ["odd", "--clear"], files: working, before: [["call", "odd.structured"]] },
      { argv: ["odd", "--follow"], files: working, before: [["call", "odd.structured"]], options: { interrupted } },
    ],
  },
  "executions list": {
    success: { argv: [], keeps: true },
    usage: { argv: ["more"] },
    failure: { argv: ["--config", "gone.json"] },
    json: [{ argv: [] }],
  },
  "executions show": {
    success: { argv: [keptId], keeps: true },
    usage: { argv: [] },
    failure: { argv: ["nothing"] },
  },
  "executions dry-run": {
    success: { argv: [keptId], keeps: true },
    usage: { argv: [] },
    failure: { argv: ["nothing"] },
  },
  "executions code": {
    success: { argv: [keptId], keeps: true },
    usage: { argv: [] },
    failure: { argv: ["nothing"] },
  },
  "executions again": {
    success: { argv: [keptId], keeps: true, startsDaemon: true, options: { env: { CLAUDIKINS_DAEMON: "on" } } },
    usage: { argv: [] },
    failure: { argv: ["nothing"] },
  },
  "executions compare": {
    success: {
      before: [
        ["exec", "--record", "-e", "return 1"],
        ["exec", "--record", "-e", "return 1"],
      ],
      argv: ["last"],
    },
    usage: { argv: [] },
    failure: { argv: ["nothing"] },
  },
  "executions wait": {
    success: { argv: [keptId], keeps: true },
    usage: { argv: [] },
    failure: { argv: ["nothing"] },
  },
  "executions cancel": {
    success: { argv: [keptId], keeps: true },
    usage: { argv: [] },
    failure: { argv: ["nothing"] },
  },
  "executions clear": {
    success: { argv: [], files: working, before: [["exec", "-e", "1"]] },
    usage: { argv: ["a", "b"] },
    failure: { argv: ["nothing"] },
  },
  confirm: {
    success: { argv: ["odd.structured", "always"], files: working },
    usage: { argv: ["odd.structured", "sometimes"] },
    failure: { argv: ["ood.structured", "always"], files: working },
  },
  edit: {
    success: { argv: ["odd.structured", "--name", "shaped"], files: working },
    usage: { argv: [] },
    failure: { argv: ["ood.structured", "--name", "shaped"], files: working },
  },
  "doors list": {
    success: { argv: [], files: withDoor },
    usage: { argv: ["more"] },
    failure: { argv: ["--config", "gone.json"] },
    json: [
      { argv: [], files: withDoor },
      { argv: [], files: working },
    ],
  },
  "doors show": {
    success: { argv: ["qa"], files: withDoor },
    usage: { argv: [] },
    failure: { argv: ["code"], files: withDoor },
  },
  "doors add": {
    success: { argv: ["code", "odd"], files: working },
    usage: { argv: [] },
    failure: { argv: ["code", "ood"], files: working },
  },
  "doors remove": {
    success: { argv: ["qa"], files: withDoor },
    usage: { argv: [] },
    failure: { argv: ["code"], files: withDoor },
  },
  "approvals list": {
    success: { argv: [], waits: true },
    usage: { argv: ["more"] },
    failure: { argv: ["--config", "gone.json"] },
    json: [{ argv: ["--decided"] }],
  },
  "approvals show": {
    success: { argv: ["APPROVAL"], waits: true },
    usage: { argv: [] },
    failure: { argv: ["nothing"] },
  },
  "approvals approve": {
    success: { argv: ["APPROVAL"], waits: true, options: { answers: ["y"], terminal: true } },
    usage: { argv: [] },
    failure: { argv: ["APPROVAL"], waits: true },
  },
  "approvals deny": {
    success: { argv: ["--all-of", "github"], waits: true },
    usage: { argv: ["APPROVAL", "--all-of", "github"], waits: true },
    failure: { argv: ["nothing"] },
  },
  "tokens list": {
    success: { argv: [], before: [["tokens", "add", "--name", "ci"]] },
    usage: { argv: ["more"] },
    failure: { argv: ["--config", "gone.json"] },
    json: [{ argv: [] }, { argv: ["--all"], files: withDoor, before: [["tokens", "add", "--door", "qa"]] }],
  },
  "tokens add": {
    success: { argv: ["--door", "qa", "--name", "ci", "--expires", "30d"], files: withDoor },
    usage: { argv: ["--expires", "soon"] },
    failure: { argv: ["--door", "qaa"], files: withDoor },
    json: [{ argv: ["--expires", "never"] }],
  },
  "tokens revoke": {
    success: { argv: ["ci"], before: [["tokens", "add", "--name", "ci"]] },
    usage: { argv: [] },
    failure: { argv: ["nobody"] },
  },
  "secrets list": {
    success: { argv: [], files: naming, before: [["secrets", "set", "TOKEN"]] },
    usage: { argv: ["more"] },
    failure: undefined,
    json: [{ argv: [] }, { argv: [], files: naming }],
  },
  "secrets set": {
    success: { argv: ["TOKEN"], options: { stdin: "value-0815-4711\n" } },
    usage: { argv: ["TOKEN", "value-0815-4711"] },
    failure: { argv: ["TOKEN"] },
  },
  "secrets encrypt": {
    success: { argv: ["vault", "team"], options: { env: vault, stdin: "value-0815-4711\n" } },
    usage: { argv: ["gcp", "team"], options: { env: vault, stdin: "value-0815-4711\n" } },
    failure: { argv: ["vault", "other"], options: { env: vault, stdin: "value-0815-4711\n" } },
  },
  "secrets remove": {
    success: { argv: ["TOKEN"], before: [["secrets", "set", "TOKEN"]] },
    usage: { argv: [] },
    failure: { argv: ["TOKEM"], before: [["secrets", "set", "TOKEN"]] },
  },
  "people list": {
    success: { argv: [], files: withDoor, signedIn: true },
    usage: { argv: ["more"] },
    failure: { argv: ["--config", "gone.json"] },
    json: [{ argv: [] }, { argv: ["--all"], files: withDoor, signedIn: true }],
  },
  "people revoke": {
    success: { argv: ["ann@example.com"], files: withDoor, signedIn: true },
    usage: { argv: [] },
    failure: { argv: ["nobody"], files: withDoor, signedIn: true },
  },
  "people restore": {
    success: {
      argv: ["ann@example.com"],
      files: withDoor,
      signedIn: true,
      before: [["people", "revoke", "ann@example.com"]],
    },
    usage: { argv: [] },
    failure: { argv: ["nobody"] },
  },
  "people delete": {
    success: { argv: ["ann@example.com", "--revoke", "--yes"], files: withDoor, signedIn: true },
    usage: { argv: ["ann@example.com", "--yes"], files: withDoor, signedIn: true },
    failure: { argv: ["nobody", "--yes"], files: withDoor, signedIn: true },
  },
  "audit cut": {
    success: { argv: ["400d", "--yes"] },
    usage: { argv: [] },
    failure: { argv: ["yesterday", "--yes"] },
  },
  "audit list": {
    success: { argv: [] },
    usage: { argv: ["--since", "yesterday"] },
    failure: undefined,
  },
  "audit verify": {
    success: { argv: [] },
    usage: { argv: ["--contains", "abc"] },
    failure: { argv: ["--anchor", "letter"], files: { letter: "Dear Ada\n" } },
  },
  "audit export": {
    success: { argv: ["--format", "csv"] },
    usage: { argv: ["--format", "xml"] },
    failure: undefined,
  },
  "calls list": {
    success: { argv: [], files: working, before: [["call", "odd.structured"]] },
    usage: { argv: ["--since", "yesterday"] },
    failure: undefined,
  },
  "calls figures": {
    success: { argv: ["--by", "server"], files: working },
    usage: { argv: ["--by", "colour"] },
    failure: undefined,
  },
  "calls export": {
    success: { argv: ["--server", "odd"], files: working },
    usage: { argv: ["--limit", "3"] },
    failure: undefined,
  },
  trace: {
    success: { argv: [], files: working, before: [["exec", "-e", "odd.structured()"]] },
    usage: { argv: ["--html", "trace.html"] },
    failure: { argv: ["last"], files: working },
    json: [
      { argv: ["last"], files: working, before: [["exec", "-e", "odd.structured()"]] },
      {
        argv: ["last"],
        before: [
          [
            "exec",
            "--record",
            "-e",
            'console.log(1); await demo.get_order({ order_id: "0" }).catch(() => {}); return 1',
          ],
        ],
      },
      { argv: ["last", "--html", "trace.html"], files: working, before: [["exec", "-e", "1"]] },
      { argv: ["--clear"], files: working, before: [["exec", "-e", "1"]] },
    ],
  },
  stats: {
    success: { argv: [], files: working },
    usage: { argv: ["--days", "0"] },
    failure: { argv: ["--server", "nope"] },
    json: [{ argv: ["--all"], files: working, before: [["exec", "-e", "odd.structured()"]] }, { argv: ["--reset"] }],
  },
  "skill print": {
    success: { argv: ["claude-md"] },
    usage: { argv: ["claude"] },
    failure: undefined,
  },
  gen: {
    success: { argv: [], files: working },
    usage: { argv: ["odd"] },
    failure: { argv: [], files: broken },
    json: [
      { argv: ["--clean"], files: working },
      { argv: ["--check"], files: working, before: [["gen"]] },
      { argv: ["--check"], files: broken },
    ],
  },
  completions: {
    success: { argv: ["fish"] },
    usage: { argv: ["tcsh"] },
    failure: undefined,
  },
  complete: {
    success: { argv: ["fish", "--", "auth", "l"] },
    usage: { argv: [] },
    // Completions print no errors.
    failure: undefined,
  },
  demo: {
    success: { argv: [], isProcess: true },
    usage: { argv: ["shop"] },
    failure: undefined,
  },
};
