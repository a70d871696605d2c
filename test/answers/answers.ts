/** Runs programs with real servers in this process, and returns the answers that an agent gets. */
import { join } from "node:path";
import { App } from "../../src/app/app.ts";
import { silentLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/load.ts";
import { execute } from "../../src/programs/execute.ts";
import type { Outcome } from "../../src/sandbox/contract.ts";
import { Sandbox } from "../../src/sandbox/sandbox.ts";
import { outcomeContent } from "../../src/serve/content/bounded-content.ts";
import { claudikinsCommand } from "../support/command.ts";
import { everything, filesystem, memory } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";

/** The path in programs; a folder of the test replaces it. */
const dataFolder = "/data";

export class Answers implements AsyncDisposable {
  readonly #folder = temporaryFolder();
  readonly #data = join(this.#folder.path, "data");
  #app: Promise<App> | undefined;

  /** The outcome, and its text from `execute_code` without what differs between runs. */
  async run(code: string, timeoutMs = 2_500): Promise<{ outcome: Outcome; text: string }> {
    this.#app ??= this.#open();
    const app = await this.#app;
    const source = code.replaceAll(dataFolder, this.#data);
    const outcome = await execute({ source, limits: { timeoutMs } }, app);
    const { folders, limits } = app.config;
    const { content } = outcomeContent(outcome, { maxChars: limits.outputChars, workspace: folders.workspace });
    const text = content.map((block) => (block.type === "text" ? block.text : `(${block.type})`)).join("\n");
    return { outcome, text: this.#plain(text) };
  }

  #plain(text: string): string {
    const counts = /\b\d[\d,]*(?= (?:times|with the same|calls?\b|characters))/g;
    return (text.includes("TimeoutError") ? text.replace(counts, "N") : text)
      .replaceAll(this.#data, dataFolder)
      .replace(/· \d[\d.,]* m?s/g, "· n ms")
      .replace(/outputs\/\w+\.txt/g, "outputs/id.txt");
  }

  async #open(): Promise<App> {
    const { path, write } = this.#folder;
    const [command, ...args] = claudikinsCommand;
    write("data/notes.md", "# Notes\nord_00042 is late, see anna@example.com\n");
    write("data/a.txt", "one\ntwo\n");
    write("data/b.txt", "three\n");
    write("claudikins.json", {
      mcpServers: {
        demo: {
          command,
          args: [...args, "demo"],
          description: "A shop's back office: orders, customers, stock, tickets",
        },
        files: filesystem(this.#data),
        memory: memory(join(path, "memory.jsonl")),
        everything: everything(),
      },
      // What one program teaches the sandbox must not change the next answer.
      observe: false,
    });
    const env = { PATH: process.env["PATH"], HOME: path, CI: "true" };
    const app = new App(await loadConfig({ cwd: path, env }), new Sandbox(), {
      env,
      cwd: path,
      log: silentLog,
    });
    await Promise.all([...app.config.servers.keys()].map((name) => app.catalog.tools(name)));
    return app;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#app)?.[Symbol.asyncDispose]();
    this.#folder[Symbol.dispose]();
  }
}
