/** The listener for the redirect of a sign-in, over real sockets, with valid and invalid requests. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { connect } from "node:net";
import { RedirectListener, redirectPage } from "../../../src/setup/sign-in/redirect-listener.ts";

setDefaultTimeout(60_000);

const listens = (port: string) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(Number(port), "127.0.0.1", () => resolve(true));
    socket.once("error", () => resolve(false)).once("connect", () => socket.destroy());
  });

test("the listener accepts the right path with all parameters, and answers with the page", async () => {
  await using listener = new RedirectListener([0]);
  const seen: string[] = [];
  listener.onRedirect = async (redirect) => {
    seen.push(redirect.href);
    return "<p>page</p>";
  };
  expect(listener.url.href).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  const response = await fetch(`${listener.url}?code=a%20b&state=c&iss=https%3A%2F%2Fx`);
  expect([response.status, await response.text()]).toEqual([200, "<p>page</p>"]);
  expect(seen).toEqual([`${listener.url}?code=a%20b&state=c&iss=https%3A%2F%2Fx`]);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "content-security-policy":
      "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  });
});

test("the listener answers other requests with 404", async () => {
  await using listener = new RedirectListener([0]);
  const early = await fetch(`${listener.url}?code=a&state=b`);
  let count = 0;
  listener.onRedirect = async () => String(++count);
  const { origin } = listener.url;
  const others = await Promise.all([
    fetch(`${origin}/`),
    fetch(`${origin}/favicon.ico`),
    fetch(`${origin}/callback/?code=a`),
    fetch(`${origin}/Callback?code=a`),
    fetch(listener.url, { method: "POST", body: "code=a" }),
    fetch(listener.url, { method: "HEAD" }),
    // By a name that another person gave this machine.
    fetch(listener.url, { headers: { host: "attacker.example" } }),
  ]);
  expect([early, ...others].map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404, 404, 404]);
  expect(count).toBe(0);
});

test("the listener uses the first free port, and closes after the last page is sent", async () => {
  const page = Promise.withResolvers<string>();
  const asked = Promise.withResolvers<void>();
  let response: Promise<Response>;
  let port: string;
  {
    await using first = new RedirectListener([0]);
    port = first.url.port;
    {
      await using second = new RedirectListener([Number(port), 0]);
      expect(second.url.port).not.toBe(port);
    }
    expect(() => new RedirectListener([Number(port)])).toThrow(
      `The port for the browser's response is in use: ${port}`,
    );
    first.onRedirect = () => {
      asked.resolve();
      return page.promise;
    };
    response = fetch(first.url);
    await asked.promise;
    page.resolve("the last one");
  }
  expect(await (await response).text()).toBe("the last one");
  expect(await listens(port)).toBe(false);
  await using again = new RedirectListener([Number(port), 0]);
  expect(again.url.port).toBe(port);
});

test("the listener closes despite incomplete requests and clients that wait for a page", async () => {
  const closed = Promise.withResolvers<unknown>();
  let waiting: Promise<unknown>;
  {
    await using listener = new RedirectListener([0]);
    const asked = Promise.withResolvers<void>();
    listener.onRedirect = () => {
      asked.resolve();
      return new Promise(() => {});
    };
    const half = connect(Number(listener.url.port), "127.0.0.1");
    half.once("close", closed.resolve).on("error", closed.resolve).resume().write("GET /callback HT");
    waiting = fetch(listener.url).catch((error) => error);
    await asked.promise;
  }
  expect(await waiting).toBeInstanceOf(Error);
  await closed.promise;
});

test("the page runs and loads nothing, whatever its texts contain", () => {
  const html = redirectPage({
    mark: "failed",
    title: '<script>alert(1)</script>"',
    lines: ["<img src=x onerror=alert(1)>", "a & b"],
  });
  expect(html).not.toMatch(/<script|<img|<link|https?:|url\(/);
  expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&quot;");
  expect(html).toContain("<p>&lt;img src=x onerror=alert(1)&gt;</p>");
  expect(html).toContain("prefers-color-scheme: dark");
});
