/** Programs of an agent that may no longer call, because its token has ended: none goes on, whenever it was started. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { App } from "../../src/app/app.ts";
import { callExecuteCode } from "../../src/serve/tools/execute-code.ts";
import { type Project, project } from "../tools/generation/project.ts";

setDefaultTimeout(60_000);

let folder: Project;
let app: App;
beforeAll(async () => {
  folder = project();
  folder.configure({});
  app = await folder.open();
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** Calls execute_code for an agent that ends with the signal. */
async function execute(args: object, ended: AbortSignal): Promise<string> {
  const asker = { starter: { client: "a" }, isConnected: () => false, ended };
  const { content } = await callExecuteCode({ ...args }, app, new AbortController().signal, { asker });
  return (content as { text: string }[])[0]!.text;
}

const code = "await sleep(20_000); return 'went on'";
const idIn = (text: string) => /\{"resume": "(\w+)"\}/.exec(text)?.[1] ?? text;

describe("a program in the background is cancelled", () => {
  test("at once if its agent has ended before it started", async () => {
    const answer = await execute({ code, background: true }, AbortSignal.abort());
    // A machine under load answers before the program is cancelled.
    const outcome = answer.includes("resume")
      ? await execute({ resume: idIn(answer) }, new AbortController().signal)
      : answer;
    expect(outcome).toContain("cancelled");
  });

  test("when its agent ends, also if the agent began another session and only waits for the outcome there", async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const id = idIn(await execute({ code, background: true }, first.signal));
    const waiting = execute({ resume: id }, second.signal);
    second.abort();
    expect(await waiting).toContain("cancelled");
  });
});
