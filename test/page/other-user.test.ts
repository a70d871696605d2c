/** A second user of the machine gets nothing from the page, from whatever address it connects and whatever secret it has seen. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { asOtherUser, asThisUser, httpRequest, loopbackEnds, otherUserNote, statusIn } from "../support/other-user.ts";
import { Scene } from "./scene.ts";

setDefaultTimeout(60_000);

let scene: Scene;
let page: URL;
let token: string;
let port: number;
beforeEach(async () => {
  scene = await Scene.open();
  const url = new URL(scene.url);
  token = url.hash.slice(1);
  port = Number(url.port);
  url.hash = "";
  page = url;
});
afterEach(() => scene[Symbol.asyncDispose]());

const pageHeaders = () => ({ origin: page.origin, "content-type": "application/json", "claudikins-ui": "1" });

const exchange = () => httpRequest("POST", new URL("api/session", page), pageHeaders(), JSON.stringify({ token }));

async function signIn(): Promise<string> {
  const answer = await fetch(new URL("api/session", page), {
    method: "POST",
    headers: pageHeaders(),
    body: JSON.stringify({ token }),
  });
  expect(answer.status).toBe(204);
  return answer.headers.get("set-cookie")!.split(";")[0]!;
}

const approve = (id: string, cookie: string) =>
  httpRequest("POST", new URL(`api/approvals/${id}`, page), { ...pageHeaders(), cookie }, `{"decision":"once"}`);

/** The page has handled everything that was sent before, because it looks for the owner of this connection later. */
const untilHandled = async () => {
  for (let request = 0; request < 5; request++) await (await fetch(page)).text();
};

describe.skipIf(otherUserNote !== "")(`another user of this machine${otherUserNote}`, () => {
  test.each(loopbackEnds)(
    "cannot exchange the token through $host from $localAddress, which still works afterwards",
    async (end) => {
      const answer = await asOtherUser({ to: { ...end, port }, bytes: exchange() });
      expect([statusIn(answer), answer.includes("set-cookie")]).toEqual([403, false]);
      expect(answer).toContain("Another user of this machine may not connect");
      await signIn();
    },
  );

  test("cannot use the cookie of a session", async () => {
    const cookie = await signIn();
    const id = await scene.ask();
    for (const end of loopbackEnds) {
      const to = { ...end, port };
      const reads = httpRequest("GET", new URL("api/state", page), { cookie });
      expect(statusIn(await asOtherUser({ to, bytes: reads }))).toBe(403);
      expect(statusIn(await asOtherUser({ to, bytes: approve(id, cookie) }))).toBe(403);
    }
    expect((await scene.rows(id))[0]?.state).toBe("open");
  });

  test("does not even get the files of the page", async () => {
    for (const path of ["", "page.js"]) {
      const bytes = httpRequest("GET", new URL(path, page));
      expect(statusIn(await asOtherUser({ to: { host: "127.0.0.1", port }, bytes }))).toBe(403);
    }
  });

  test("cannot approve with a connection that it has left, which the system lists as the administrator's", async () => {
    const cookie = await signIn();
    const id = await scene.ask();
    for (const end of loopbackEnds)
      await asOtherUser({ to: { ...end, port }, bytes: approve(id, cookie), leaves: true });
    await untilHandled();
    expect((await scene.rows(id))[0]?.state).toBe("open");
  });

  test("cannot use up the token with a connection that it has left", async () => {
    for (const end of loopbackEnds) await asOtherUser({ to: { ...end, port }, bytes: exchange(), leaves: true });
    await untilHandled();
    await signIn();
  });
});

test.each(loopbackEnds)("the user of the page may connect through $host from $localAddress", async (end) => {
  expect(statusIn(await asThisUser({ to: { ...end, port }, bytes: exchange() }))).toBe(204);
});

test.skipIf(process.platform !== "linux")("the page is served at one address of this machine only", async () => {
  for (const host of ["127.0.0.2", "::1", "127.1.2.3"]) {
    expect(await asThisUser({ to: { host, port }, bytes: exchange() })).toBe("ECONNREFUSED\n");
  }
  await signIn();
});
