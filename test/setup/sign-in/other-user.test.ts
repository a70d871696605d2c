/** A second user of the machine, who knows the state of a sign-in, cannot end it with a code of another account. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { RedirectListener } from "../../../src/setup/sign-in/redirect-listener.ts";
import {
  asOtherUser,
  asThisUser,
  httpRequest,
  loopbackEnds,
  otherUserNote,
  statusIn,
} from "../../support/other-user.ts";

setDefaultTimeout(60_000);

class Listening implements AsyncDisposable {
  readonly listener = new RedirectListener([0]);
  readonly codes: (string | null)[] = [];
  readonly port = Number(this.listener.url.port);

  constructor() {
    this.listener.onRedirect = async ({ searchParams }) => {
      this.codes.push(searchParams.get("code"));
      return "<p>signed in</p>";
    };
  }

  redirect(code: string): string {
    return httpRequest("GET", new URL(`?code=${code}&state=the-right-one`, this.listener.url));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.listener[Symbol.asyncDispose]();
  }
}

describe.skipIf(otherUserNote !== "")(`another user of this machine${otherUserNote}`, () => {
  test.each(loopbackEnds)(
    "cannot send a redirect through $host from $localAddress, and the right one is still awaited",
    async (end) => {
      await using listening = new Listening();
      const { port, codes } = listening;
      const answer = await asOtherUser({ to: { ...end, port }, bytes: listening.redirect("theirs") });
      expect(statusIn(answer)).toBe(403);
      expect(codes).toEqual([]);
      const own = await asThisUser({ to: { host: "127.0.0.1", port }, bytes: listening.redirect("ours") });
      expect([statusIn(own), codes]).toEqual([200, ["ours"]]);
    },
  );

  test("cannot send a redirect and leave, which the system lists as the administrator's connection", async () => {
    await using listening = new Listening();
    const { port, codes } = listening;
    for (const end of loopbackEnds) {
      await asOtherUser({ to: { ...end, port }, bytes: listening.redirect("theirs"), leaves: true });
    }
    for (let request = 0; request < 5; request++) {
      await asThisUser({
        to: { host: "127.0.0.1", port },
        bytes: httpRequest("GET", new URL("/", listening.listener.url)),
      });
    }
    expect(codes).toEqual([]);
  });
});

test.each(loopbackEnds)("a browser of the user may come through $host from $localAddress", async (end) => {
  await using listening = new Listening();
  const { port, codes } = listening;
  const answer = await asThisUser({ to: { ...end, port }, bytes: listening.redirect("ours") });
  expect([statusIn(answer), codes]).toEqual([200, ["ours"]]);
});

test.skipIf(process.platform !== "linux")("a redirect is awaited at one address of this machine only", async () => {
  await using listening = new Listening();
  for (const host of ["127.0.0.2", "::1"]) {
    const answer = await asThisUser({ to: { host, port: listening.port }, bytes: listening.redirect("ours") });
    expect(answer).toBe("ECONNREFUSED\n");
  }
});
