/** A server whose calls are refused for want of a valid token is shown as such before it is called again. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { App } from "../../src/app/app.ts";
import { silentLog } from "../../src/base/log.ts";
import { execute } from "../../src/programs/execute.ts";
import { instructionsFor } from "../../src/serve/surface/instructions.ts";
import { callExecuteCode } from "../../src/serve/tools/execute-code.ts";
import { callSearchTools } from "../../src/serve/tools/search-tools.ts";
import { LogFiles } from "../../src/servers/logs/log-file.ts";
import { configOwner } from "../../src/servers/logs/place.ts";
import { stateProblem } from "../../src/servers/state.ts";
import { AuthRefusals } from "../../src/servers/tool-calls.ts";
import { fixture } from "../support/servers.ts";
import { type Project, project } from "../tools/generation/project.ts";

// Processes take their time to start on a small machine.
setDefaultTimeout(60_000);

describe("a failure counts as refused", () => {
  const seen = (text: string, isError = true) => {
    const refusals = new AuthRefusals({ lastRefusals: () => 0, noteRefusals: () => {} });
    for (let count = 0; count < 2; count++) refusals.see("a", { isError, content: [{ type: "text", text }] });
    return refusals.of("a");
  };

  test.each([
    "Request failed with status code 401",
    "HTTP 403",
    "Error: 401 Unauthorized",
    "403 Forbidden: no access to this repository",
    "GitHub API error: Bad credentials",
    "Invalid API key",
    "unauthorised",
  ])("with the text %j", (text) => {
    expect(seen(text)).toBe(2);
  });

  test.each([
    "No order 401",
    "status 404",
    "a room with 403 places",
    "Not found",
    `401 Unauthorized ${"x".repeat(5_000)}`,
  ])("but not with the text %j", (text) => {
    expect(seen(text)).toBe(0);
  });

  test("but not if the call succeeded", () => {
    expect(seen("401 Unauthorized", false)).toBe(0);
  });
});

describe("a search", () => {
  let folder: Project;
  let app: App;
  let message: string;
  beforeAll(async () => {
    folder = project();
    message = folder.write("message.txt", "Request failed with status 401: Unauthorized");
    folder.configure({ tracker: fixture("refusing", message) });
    app = await folder.open();
  });
  afterAll(async () => {
    await app[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  const search = async () => {
    const { content } = await callSearchTools({ query: "find issues" }, app, new AbortController().signal);
    return (content as { text: string }[])[0]!.text;
  };
  const call = () => app.pool.callTool("tracker", "find", {});

  test("marks a server after two refused calls, and no longer after one that succeeds", async () => {
    await call();
    expect(await search()).not.toContain("unauthorized");
    await call();
    expect(await search()).toStartWith(
      "Down: tracker refused its last 2 calls as unauthorized. Retrying will not help. Tell the user: Check the token in its config entry: claudikins doctor\n",
    );
    expect(stateProblem(app.pool.states().get("tracker")!)).toContain("unauthorized");
    const source = 'return [...await tools.search("find issues"), await tools.describe("tracker.find")]';
    const problem = expect.stringContaining("Check the token in its config entry: claudikins doctor");
    expect(await execute({ source }, app)).toMatchObject({ value: [{ problem }, { problem }] });
    rmSync(message);
    await call();
    expect(await search()).not.toContain("unauthorized");
    const repaired = { value: [expect.not.objectContaining({ problem }), expect.not.objectContaining({ problem })] };
    expect(await execute({ source }, app)).toMatchObject(repaired);
  });

  test("says in the first refusal of a session that the last calls of another one were refused too", async () => {
    folder.write("message.txt", "Request failed with status 401: Unauthorized");
    // An app with log files leaves notes for others.
    const logs = { folder: join(folder.path, "logs"), config: configOwner(app.config.origin), log: silentLog };
    const opened = () => folder.open({ logs: new LogFiles(logs) });
    await using earlier = await opened();
    for (let calls = 0; calls < 2; calls++) await earlier.pool.callTool("tracker", "find", {});
    await using later = await opened();
    expect(later.pool.fault("tracker")).toMatchObject({
      why: "refused its last 2 calls as unauthorized",
      isPast: true,
    });
    expect(await instructionsFor(later)).toContain("tracker (down last time");
    const { content } = await callExecuteCode({ code: "await tracker.find({})" }, later, new AbortController().signal);
    const text = (content as { text: string }[]).map((each) => each.text).join("\n");
    expect(text).toContain("Down: tracker refused its last 3 calls as unauthorized.");
    rmSync(message);
    await later.pool.callTool("tracker", "find", {});
    await using last = await opened();
    expect(last.pool.fault("tracker")).toBeUndefined();
  });
});
