/** A project whose server records its calls, and an app in which code runs under a policy. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { App, type AppOptions } from "../../src/app/app.ts";
import { silentLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/load.ts";
import { execute } from "../../src/programs/execute.ts";
import type { Outcome } from "../../src/sandbox/contract.ts";
import { Sandbox } from "../../src/sandbox/sandbox.ts";
import type { Responder } from "../../src/servers/connection/responder.ts";
import { fixture } from "../support/servers.ts";
import { type Project, project } from "../tools/generation/project.ts";

export interface Got {
  name?: string;
  args?: Record<string, unknown>;
}

export class Recorded implements AsyncDisposable {
  readonly project: Project = project();
  readonly #record = join(this.project.path, "got.jsonl");
  /** Whether calls of the next app may wait for a decision. */
  waits = false;
  /** Answers the questions of the next app. */
  atTerminal: AppOptions["person"];
  /** Variables of the environment of the next app. */
  variables: Record<string, string> = {};
  /** Opens the next app like `serve` on stdin: the conditions of rules are not checked before. */
  skipsConditions = false;
  /** `tools` of the config of the next app. */
  edits: object | undefined;
  #app: App | undefined;

  get app(): App {
    if (!this.#app) throw new Error("no policy was given");
    return this.#app;
  }

  /** An app with the server `rec` with these keys, this common policy, and known tools. */
  async open(keys: object, policy?: object, tools?: object[]): Promise<App> {
    const list = tools ? [this.project.write("tools.json", tools)] : [];
    const rec = { ...fixture("recording", this.#record, ...list), category: "test", definitions: "trust", ...keys };
    const { edits } = this;
    this.project.write("claudikins.json", {
      mcpServers: { rec },
      ...(policy ? { policy } : {}),
      ...(edits ? { tools: edits } : {}),
    });
    this.got();
    const app = await this.reopen();
    await app.catalog.list("rec");
    return app;
  }

  /** Another app, like that of the next program. */
  async reopen(): Promise<App> {
    await this.close();
    const { path } = this.project;
    const env = { PATH: process.env["PATH"], HOME: path, CI: "true", ...this.variables };
    this.#app = new App(await loadConfig({ cwd: path, env, skipsConditions: this.skipsConditions }), new Sandbox(), {
      env,
      cwd: path,
      log: silentLog,
      waitsForApprovals: this.waits,
      person: this.atTerminal,
    });
    return this.#app;
  }

  /** Closes the app. */
  async close(): Promise<void> {
    await this.#app?.[Symbol.asyncDispose]();
    this.#app = undefined;
  }

  /** The messages to the server since the last call of this function. */
  got(): Got[] {
    if (!existsSync(this.#record)) return [];
    const lines = readFileSync(this.#record, "utf8").trim().split("\n");
    rmSync(this.#record);
    return lines.map((line) => JSON.parse(line));
  }

  run(source: string, signal?: AbortSignal): Promise<Outcome> {
    // Wrong calls must be made, not found in advance.
    return execute({ source, signal, check: "off" }, this.app);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#app?.[Symbol.asyncDispose]();
    this.project[Symbol.dispose]();
  }
}

export type Elicited = { message: string; requestedSchema: { properties: { answer: { enum: string[] } } } };

/** A host whose person answers each question with the next of these; the last one is repeated. */
export class Person {
  readonly asked: string[] = [];
  /** The maximum number of concurrent questions. */
  mostAtOnce = 0;
  #open = 0;
  readonly #answers: (string | object)[];

  constructor(...answers: (string | object)[]) {
    this.#answers = answers;
  }

  get host(): Responder {
    return {
      capabilities: { elicitation: { form: {} } },
      elicit: async (params, { signal }) => {
        this.asked.push(params.message);
        this.#open += 1;
        this.mostAtOnce = Math.max(this.mostAtOnce, this.#open);
        await new Promise((done) => setImmediate(done));
        this.#open -= 1;
        signal.throwIfAborted();
        const answer = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0];
        return (typeof answer === "string" ? { action: "accept", content: { answer } } : answer) as never;
      },
    };
  }
}
