/** An installation with many tools and executions, as a busy user has it: servers, stored executions, the daemon with the page, and agents. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { dayMs, hourMs } from "../../../src/base/units.ts";
import { placeOf } from "../../../src/daemon/place.ts";
import { requestDaemon } from "../../../src/daemon/transport/connect.ts";
import { newId } from "../../../src/programs/trace/id.ts";
import type { ExecutionRecord } from "../../../src/programs/trace/record.ts";
import { recordsKept, writeRecords } from "../../../src/programs/trace/store.ts";
import { callOf, recordOf } from "../../../test/programs/trace/records.ts";
import { storedCall } from "../../../test/store/contract/call-log.ts";
import { openHost, type TestHost } from "../../../test/support/host.ts";
import { type Ended, processesLeft, runProgram, testEnvironment } from "../../../test/support/process.ts";
import { tiny } from "../../../test/support/servers.ts";
import { inStore } from "../../../test/support/stored.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { Random } from "../random.ts";

/** Tools of one server. */
const toolsOfServer = 100;

/** Days over which the stored executions are spread. */
const storedDays = 7;

/** Records that are written together. */
const recordsAtOnce = 1_000;

const verbs = ["list", "find", "create", "update", "delete", "archive", "count", "export", "share", "assign"];
const nouns = ["orders", "invoices", "issues", "pages", "files", "people", "rooms", "builds", "alerts", "notes"];
const agents = ["claude-code 2.1.4", "codex-cli 0.61", "opencode 1.3", "gemini-cli 0.9"];
const folders = ["shop", "reports", "infrastructure", "website", "notes"];

const nameOf = (place: number) => `server${String(place).padStart(2, "0")}`;

/** The tools of a server, with sentences of usual length. */
function toolsOf(server: string): object[] {
  return Array.from({ length: toolsOfServer }, (_, place) => {
    const [verb, noun] = [verbs[place % verbs.length]!, nouns[Math.floor(place / verbs.length) % nouns.length]!];
    const isRead = ["list", "find", "count", "export"].includes(verb);
    return {
      name: `${verb}_${noun}`,
      description: `${verb[0]!.toUpperCase()}${verb.slice(1)} the ${noun} of ${server}, by their names, owners and dates. Ask for few.`,
      inputSchema: {
        type: "object",
        properties: { query: { type: "string" }, limit: { type: "number" }, since: { type: "string" } },
      },
      annotations: { readOnlyHint: isRead, destructiveHint: verb === "delete" },
    };
  });
}

export interface SiteOptions {
  command: string;
  executions: number;
  tools: number;
  seed: number;
}

export class Site implements AsyncDisposable {
  readonly folder = temporaryFolder();
  readonly config: string;
  readonly #command: string;
  readonly #env: Record<string, string>;

  private constructor({ command, tools }: SiteOptions) {
    this.#command = command;
    const { path } = this.folder;
    mkdirSync(join(path, "runtime"), { mode: 0o700 });
    this.#env = testEnvironment({
      HOME: path,
      XDG_DATA_HOME: join(path, "data"),
      XDG_CONFIG_HOME: join(path, "config"),
      XDG_CACHE_HOME: join(path, "cache"),
      XDG_RUNTIME_DIR: join(path, "runtime"),
      CLAUDIKINS_DAEMON: "on",
    });
    const servers = Array.from({ length: Math.ceil(tools / toolsOfServer) }, (_, place) => {
      const name = nameOf(place);
      const list = this.folder.write(`lists/${name}.json`, `${JSON.stringify(toolsOf(name))}\n`);
      return [name, { ...tiny(list), description: `The ${nouns[place % nouns.length]} of the company` }] as const;
    });
    const demo = { command, args: ["demo"] };
    const policy = {
      confirm: "destructive",
      rules: ['deny when tool == "server03.delete_orders" && args.limit > 10'],
    };
    this.config = this.folder.write("claudikins.json", {
      mcpServers: { demo, ...Object.fromEntries(servers) },
      policy,
    });
  }

  static async open(options: SiteOptions): Promise<Site> {
    const site = new Site(options);
    try {
      const { exitCode, stderr } = await site.#claudikins("gen");
      if (exitCode !== 0) throw new Error(stderr);
      await site.#store(options);
      return site;
    } catch (error) {
      await site[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** A new address of the page. The first one starts the daemon. */
  async address(): Promise<string> {
    const { exitCode, stdout, stderr } = await this.#claudikins("ui", "--json");
    if (exitCode !== 0) throw new Error(stderr);
    return JSON.parse(stdout).url;
  }

  /** The pid of the daemon. Its main thread answers. */
  async pingDaemon(): Promise<number> {
    const { socket } = placeOf(this.config, this.#env);
    const status = await requestDaemon(socket, "GET /status", { body: "", signal: AbortSignal.timeout(60_000) });
    return (status as { pid: number }).pid;
  }

  /** An agent with a `serve` of its own. */
  agent(place: number): Promise<TestHost> {
    const [name = "", version = ""] = agents[place % agents.length]!.split(" ");
    const options = { info: { name, version }, command: [this.#command], env: this.#env };
    return openHost(this.folder, options);
  }

  #claudikins(...args: string[]): Promise<Ended> {
    return runProgram([this.#command, ...args], { cwd: this.folder.path, env: this.#env });
  }

  /** Writes executions of the last days with their calls, as agents would have left them. */
  async #store({ executions, tools, seed }: SiteOptions): Promise<void> {
    const random = new Random(seed, 0);
    const servers = Math.ceil(tools / toolsOfServer);
    const now = Date.now();
    const between = (storedDays * dayMs) / executions;
    const records = Array.from({ length: executions }, (_, place) =>
      madeUp(now - hourMs - (executions - place) * between, this, random, servers),
    );
    await inStore(this.#env, async (store) => {
      for (let at = 0; at < records.length; at += recordsAtOnce) {
        const some = records.slice(at, at + recordsAtOnce);
        await writeRecords(store, some, { ...recordsKept, count: Math.max(executions, recordsKept.count) });
        await store.callLog.add(
          some.flatMap(({ id, at: began, agent = null, timeline }) =>
            timeline.map(({ server, tool, outcome }, call) =>
              storedCall(`${id}-${call}`, began + call, {
                ...{ config: this.config, agent, execution: id, call, server, tool, resultBytes: 9_000 },
                outcome: outcome === "failed" ? "failed" : "ok",
              }),
            ),
          ),
        );
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#claudikins("daemon", "stop", "--all", "--now");
    const left = await processesLeft(this.folder.path);
    for (const pid of left) process.kill(pid, "SIGKILL");
    this.folder[Symbol.dispose]();
    if (left.length > 0) throw new Error(`${left.length} processes were left`);
  }
}

function madeUp(at: number, { config, folder }: Site, random: Random, servers: number): ExecutionRecord {
  const isFailed = random.chance(0.08);
  const timeline = Array.from({ length: 1 + random.below(5) }, (_, place) => {
    const outcome = isFailed && place === 0 ? "failed" : "ok";
    const tool = `${random.pick(verbs)}_${random.pick(nouns)}`;
    return callOf({ server: nameOf(random.below(servers)), tool, outcome, line: place + 1 });
  });
  const text = `// ${random.pick(verbs)} the ${random.pick(nouns)} of the week\nreturn input;\n`;
  return recordOf({
    ...{ at, id: newId(at), config, startedBy: "serve", agent: random.pick(agents), timeline },
    ...{
      folder: join(folder.path, "work", random.pick(folders)),
      durationMs: Math.round(10 ** (1 + 4 * random.next())),
    },
    ...(random.chance(0.7) ? { comment: text.slice(3, text.indexOf("\n")) } : {}),
    ...(isFailed ? { ok: false, reason: "threw" as const, failures: 1 } : {}),
    ...{ hasContents: true, code: { chars: text.length, lines: 2, text } },
  });
}
