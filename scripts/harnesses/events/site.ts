/** The project of one round: saved programs with triggers, a `serve --http` and a daemon, which can be killed and started again. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type WebhookForm, webhookForms } from "../../../src/programs/events/triggers.ts";
import { cli } from "../../../test/cli/in-memory.ts";
import { testEnvironment } from "../../../test/support/process.ts";
import { fixture } from "../../../test/support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../../../test/support/temporary.ts";

/** The message of a program that fails before any call. It is begun again after longer and longer times. */
export const refusal = "refused before any call";

/** It says with its first call that it has taken the event, and then ends as the event says. */
const take = `const { id, kind } = input.event.body;
if (kind === "refuses") throw new Error("${refusal}");
await counting.act({ name: id });
if (kind === "breaks") throw new Error("broken after a call");
return id;`;

/** A delivery, as the command lists it. */
export interface Delivery {
  id: string;
  program: string;
  trigger: string;
  state: string;
  attempts: number;
  message?: string;
}

interface Hook {
  path: string;
  secret: string;
}

export class Site implements AsyncDisposable {
  readonly folder: TemporaryFolder = temporaryFolder();
  readonly inbox = join(this.folder.path, "inbox");
  readonly hooks = new Map<WebhookForm, Hook>();
  readonly #counts = join(this.folder.path, "counts");
  readonly #env = { HOME: this.folder.path, XDG_DATA_HOME: join(this.folder.path, "data") };
  readonly #command: readonly string[];
  readonly #processes = new Map<"serve" | "daemon", Bun.Subprocess>();
  /** How often each notification has come as a webhook, by its id. */
  readonly told = new Map<string, number>();
  readonly #receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ headers }) => {
      const id = headers.get("webhook-id") ?? "";
      this.told.set(id, 1 + (this.told.get(id) ?? 0));
      return new Response();
    },
  });
  #port = 0;
  deaths = 0;

  constructor(command: readonly string[]) {
    this.#command = command;
  }

  async begin(): Promise<void> {
    mkdirSync(this.inbox);
    this.folder.write("claudikins.json", { mcpServers: { counting: fixture("counting", this.#counts) } });
    await this.#save("take", take);
    await this.#save("file", "return counting.act({ name: input.event.path });");
    await this.#save("next", "return counting.act({ name: `next ${input.event.value}` });");
    for (const form of webhookForms) await this.#addHook(form);
    await this.#claudikins("programs", "on", "file", "--file", join(this.inbox, "*.txt"));
    await this.#claudikins("programs", "on", "next", "--after", "take", "--if", "done");
    const told = 'name="told " + event.execution';
    const notify = ["programs", "notify", "take", "--when", "done"];
    await this.#claudikins(...notify, "--tool", "counting.act", "--map", told, "--as", toldTriggers.tool);
    await this.#claudikins(...notify, "--webhook", String(this.#receiver.url), "--as", toldTriggers.webhook);
    await Promise.all([this.start("serve"), this.start("daemon")]);
  }

  async #save(name: string, code: string): Promise<void> {
    this.folder.write(`${name}.ts`, code);
    const schema = '{"type":"object","properties":{"event":{"type":"object"}}}';
    await this.#claudikins("programs", "save", `${name}.ts`, "--name", name, "--input-schema", schema);
  }

  /** The secrets of Stripe and Slack are in a variable: these senders make them. */
  async #addHook(form: WebhookForm): Promise<void> {
    const makes = form === "stripe" || form === "slack";
    const flags = ["--webhook", form, ...(makes ? ["--secret", "${STORM_HOOK}"] : []), "--as", `on-${form}`, "--json"];
    const { trigger, secret } = JSON.parse(await this.#claudikins("programs", "on", "take", ...flags));
    this.hooks.set(form, { path: trigger.path, secret: secret ?? stormSecret });
  }

  async #claudikins(...argv: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await cli(argv, {
      cwd: this.folder.path,
      env: { ...this.#env, ...variables },
    });
    if (exitCode !== 0) throw new Error(stderr);
    return stdout;
  }

  /** Resolves when it runs. */
  async start(name: "serve" | "daemon"): Promise<void> {
    const words =
      name === "serve" ? ["serve", "--http", String(this.#port), "--without-token", "--json"] : ["daemon", "run"];
    const child = Bun.spawn([...this.#command, ...words], {
      cwd: this.folder.path,
      env: testEnvironment({ ...this.#env, ...variables, CLAUDIKINS_DAEMON: "on" }),
      stdio: ["ignore", "pipe", "ignore"],
    });
    this.#processes.set(name, child);
    if (name === "daemon") return;
    const { value } = await child.stdout.getReader().read();
    const { url } = JSON.parse(new TextDecoder().decode(value)) as { url: string };
    this.#port = Number(new URL(url).port);
  }

  async kill(name: "serve" | "daemon"): Promise<void> {
    const child = this.#processes.get(name)!;
    child.kill("SIGKILL");
    await child.exited;
    this.deaths += 1;
    await this.start(name);
  }

  url(path: string): URL {
    return new URL(path, `http://127.0.0.1:${this.#port}`);
  }

  writeFile(name: string): void {
    writeFileSync(join(this.inbox, name), name);
  }

  /** How often each name was called. */
  get calls(): Map<string, number> {
    const text = existsSync(this.#counts) ? readFileSync(this.#counts, "utf8") : "";
    const names = text
      .split("\n")
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as string[])[1]!);
    return new Map([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));
  }

  async deliveries(): Promise<Delivery[]> {
    return JSON.parse(await this.#claudikins("programs", "deliveries", "--json")).deliveries;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#processes.values()) {
      child.kill("SIGKILL");
      await child.exited;
    }
    await this.#receiver.stop(true);
    this.folder[Symbol.dispose]();
  }
}

/** The names of the notifications. */
export const toldTriggers = { tool: "told-by-tool", webhook: "told-by-webhook" };

const stormSecret = "a secret of the storm";
const variables = { STORM_HOOK: stormSecret };
