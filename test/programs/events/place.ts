/** A project whose server counts calls, with saved programs, and the events of processes whose clock stands where it is put. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { App } from "../../../src/app/app.ts";
import { silentLog } from "../../../src/base/log.ts";
import { type OfferedEvent, offer } from "../../../src/programs/events/event-queue.ts";
import { Events } from "../../../src/programs/events/events.ts";
import { addTrigger, type WantedTrigger } from "../../../src/programs/events/manage.ts";
import { placeName } from "../../../src/programs/events/places.ts";
import { ProgramLibrary } from "../../../src/programs/saved/library.ts";
import { cli } from "../../cli/in-memory.ts";
import { eventually } from "../../support/eventually.ts";
import { fixture } from "../../support/servers.ts";
import { type Project, project } from "../../tools/generation/project.ts";

/** Deliveries of a test. */
const many = 1_000;

export const eventSchema = '{"type":"object","properties":{"event":{"type":"object"},"name":{"type":"string"}}}';

export class EventPlace implements Disposable {
  /** How far the clock is ahead of the real one. */
  aheadMs = 0;
  readonly folder: Project;
  readonly counts: string;

  constructor() {
    this.folder = project();
    this.counts = join(this.folder.path, "counts");
    const counting = { ...fixture("counting", this.counts), labels: { read_wait: ["private"] } };
    this.folder.configure({ counting, gone: { command: "/nonexistent/server" } });
  }

  async save(name: string, code: string, schema = eventSchema): Promise<void> {
    this.folder.write(`${name}.ts`, code);
    const argv = ["programs", "save", `${name}.ts`, "--name", name, "--input-schema", schema, "--replace"];
    const { exitCode, stderr } = await cli(argv, { cwd: this.folder.path });
    if (exitCode !== 0) throw new Error(stderr);
  }

  /** A process that runs programs for events. */
  async open(options: Partial<ConstructorParameters<typeof Events>[1]> = {}) {
    const app = await this.folder.open({ waitsForApprovals: true });
    const open = async () => ({ executions: await app.executions(), parts: app });
    const place = app.config.savedPrograms;
    const now = () => Date.now() + this.aheadMs;
    const events = new Events([{ place, open }], {
      store: app.store,
      env: app.env,
      log: silentLog,
      watches: true,
      now,
      ...options,
    });
    return new OpenPlace(app, events);
  }

  /** What was called, in order. */
  get calls(): string[] {
    if (!existsSync(this.counts)) return [];
    const lines = readFileSync(this.counts, "utf8").split("\n").slice(0, -1);
    return lines.map((line) => (JSON.parse(line) as string[]).join(" "));
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]();
  }
}

export class OpenPlace implements AsyncDisposable {
  readonly app: App;
  readonly events: Events;

  constructor(app: App, events: Events) {
    this.app = app;
    this.events = events;
  }

  get #place() {
    return this.app.config.savedPrograms;
  }

  on(program: string, wanted: Partial<WantedTrigger> & Pick<WantedTrigger, "on">) {
    const { store, config } = this.app;
    const saved = new ProgramLibrary(this.#place).get(program);
    const usual = { perMinute: 1_000, input: {}, map: {} };
    return addTrigger(
      saved,
      { ...usual, ...wanted },
      { place: this.#place, audit: { config, store, place: "command" } },
    );
  }

  /** A trigger for which only the test offers events. */
  webhook(program: string, wanted: Partial<WantedTrigger> = {}) {
    const on = { kind: "webhook", form: "github", address: crypto.randomUUID(), answer: "id" } as const;
    return this.on(program, { ...wanted, on: { ...on, secret: "${NONE}", isSecretMade: false } });
  }

  offer(trigger: Awaited<ReturnType<OpenPlace["on"]>>, event: OfferedEvent) {
    return offer(trigger, event, { place: this.#place, store: this.app.store });
  }

  deliveries() {
    return this.app.store.deliveries.list(placeName(this.#place), many);
  }

  /** Looks until no delivery is open, and returns all of them. */
  ended() {
    return eventually(async () => {
      await this.events.look();
      const all = await this.deliveries();
      return all.length > 0 && all.every(({ state }) => !["waiting", "running"].includes(state)) ? all : undefined;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.events.close();
    await this.app[Symbol.asyncDispose]();
  }
}
