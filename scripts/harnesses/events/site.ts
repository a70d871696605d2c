/** One installation: saved programs with triggers, and the processes that run them. Several rounds use it, one after another. */
import { mkdirSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { savedProgramsOf } from "../../../src/config/saved-programs-place.ts";
import { placeName } from "../../../src/programs/events/places.ts";
import { type WebhookForm, webhookForms } from "../../../src/programs/events/stored-triggers.ts";
import type { BriefDelivery } from "../../../src/store/deliveries.ts";
import { openStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { cli } from "../../../test/cli/in-memory.ts";
import type { PostgresFixture } from "../../../test/support/postgres.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import type { Shape } from "./plan.ts";
import { Process } from "./processes.ts";
import { Recorder } from "./recorder.ts";
import { publishedSecrets } from "./senders.ts";

/** The message of a program that fails before it changes anything. It is begun again after longer and longer times. */
export const refusal = "refused before anything was changed";

export const brokenMessage = "broken after a call";

/** Runs that the program with a limit may begin within a minute. */
export const perMinute = 3;

/** Replicas of a team. */
const replicas = 2;

/** Time between two looks whether the daemon watches. */
const watchedMs = 1_500;

/** Deliveries that are read at once: the dead ones and the newest. */
const readDeliveries = 2_000;

export const resource = "storm://notes";

/** The names of the notifications. */
export const toldTriggers = { tool: "told-by-tool", webhook: "told-by-webhook" };

const programs = {
  /** It says with its call that it has taken the event, and then ends as the event says. */
  take: `const { id, kind } = input.event.body;
if (kind === "refuses" && !(await recorder.look({ key: id })).isMended) throw new Error("${refusal}");
await recorder.act({ key: id });
if (kind === "breaks") throw new Error("${brokenMessage}");
return id;`,
  file: "return recorder.act({ key: `file ${input.event.path}` });",
  next: "return recorder.act({ key: `next ${input.event.value}` });",
  alarm: "return recorder.act({ key: `alarm ${input.event.execution}` });",
  noted: "return recorder.act({ key: `noted ${input.event.uri}` });",
  listed: "return recorder.act({ key: `listed ${input.event.added.join()}` });",
  limited: "return recorder.act({ key: input.event.body.id });",
};

interface Hook {
  path: string;
  secret: string;
}

export class Site implements AsyncDisposable {
  readonly shape: Shape;
  readonly folder = temporaryFolder();
  readonly recorder = new Recorder();
  readonly inbox = join(this.folder.path, "inbox");
  readonly hooks = new Map<WebhookForm | "limited", Hook>();
  /** How often each notification has come as a webhook, by its id. */
  readonly told = new Map<string, number>();
  readonly serving: Process[];
  readonly daemon: Process;
  readonly store: Store;
  /** Kept after the end, for whoever looks for the cause of a failure. */
  isKept = false;
  readonly #database: string | undefined;
  #disturbing: Promise<unknown> = Promise.resolve();
  readonly #place: string;
  readonly #env: Record<string, string>;
  readonly #receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ headers }) => {
      const id = headers.get("webhook-id") ?? "";
      this.told.set(id, 1 + (this.told.get(id) ?? 0));
      return new Response();
    },
  });

  constructor(shape: Shape, command: readonly string[], database: string | undefined) {
    this.shape = shape;
    this.#database = database;
    const { path: folder } = this.folder;
    this.#env = {
      HOME: folder,
      XDG_DATA_HOME: join(folder, "data"),
      ...(database === undefined ? {} : { CLAUDIKINS_DATABASE: database }),
      ...Object.fromEntries(webhookForms.map((form) => [variableOf(form), publishedSecrets[form]])),
    };
    const options = { command, folder, env: this.#env };
    const count = shape === "team" ? replicas : 1;
    this.serving = Array.from({ length: count }, (_, place) => new Process(`serve-${place}`, options));
    this.daemon = new Process("daemon", options);
    this.store = openStore(this.#env);
    const origin = { kind: "project", file: join(folder, "claudikins.json") } as const;
    this.#place = placeName(savedProgramsOf(origin, this.#env));
  }

  static async open(shape: Shape, command: readonly string[], postgres: PostgresFixture | undefined): Promise<Site> {
    const site = new Site(shape, command, shape === "team" ? await postgres!.database() : undefined);
    await site.#begin();
    return site;
  }

  get processes(): Process[] {
    return [...this.serving, this.daemon];
  }

  async #begin(): Promise<void> {
    mkdirSync(this.inbox);
    const recorder = { url: this.recorder.url, definitions: "trust" };
    // Nobody is asked where data may go.
    this.folder.write("claudikins.json", { mcpServers: { recorder }, policy: { flow: "off" } });
    const schema = '{"type":"object","properties":{"event":{"type":"object"}}}';
    for (const [name, code] of Object.entries(programs)) {
      this.folder.write(`${name}.ts`, code);
      await this.claudikins("programs", "save", `${name}.ts`, "--name", name, "--input-schema", schema);
    }
    for (const form of webhookForms) await this.#addHook("take", form, form, []);
    await this.#addHook("limited", "limited", "standard", ["--limit", String(perMinute)]);
    const on = (...words: string[]) => this.claudikins("programs", "on", ...words, "--limit", "1000");
    await on("file", "--file", join(this.inbox, "*.txt"));
    await on("next", "--after", "take", "--if", "done");
    await on("alarm", "--after", "take", "--if", "failed");
    await on("noted", "--resource", `recorder=${resource}`);
    await on("listed", "--list", "recorder=tools");
    const notify = ["programs", "notify", "take", "--when", "done", "--limit", "1000"];
    const key = 'key="told " + event.execution';
    await this.claudikins(...notify, "--tool", "recorder.act", "--map", key, "--as", toldTriggers.tool);
    await this.claudikins(...notify, "--webhook", String(this.#receiver.url), "--as", toldTriggers.webhook);
    await Promise.all(this.processes.map((each) => each.start()));
    await this.#untilWatched();
  }

  /** Until the daemon has listed the tools and subscribed to the resource, their changes start nothing. */
  async #untilWatched(): Promise<void> {
    for (let tools = 1; ; tools++) {
      await this.recorder.addTool(`first_${tools}`);
      await this.recorder.touch(resource);
      await Bun.sleep(watchedMs);
      const all = await this.deliveries();
      const isHeard = (trigger: string) =>
        all.some(({ triggerId, state }) => triggerId === trigger && state === "done");
      if (["listed", "noted"].every(isHeard)) return;
    }
  }

  async #addHook(program: string, name: WebhookForm | "limited", form: WebhookForm, more: string[]): Promise<void> {
    const flags = ["--webhook", form, "--secret", `\${${variableOf(form)}}`, "--as", `on-${name}`, "--json"];
    const limit = more.length > 0 ? more : ["--limit", "1000"];
    const { trigger } = JSON.parse(await this.claudikins("programs", "on", program, ...flags, ...limit));
    this.hooks.set(name, { path: trigger.path, secret: publishedSecrets[form] });
  }

  async claudikins(...argv: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await cli(argv, { cwd: this.folder.path, env: this.#env });
    if (exitCode !== 0) throw new Error(stderr);
    return stdout;
  }

  writeFile(name: string): void {
    writeFileSync(join(this.inbox, name), name);
  }

  deliveries(): Promise<BriefDelivery[]> {
    return this.store.deliveries.list(this.#place, readDeliveries);
  }

  /** Moves all clocks to the latest one, and further. */
  advance(byMs: number): void {
    const latest = Math.max(...this.processes.map(({ clock }) => clock.aheadMs)) + byMs;
    for (const { clock } of this.processes) clock.move(latest - clock.aheadMs);
  }

  /** Ends all connections to the database of a team. */
  async cut(postgres: PostgresFixture): Promise<void> {
    await this.#alone(() => postgres.cut(this.#database!));
  }

  async restart(postgres: PostgresFixture): Promise<void> {
    await this.#alone(() => postgres.restart());
  }

  /** One disturbance of the database after another. */
  #alone(work: () => Promise<unknown>): Promise<unknown> {
    this.#disturbing = this.#disturbing.then(work);
    return this.#disturbing;
  }

  /** Ends everything. Returns what was not in order. */
  async stop(): Promise<string[]> {
    const wrong = (await Promise.all(this.processes.map((each) => each.stop()))).flat();
    const left = processesIn(this.folder.path);
    return left.length > 0 ? [...wrong, `processes were left: ${left.join(", ")}`] : wrong;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.processes.map((each) => each.end()));
    await this.#receiver.stop(true);
    await this.recorder[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
    if (!this.isKept) this.folder[Symbol.dispose]();
  }
}

const variableOf = (form: WebhookForm) => `STORM_${form.toUpperCase()}`;

/** The processes that work in a folder. */
function processesIn(folder: string): number[] {
  if (process.platform !== "linux") return [];
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
    } catch {
      // It has ended, or belongs to somebody else.
      return false;
    }
  });
}
