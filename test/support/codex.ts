/**
 * Codex as a host without a person, and a Responses API whose model follows a script. Codex takes 300 MB, so it is not a dependency. It is
 * installed from npm for a test, or taken from `TEST_HOSTS`, a folder in which the package was installed.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram } from "./process.ts";

const given = process.env["TEST_HOSTS"];
const hosts = given ?? mkdtempSync(join(tmpdir(), "claudikins-codex-"));

/** The program. Await `problemOfCodex` before it is used. */
export const codex = join(hosts, "node_modules", ".bin", "codex");

/** Call this when all tests of a file have ended. */
export function removeCodex(): void {
  if (given === undefined) rmSync(hosts, { recursive: true, force: true });
}

/** Installs the program if it is not there. Returns why it does not run; undefined if it does. */
export async function problemOfCodex(): Promise<string | undefined> {
  const env = { HOME: hosts, CODEX_HOME: hosts };
  if (!existsSync(codex)) {
    writeFileSync(join(hosts, "package.json"), "{}");
    const command = [process.execPath, "add", "--exact", "--ignore-scripts", "@openai/codex@0.169.0"];
    const added = await runProgram(command, { cwd: hosts, env });
    if (added.exitCode !== 0) return added.stderr.trim().split("\n").at(-1);
  }
  const { exitCode, stderr } = await runProgram([codex, "--version"], { cwd: hosts, env });
  return exitCode === 0 ? undefined : stderr.trim();
}

/** Runs until its model has ended. */
export const codexCommand: readonly string[] = [codex, "exec", "--strict-config", "--skip-git-repo-check", "go"];

interface Item {
  type: string;
  output?: unknown;
}

export interface CodexModel extends AsyncDisposable {
  url: string;
  /** The answers of the tool, each as often as Codex has sent it. */
  outputs: unknown[];
}

/** A model that lets `execute_code` run the programs one after another, and then ends. `before` is awaited before each of them. */
export function codexModel(programs: readonly string[], before = async (_at: number) => {}): CodexModel {
  const outputs: unknown[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      if (!request.url.endsWith("/responses")) return Response.json({ data: [], models: [] });
      const { input } = (await request.json()) as { input: Item[] };
      const answers = input.filter(({ type }) => type === "function_call_output");
      outputs.push(...answers.map(({ output }) => output));
      const code = programs[answers.length];
      if (code !== undefined) await before(answers.length);
      const id = String(answers.length + 1);
      const call = { call_id: `call_${id}`, namespace: "mcp__claudikins", name: "execute_code" };
      const item =
        code === undefined
          ? { type: "message", id: `msg_${id}`, role: "assistant", content: [{ type: "output_text", text: "Done." }] }
          : { type: "function_call", id: `fc_${id}`, ...call, arguments: JSON.stringify({ code }) };
      const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
      const events = [
        { type: "response.created", response: { id: `resp_${id}` } },
        { type: "response.output_item.done", output_index: 0, item },
        { type: "response.completed", response: { id: `resp_${id}`, usage } },
      ];
      const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
      return new Response(text, { headers: { "content-type": "text/event-stream" } });
    },
  });
  return { url: `http://127.0.0.1:${server.port}/v1`, outputs, [Symbol.asyncDispose]: () => server.stop(true) };
}

/** Settings with the scripted model, and more lines. */
export function codexSettings({ url }: CodexModel, more: string): string {
  const provider = `name = "scripted"\nbase_url = "${url}"\nwire_api = "responses"\nrequires_openai_auth = false\n`;
  return `model = "m"\nmodel_provider = "scripted"\n\n[model_providers.scripted]\n${provider}\n${more}`;
}
