/** A second user of the machine gets nothing from `serve --http` at a loopback address, whether it requires a token or not. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type HttpServe, httpServe, initialize, json, rawSession } from "../support/http-serve.ts";
import { envelope, modernVersion } from "../support/modern-host.ts";
import { asOtherUser, asThisUser, httpRequest, loopbackEnds, otherUserNote, statusIn } from "../support/other-user.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

let folder: TemporaryFolder;
let open: HttpServe;
let guarded: HttpServe;
beforeAll(async () => {
  folder = temporaryFolder();
  folder.write("claudikins.json", { mcpServers: {} });
  [open, guarded] = await Promise.all([httpServe(folder), httpServe(folder, [], { token: "kept" })]);
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await guarded[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const to = (serve: HttpServe, end: (typeof loopbackEnds)[number]) => ({
  ...end,
  port: Number(new URL(serve.url).port),
});

const begin = (serve: HttpServe, headers: Record<string, string> = {}) =>
  httpRequest("POST", new URL(serve.url), { ...json, ...headers }, JSON.stringify(initialize()));

describe.skipIf(otherUserNote !== "")(`another user of this machine${otherUserNote}`, () => {
  test.each(loopbackEnds)("cannot begin a session without a token through $host from $localAddress", async (end) => {
    const answer = await asOtherUser({ to: to(open, end), bytes: begin(open) });
    expect(statusIn(answer)).toBe(403);
    expect(answer).toContain("Another user of this machine may not connect");
    expect(statusIn(await asOtherUser({ to: to(guarded, end), bytes: begin(guarded) }))).toBe(401);
  });

  test("cannot use, read or end the session of this user, even with its id", async () => {
    const session = await rawSession(open.url);
    const headers = { ...json, "mcp-session-id": session.id, "mcp-protocol-version": "2025-11-25" };
    const list = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    for (const method of ["POST", "GET", "DELETE"]) {
      const bytes = httpRequest(method, new URL(open.url), headers, method === "POST" ? list : "");
      for (const end of loopbackEnds) {
        expect(statusIn(await asOtherUser({ to: to(open, end), bytes }))).toBe(403);
        await asOtherUser({ to: to(open, end), bytes, leaves: true });
      }
    }
    expect((await session.post(JSON.parse(list))).status).toBe(200);
    await session.end();
  });

  test("cannot send requests of the revision without sessions", async () => {
    const headers = { ...json, "mcp-protocol-version": modernVersion, "mcp-method": "tools/list" };
    const message = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: envelope() } };
    const bytes = httpRequest("POST", new URL(open.url), headers, JSON.stringify(message));
    const [end] = loopbackEnds;
    expect(statusIn(await asOtherUser({ to: to(open, end), bytes }))).toBe(403);
    expect(statusIn(await asThisUser({ to: to(open, end), bytes }))).toBe(200);
  });
});

test.each(loopbackEnds)("this user may connect without a token through $host from $localAddress", async (end) => {
  expect(statusIn(await asThisUser({ to: to(open, end), bytes: begin(open) }))).toBe(200);
});

test("serve --http localhost prints the address itself, because another user may listen at another address of the name", async () => {
  await using serve = await httpServe(folder, [], { port: "localhost:0" });
  expect(serve.url).toMatch(/^http:\/\/(?:127\.0\.0\.1|\[::1\]):\d+\/mcp$/);
  expect((await fetch(serve.url.replace("/mcp", "/health"))).status).toBe(200);
});
