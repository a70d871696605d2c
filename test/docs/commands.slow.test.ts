/** The commands of the documentation's console blocks that show no output succeed, block by block, in a home as the pages describe it. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { atMostAtOnce } from "../support/at-once.ts";
import { executable, root } from "../support/claudikins.ts";
import { eventually } from "../support/eventually.ts";
import { runProgram, shellLine } from "../support/process.ts";
import { filesystem, fixture, memory } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { blocksOf, docsPages, pageAt } from "./pages.ts";

setDefaultTimeout(120_000);

/** Commands that cannot run here, by how they begin, and why. */
const notHere: [RegExp, string][] = [
  [/^(?:git clone|cd claudikins$|\.\/install\.sh|npm (?:test|install)|bun run bench)/, "about a clone: CI runs them"],
  [/^(?:curl|gh|claude) /, "another program, which needs the network"],
  [/^git add/, "needs a repository"],
  [/^claudikins upgrade/, "needs a release: test/release has one"],
  [/^claudikins add (?:--search|io\.github)/, "asks the registry of MCP servers: test/cli/add-published has one"],
  [/^claudikins add (?:github|slack|docs|--json)/, "reaches a server on the network"],
  [/^claudikins add (?:petstore|pets |shop --graphql)/, "reaches an API on the network: test/sources has some"],
  [
    /^claudikins (?:list tools shop|exec -e 'return \(?await (?:petstore|shop|github_api)\.)/,
    "needs the API of the command before",
  ],
  [/^claudikins secrets encrypt /, "needs a key management service: test/servers/values/kms has some"],
  [/^claudikins add \.\/weather\.mcpb/, "needs a bundle: test/cli/add-bundle has one"],
  [/^claudikins auth login/, "needs a person who signs in: test/cli/auth has one"],
  [/^(?:echo .* \| )?claudikins run /, "needs a model: test/cli/task has one"],
  [/^claudikins call .* --interactive$/, "asks a person: test/cli has a terminal"],
  [/^claudikins programs share /, "needs an agent of another person: test/programs/saved has one"],
  [/^claudikins programs on summary --resource/, "needs a server with resources: test/programs/events has one"],
  [/^claudikins programs retry /, "needs an event that failed: test/programs/events has one"],
  [/^claudikins programs add /, "fetches from a repository on the network: test/cli/programs has one"],
  [/^claudikins uninstall$/, "asks at a terminal: test/cli/uninstall.test.ts says yes"],
  [/^claudikins daemon enable$/, "changes the services of the user: test/cli/daemon-service has a stand-in"],
  [/^claudikins init .*--door /, "needs a door in the user's own config: test/cli/doors has one"],
  [/^claudikins ui$/, "opens a browser"],
  [/^claudikins approvals approve/, "asks a person: test/cli has a terminal"],
  [/^claudikins programs on triage --webhook stripe/, "needs the secret of the command before"],
  [
    /^claudikins config server (?:mailer|docs|files (?:--command \/opt|-- ))/,
    "changes an entry that is not here: test/cli/config-server does each",
  ],
  [/^claudikins secrets set/, "asks for a value: test/cli/every-command gives one"],
  [/^claudikins people (?:revoke|restore|delete) /, "needs somebody who has signed in: test/cli/every-command has one"],
  [/^claudikins auth status github$/, "exits with 3 until somebody has signed in"],
];

/** Commands that run until they are interrupted. */
const endless = /serve --http|--follow$|^claudikins ui --no-open$/;

interface Block {
  name: string;
  commands: string[];
}

/** The console blocks without output. A longer command goes on in an indented line. */
const blocks = [pageAt("README.md"), pageAt("CONTRIBUTING.md"), ...docsPages].flatMap((page) =>
  blocksOf(page).flatMap(({ info, text, line }): Block[] => {
    const lines = text
      .trimEnd()
      .replaceAll(/\\\n\s*/g, "")
      .split("\n");
    if (info !== "console" || !lines.every((each) => each.startsWith("$ "))) return [];
    return [{ name: `${page.path}:${line}`, commands: lines.map((each) => each.slice(2)) }];
  }),
);

/** A home with an agent's servers, and a project. `CI` is set, so its config is trusted. */
class Home implements AsyncDisposable {
  readonly #folder: TemporaryFolder = temporaryFolder();
  readonly cwd = join(this.#folder.path, "work");
  readonly #env: Record<string, string>;

  /** A home for the command: servers are added to an empty project, and signing in is for servers on the network. */
  constructor(first: string) {
    const { path, write } = this.#folder;
    this.#env = {
      HOME: path,
      PATH: `${join(path, "bin")}:${dirname(executable())}:${process.env["PATH"]}`,
      XDG_CONFIG_HOME: join(path, ".config"),
      XDG_DATA_HOME: join(path, ".local", "share"),
      XDG_RUNTIME_DIR: path,
      CI: "true",
      CLAUDIKINS_DAEMON: "on",
      NO_COLOR: "1",
      EDITOR: "true",
      CLAUDIKINS_TOKEN: "a-token-of-32-characters-in-a-test",
    };
    const offering = (name: string, ...tools: string[]) => {
      const list = tools.map((tool) => ({ name: tool, inputSchema: { type: "object" } }));
      return fixture("from-file", write(`tools/${name}.json`, list));
    };
    const servers = {
      demo: { command: executable(), args: ["demo"] },
      files: { ...filesystem(this.cwd), category: "files" },
      github: {
        ...offering("github", "create_issue", "delete_repository", "delete_file"),
        confirm: { create_issue: "always" },
      },
      sentry: offering("sentry", "list_issues"),
    };
    const remote = { github: { url: "http://127.0.0.1:9/mcp" } };
    const mcpServers = /^claudikins add /.test(first) ? {} : /^claudikins auth /.test(first) ? remote : servers;
    const doors = "github" in mcpServers ? { qa: { servers: ["github"] } } : {};
    write("work/claudikins.json", { mcpServers, doors });
    write("code/shop/claudikins.json", { mcpServers: { demo: servers.demo } });
    write("work/.mcp.json", { mcpServers: { notes: memory(join(path, "notes.json")) } });
    // The same server in both, so init need not ask.
    const { command: program, args } = memory(join(path, "memory.json"));
    write(".cursor/mcp.json", { mcpServers: { memory: { command: program, args } } });
    const toml = `command = ${JSON.stringify(program)}
args = ${JSON.stringify(args)}`;
    write(
      ".codex/config.toml",
      `[mcp_servers.memory]
${toml}
`,
    );
    mkdirSync(join(this.cwd, ".claude", "skills", "claudikins"), { recursive: true });
    for (const name of ["report", "nightly"])
      write(`work/${name}.ts`, 'return ["2026-10", (await demo.list_tickets()).tickets.length]');
    write("work/triage.ts", "return input.event.body.action");
    write("work/screenshot.ts", `display(Buffer.from("png")); return 1`);
    write("work/queries.txt", "refund an order\nlist tickets\n");
    mkdirSync(join(path, ".config", "fish", "completions"), { recursive: true });
    // npx would ask npm.
    const packages = shellLine([join(root, "node_modules")]);
    const script = write(
      "bin/npx",
      `#!/bin/sh\npackage=$2\nshift 2\nexec node ${packages}/"$package"/dist/index.js "$@"\n`,
    );
    chmodSync(script, 0o755);
    write("bin/code", "#!/bin/sh\n");
    chmodSync(join(path, "bin", "code"), 0o755);
  }

  async run(command: string) {
    const { exitCode, stdout, stderr } = await runProgram(["bash", "-c", command], { cwd: this.cwd, env: this.#env });
    return { command, exitCode, said: exitCode === 0 ? "" : `${stdout}${stderr}`, stdout };
  }

  /** Interrupts the command when it has said something. */
  async interrupted(line: string) {
    const child = Bun.spawn(["bash", "-c", `exec ${line}`], {
      cwd: this.cwd,
      env: this.#env,
      stdout: "pipe",
      stderr: "pipe",
    });
    let said = "";
    const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
      for await (const text of stream.pipeThrough(new TextDecoderStream())) {
        if (said === "") child.kill("SIGINT");
        said += text;
      }
    };
    await Promise.all([read(child.stdout), read(child.stderr)]);
    await child.exited;
    return { exitCode: child.exitCode, said };
  }

  async succeeds(command: string): Promise<string> {
    const { stdout, ...done } = await this.run(command);
    expect(done).toEqual({ command, exitCode: 0, said: "" });
    return stdout.trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.run("claudikins daemon stop --all --now");
    this.#folder[Symbol.dispose]();
  }
}

/** What the ids in the commands stand for. */
const ids = /\b(?:0t80fs9gjc|8rn|7k2m9q4x|7k)\b/;
const waitingId = /0t80fs9gjc|8rn/;

/** Replaces the ids of the pages by that of an execution, and by that of an approval. */
async function withIds(command: string, home: Home): Promise<string> {
  if (!ids.test(command) && !/approvals (?:approve|deny) --all-of/.test(command)) return command;
  if (waitingId.test(command)) {
    const long = command.includes("wait") ? "10ms" : "1h";
    const id = await home.succeeds(`claudikins exec --detach -e 'await sleep("${long}"); return 1'`);
    return command.replace(waitingId, id);
  }
  await home.succeeds(`claudikins exec --detach -e 'return await github.create_issue()'`);
  const waiting = async () => JSON.parse(await home.succeeds("claudikins approvals list --json")).approvals;
  const pending = await eventually(async () => (await waiting())[0], { everyMs: 50 });
  return command.replace(ids, pending.id);
}

/** A program with a recording. */
const recorded =
  "claudikins programs save report.ts --name revenue-by-region month=2026-10 && claudikins programs record revenue-by-region month=2026-10";
/** A program with as many versions as these calls and one. */
const versions = (...calls: string[]) =>
  [
    "claudikins programs save report.ts --name revenue-by-region month=2026-10",
    ...calls.map((call) => `claudikins programs save revenue-by-region --call ${call} --replace`),
  ].join(" && ");
const savedTriage = `claudikins programs save triage.ts --name triage event:='{"body":{"action":""}}' --replace`;

/** What has happened before the commands of a block. */
const before: [RegExp, string][] = [
  [/^claudikins restore/, "claudikins init --apply"],
  // It asks about a config that is not trusted.
  [/^claudikins trust$/, "claudikins trust --yes"],
  [
    /^claudikins (?:executions (?:show|clear) last|audit|logs|stats|daemon)/,
    "claudikins exec -e 'await github.delete_file(); await demo.list_tickets()'",
  ],
  [/^claudikins tokens revoke/, "claudikins tokens add --name ci && claudikins tokens add --name laptop"],
  [/^claudikins secrets remove/, "echo value-0815 | claudikins secrets set GITHUB_TOKEN"],
  [/^claudikins gen --check/, "claudikins gen"],
  [/^claudikins programs accept nightly/, "claudikins programs save report.ts --name nightly month=2026-10"],
  [/^claudikins (?:programs (?:save|keep)|executions (?:code|again)) last/, "claudikins exec report.ts --record"],
  [/^claudikins executions compare last/, "claudikins exec report.ts --record && claudikins exec report.ts --record"],
  [/^claudikins programs test --all --from programs/, `${recorded} && claudikins programs export --to programs`],
  [/^claudikins programs (?:test|check|record revenue-by-region --replace)/, recorded],
  [/^claudikins programs history/, versions("demo.get_customer", "demo.get_order")],
  [/^claudikins programs back/, versions("demo.get_customer")],
  [
    /^claudikins mock/,
    "mkdir recordings && claudikins exec report.ts --record-file recordings/a.recording.json && cp recordings/a.recording.json report.recording.json",
  ],
  [
    /^claudikins programs (?:schedule|save) totals/,
    'claudikins programs save report.ts --name totals --input-schema \'{"type":"object","properties":{"month":{}}}\'',
  ],
  [/^claudikins programs on triage/, savedTriage],
  [
    /^claudikins programs on import/,
    'claudikins programs save report.ts --name import --input-schema \'{"type":"object","properties":{"path":{}}}\'',
  ],
  [
    /^claudikins programs on alert/,
    'claudikins programs save report.ts --name nightly month=2026-10 && claudikins programs save report.ts --name alert --input-schema \'{"type":"object","properties":{"month":{}}}\'',
  ],
  [
    /^claudikins programs on review-tools/,
    'claudikins programs save triage.ts --name review-tools event:=\'{"body":{"action":""}}\' --replace',
  ],
  [/^claudikins programs notify nightly/, "claudikins programs save report.ts --name nightly month=2026-10"],
  [/^claudikins programs off triage/, `${savedTriage} && claudikins programs on triage --webhook github`],
  [
    /^claudikins programs unschedule totals/,
    "claudikins programs save report.ts --name other month=2026-10 && claudikins programs schedule other --as totals --cron '0 8 * * *' month=x",
  ],
  [/^claudikins daemon disable/, "claudikins daemon enable --dry-run"],
  [
    /^claudikins programs (?:show|run|record|accept revenue|on revenue|save revenue|remove|export|schedule revenue)/,
    "claudikins programs save report.ts --name revenue-by-region month=2026-10 --replace",
  ],
  [/^(?:bun )?\.claudikins\/registry/, "claudikins gen"],
  [/^bun \.claudikins\/registry/, "claudikins gen"],
];

/** Commands that show what has happened. */
const looking = /^claudikins (?:audit|logs|stats)\b/;

/** The reference shows each command for itself, but those that only look may follow one another; elsewhere, one follows the other. */
const runs = blocks.flatMap(({ name, commands }): [string, string[]][] => {
  const here = commands.filter((command) => !notHere.some(([start]) => start.test(command)));
  if (name.startsWith("docs/cli.md") && !here.every((command) => looking.test(command)))
    return here.map((command) => [`${name}: ${command}`, [command]]);
  return here.length > 0 ? [[name, here]] : [];
});

async function succeed(commands: readonly string[]): Promise<void> {
  await using home = new Home(commands[0] ?? "");
  const done = new Set<string>();
  for (const command of commands) {
    const [, first] = before.find(([start]) => start.test(command)) ?? [];
    if (first !== undefined && !done.has(first)) await home.succeeds(first);
    if (first !== undefined) done.add(first);
    if (endless.test(command)) {
      const { exitCode, said } = await home.interrupted(command);
      expect({ command, said, isWell: exitCode === 0 || exitCode === 130 }).toEqual({ command, said, isWell: true });
    } else await home.succeeds(await withIds(command, home));
  }
}

const aFewAtOnce = atMostAtOnce(3);

test.concurrent.each(runs)("%s succeeds", (_, commands) => aFewAtOnce(() => succeed(commands)));

test("every reason not to run a command is needed", () => {
  const all = blocks.flatMap(({ commands }) => commands);
  expect(notHere.filter(([start]) => !all.some((command) => start.test(command)))).toEqual([]);
});
