/** More client names than there are places listen over HTTP: a new client is served, and a running call is not disturbed. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../support/eventually.ts";
import {
  afterSignal,
  executeRequest,
  type HttpServe,
  httpServe,
  rawSession,
  resultText,
  signalFile,
} from "../support/http-serve.ts";
import { modernAnswer, modernRequest } from "../support/modern-host.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

let folder: TemporaryFolder;
let serve: HttpServe;
beforeEach(async () => {
  folder = temporaryFolder();
  folder.write("claudikins.json", { mcpServers: {}, executions: { answerAfterMs: false } });
  serve = await httpServe(folder);
});
afterEach(async () => {
  await serve[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** The default of --max-sessions is 100. */
const crowd = Array.from({ length: 130 }, (_, number) => `name-${number}`);

/** A program that says that it runs, and waits for the test. */
const slow = `fs.writeFileSync("./workspace/started", ""); ${afterSignal('"done"')}`;
const untilStarted = async () => {
  await eventually(() => existsSync(join(folder.path, ".claudikins", "workspace", "started")));
};

/** A stream that has begun. It is not read further. */
async function begun(response: Response): Promise<Response> {
  expect(response.status).toBe(200);
  await response.body!.getReader().read();
  return response;
}

describe("sessions", () => {
  const session = (name: string) => rawSession(serve.url, "2025-11-25", {}, name);

  test("130 names that listen do not keep a new client out, and a running call gets its answer", async () => {
    const worker = await session("worker");
    const answer = worker.post(executeRequest(1, slow));
    await untilStarted();
    for (const name of crowd) await begun(await (await session(name)).get());
    const late = await session("late");
    expect(await resultText(await late.post(executeRequest(1, 'return "served"')))).toBe("served");
    // Another program with the name of one that works is a new client too.
    expect(await resultText(await (await session("worker")).post(executeRequest(1, "return 2")))).toBe("2");
    folder.write(signalFile, "");
    expect(await resultText(await answer)).toBe("done");
  });

  test("130 sessions of names that never come back do not keep a new client out", async () => {
    for (const name of crowd) await session(name);
    expect(await resultText(await (await session("late")).post(executeRequest(1, "return 1")))).toBe("1");
  });
});

describe("requests without sessions", () => {
  const execute = (code: string, name: string) =>
    modernAnswer(serve.url, "tools/call", { name: "execute_code", arguments: { code } }, { name });
  const textOf = ({ result }: Awaited<ReturnType<typeof execute>>) => result?.content?.[0]?.text.split("\n")[0];
  const listen = (name: string) =>
    modernRequest(serve.url, "subscriptions/listen", { notifications: { toolsListChanged: true } }, { name });

  test("130 names that listen do not keep a new client out, and a running call gets its answer", async () => {
    const answer = execute(slow, "worker");
    await untilStarted();
    for (const name of crowd) await begun(await listen(name));
    expect(textOf(await execute('return "served"', "late"))).toBe("served");
    expect((await modernAnswer(serve.url, "tools/list", {}, { name: "later" })).status).toBe(200);
    folder.write(signalFile, "");
    expect(textOf(await answer)).toBe("done");
  });

  test("names with several streams each do not keep a new client out", async () => {
    for (const name of crowd) for (let stream = 0; stream < 3; stream++) await begun(await listen(name));
    expect(textOf(await execute("return 1", "late"))).toBe("1");
  });
});
