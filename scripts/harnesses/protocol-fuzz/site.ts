/** A project with fuzzed servers, and the processes of claudikins that use it. Each is started when a run first needs it. */
import { Database } from "bun:sqlite";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { storeFile } from "../../../src/config/locations.ts";
import { Page } from "../../../test/support/page.ts";
import { isAlive, processesLeft, processesWith, runProgram, testEnvironment } from "../../../test/support/process.ts";
import { type TemporaryFolder, temporaryFolder } from "../../../test/support/temporary.ts";
import type { Agent } from "./agents/agent.ts";
import { NewerAgent } from "./agents/newer.ts";
import { OlderAgent } from "./agents/older.ts";
import { Oracle } from "./oracle.ts";
import { OwnersSite } from "./owners/site.ts";
import { Person } from "./person.ts";
import type { SocketPing, SocketPingAnswer } from "./socket-pings.ts";
import { millisecondsToEnd } from "./waits.ts";

/** The servers whose tools need a person's permission. */
export const gatedServers = ["old_left", "old_right", "new_left", "new_right"] as const;

export class Site implements Disposable {
  readonly folder: TemporaryFolder = temporaryFolder();
  readonly oracle: Oracle = new Oracle(join(this.folder.path, "calls.jsonl"));
  readonly command: readonly string[];
  readonly env: Record<string, string>;

  constructor(command: readonly string[]) {
    this.command = command;
    const { path } = this.folder;
    this.env = testEnvironment({
      HOME: path,
      XDG_DATA_HOME: join(path, "data"),
      XDG_STATE_HOME: join(path, "state"),
      XDG_RUNTIME_DIR: path,
    });
    const server = (file: string, name: string) => ({
      command: process.execPath,
      args: [join(import.meta.dir, "servers", `${file}.ts`), name, join(path, "calls.jsonl")],
      callTimeoutMs: 20_000,
      ...(name.includes("_") ? { confirm: { "wipe_*": "always" } } : {}),
    });
    this.folder.write("claudikins.json", {
      mcpServers: {
        ...Object.fromEntries(["fuzz", "flood", "torrent"].map((name) => [name, server("older", name)])),
        ...Object.fromEntries(
          gatedServers.map((name) => [name, server(name.startsWith("old") ? "older" : "newer", name)]),
        ),
        vault: { ...server("spying", "vault"), labels: ["private", "untrusted"] },
        sink: { ...server("spying", "sink"), labels: { post: ["public"], plain: [] } },
        shifty: { ...server("spying", "shifty"), definitions: "lock" },
      },
      limits: { timeoutMs: 1_000, memoryMb: 128 },
    });
  }

  get config(): string {
    return join(this.folder.path, "claudikins.json");
  }

  get storeFile(): string {
    return storeFile(this.env);
  }

  /** Lets the time of all open approvals be over. */
  expireApprovals(): void {
    if (!existsSync(this.storeFile)) return;
    using database = new Database(this.storeFile);
    database.run("PRAGMA busy_timeout = 10000");
    database.run("UPDATE approvals SET expires_at = ? WHERE state = 'open'", [Date.now()]);
  }

  openApprovals(): number {
    if (!existsSync(this.storeFile)) return 0;
    using database = new Database(this.storeFile, { readonly: true });
    database.run("PRAGMA busy_timeout = 10000");
    return database.query<{ open: number }, []>("SELECT count(*) AS open FROM approvals WHERE state = 'open'").get()!
      .open;
  }

  /** What claudikins has written: the store, the audit log, records, the registry and the workspace, without copies of itself. */
  diskMb(): number {
    const sizes = readdirSync(this.folder.path, { recursive: true, encoding: "utf8" }).map((name) => {
      return name === "calls.jsonl" || name.includes("/executables/")
        ? 0
        : (statSync(join(this.folder.path, name), { throwIfNoEntry: false })?.size ?? 0);
    });
    return sizes.reduce((sum, size) => sum + size, 0) / 1_048_576;
  }

  [Symbol.dispose](): void {
    for (const pid of processesWith(this.folder.path)) process.kill(pid, "SIGKILL");
    this.folder[Symbol.dispose]();
  }
}

/** The processes of some hundred runs. */
export class Processes implements AsyncDisposable {
  readonly site: Site;
  readonly #person: Person;
  readonly #started = new Map<string, Promise<Agent & AsyncDisposable>>();
  readonly #running = new Map<string, Agent & AsyncDisposable>();
  #owners: Promise<OwnersSite> | undefined;

  constructor(site: Site) {
    this.site = site;
    this.#person = new Person(site.oracle);
  }

  older(): Promise<OlderAgent> {
    return this.#agent("older", async () => {
      const agent = new OlderAgent(this.#serve(), this.#options, this.#person);
      await agent.start();
      return agent;
    });
  }

  newer(): Promise<NewerAgent> {
    return this.#agent("newer", async () => {
      const agent = new NewerAgent(this.#serve(), this.#options, this.#person);
      await agent.ping();
      return agent;
    });
  }

  /** Has the tools of the servers themselves. */
  direct(): Promise<OlderAgent> {
    return this.#agent("direct", async () => {
      const agent = new OlderAgent(this.#serve("--mode", "direct"), this.#options, this.#person);
      await agent.start();
      return agent;
    });
  }

  /** The page of the daemon, which is started if none runs. */
  async page(): Promise<Page> {
    const { path } = this.site.folder;
    const ui = await runProgram([...this.site.command, "ui", "--json", "--config", this.site.config], {
      cwd: path,
      env: { ...this.site.env, CLAUDIKINS_DAEMON: "on" },
    });
    if (ui.exitCode !== 0) throw new Error(ui.stderr);
    const page = await Page.open(JSON.parse(ui.stdout).url);
    await this.#agent("daemon", async () => new Daemon(this.#daemonSocket(), this.#daemonPid()));
    return page;
  }

  /** Replicas at a Postgres. They end with these processes. */
  owners(): Promise<OwnersSite> {
    this.#owners ??= OwnersSite.open(this.site).then((owners) => {
      for (const [name, replica] of owners.agents) this.#running.set(name, replica);
      return owners;
    });
    return this.#owners;
  }

  /** The processes that run. */
  get running(): ReadonlyMap<string, Agent> {
    return this.#running;
  }

  /**
   * Ends all processes by SIGTERM. Returns the longest time that one took, and the command lines that are left. A daemon that was started
   * for programs that wait may go on, and is stopped by the command.
   */
  async terminate(): Promise<{ tookMs: number; left: string[] }> {
    // Replicas that are still being started are known when they run.
    await this.#owners?.catch(() => {});
    const took = await Promise.all([...this.#running.values()].map((each) => each.terminate()));
    const stop = [...this.site.command, "daemon", "stop", "--all", "--now"];
    await runProgram(stop, { cwd: this.site.folder.path, env: this.site.env });
    const pids = await processesLeft(this.site.folder.path, 5_000);
    const left = pids.map(commandLine);
    for (const pid of pids) process.kill(pid, "SIGKILL");
    await (await this.#owners)?.judgeRows();
    return { tookMs: Math.max(0, ...took), left };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#running.values()].map((each) => each[Symbol.asyncDispose]()));
    await (await this.#owners)?.[Symbol.asyncDispose]();
  }

  get #options() {
    return { cwd: this.site.folder.path, env: this.site.env };
  }

  #serve(...flags: string[]): string[] {
    return [...this.site.command, "serve", "--no-daemon", "--config", this.site.config, ...flags];
  }

  #agent<T extends Agent & AsyncDisposable>(name: string, start: () => Promise<T>): Promise<T> {
    const known = this.#started.get(name) as Promise<T> | undefined;
    if (known) return known;
    const started = start().then((agent) => {
      this.#running.set(name, agent);
      return agent;
    });
    this.#started.set(name, started);
    return started;
  }

  #daemonSocket(): string {
    const folder = join(this.site.folder.path, "claudikins");
    const found = readdirSync(folder).find((name) => name.endsWith(".sock"));
    if (found === undefined) throw new Error("the daemon does not listen");
    return join(folder, found);
  }

  #daemonPid(): number {
    const found = processesWith(this.site.config).find((pid) => {
      return / daemon run /.test(commandLine(pid));
    });
    if (found === undefined) throw new Error("the daemon does not run");
    return found;
  }
}

function commandLine(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
}

/** The daemon that has the page. */
class Daemon implements Agent, AsyncDisposable {
  readonly #socket: string;
  readonly #pings = new Worker(new URL("socket-pings.ts", import.meta.url).href);
  readonly pid: number;

  constructor(socket: string, pid: number) {
    this.#socket = socket;
    this.pid = pid;
  }

  ping(): Promise<number> {
    const answered = Promise.withResolvers<number>();
    this.#pings.onmessage = ({ data }: MessageEvent<SocketPingAnswer>) => {
      if (!data.isAnswered && isAlive(this.pid)) answered.reject(new Error("the daemon does not answer"));
      else answered.resolve(data.ms);
    };
    const request = "GET /status HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    this.#pings.postMessage({ to: { path: this.#socket }, request } satisfies SocketPing);
    return answered.promise;
  }

  call(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  terminate(): Promise<number> {
    return millisecondsToEnd(this.pid, () => !isAlive(this.pid));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#pings.terminate();
    if (isAlive(this.pid)) process.kill(this.pid, "SIGKILL");
  }
}
