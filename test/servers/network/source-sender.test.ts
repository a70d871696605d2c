import { describe, expect, test } from "bun:test";
import { called, operation, RecordingApi, textOf } from "../../sources/openapi/made-api.ts";

const get = operation("GET", "/things");
const post = operation("POST", "/things", {
  body: { isRequired: true, mediaType: "application/json", kind: "json", argument: "body" },
});
const credentials = { endpoint: { headers: { authorization: "Bearer own", "x-team": "t" } } };
const redirect = (status: number, location: string) => new Response(null, { status, headers: { location } });

describe("a redirect", () => {
  test("to the same host keeps the credentials", async () => {
    using api = new RecordingApi(redirect(302, "/moved?x=1"), Response.json({ ok: 1 }));
    expect((await called(api.url, get, {}, { sending: credentials })).structuredContent).toEqual({ ok: 1 });
    expect([api.last.path, api.last.headers["authorization"]]).toEqual(["/moved?x=1", "Bearer own"]);
  });

  test("to another host carries no credentials, headers or cookies", async () => {
    using other = new RecordingApi(Response.json({ ok: 2 }));
    using api = new RecordingApi(redirect(302, `${other.url}/file`));
    const auth = { key: "k" };
    const securitySchemes = { key: { type: "apiKey", in: "cookie", name: "sid" } } as const;
    const each = { ...get, security: [{ key: [] }] };
    const result = await called(api.url, each, {}, { auth, sending: credentials }, { securitySchemes });
    expect(result.structuredContent).toEqual({ ok: 2 });
    expect(api.last.headers).toMatchObject({ authorization: "Bearer own", cookie: "sid=k" });
    const { authorization, cookie, "x-team": team } = other.last.headers;
    expect([authorization, cookie, team]).toEqual([undefined, undefined, undefined]);
  });

  test("does not take a body to another host", async () => {
    using other = new RecordingApi(Response.json({}));
    using api = new RecordingApi(redirect(307, `${other.url}/steal`));
    await expect(called(api.url, post, { body: { secret: 1 } })).rejects.toThrow("which did not get it");
    expect(other.asked).toEqual([]);
  });

  test("after a write is followed by a read", async () => {
    using api = new RecordingApi(redirect(303, "/done"), Response.json({ ok: 3 }));
    await called(api.url, post, { body: {} });
    expect(api.asked.map(({ method, path, body }) => [method, path, body])).toEqual([
      ["POST", "/things", "{}"],
      ["GET", "/done", ""],
    ]);
  });

  test("without an end is an error", async () => {
    using api = new RecordingApi(redirect(302, "/again"));
    await expect(called(api.url, get)).rejects.toThrow("redirects more than 5 times");
    expect(api.asked).toHaveLength(6);
  });
});

describe("private addresses", () => {
  test("are out of reach of a document from the internet", async () => {
    using api = new RecordingApi(Response.json({}));
    const sentBy = new URL("https://1.1.1.1/openapi.json");
    await expect(called(api.url, get, {}, { sending: { sentBy } })).rejects.toThrow(
      "which only this machine or its network can reach",
    );
    expect(api.asked).toEqual([]);
  });

  test("are reached by a document from this machine", async () => {
    using api = new RecordingApi(Response.json({ ok: 1 }));
    const sentBy = new URL("http://localhost:9/openapi.json");
    expect((await called(api.url, get, {}, { sending: { sentBy } })).structuredContent).toEqual({ ok: 1 });
  });

  test("only the hosts of the API are asked", async () => {
    using api = new RecordingApi(Response.json({}));
    const sending = { origins: new Set(["https://other.example"]) };
    await expect(called(api.url, get, {}, { sending })).rejects.toThrow("does not belong to the API");
  });
});

describe("a repetition", () => {
  test("follows a read that failed, once", async () => {
    using api = new RecordingApi(new Response(null, { status: 503 }), Response.json({ ok: 1 }));
    expect((await called(api.url, get)).structuredContent).toEqual({ ok: 1 });
    using broken = new RecordingApi(new Response(null, { status: 500 }));
    expect((await called(broken.url, get)).isError).toBe(true);
    expect(broken.asked).toHaveLength(2);
  });

  test("waits as the API says", async () => {
    using api = new RecordingApi(
      new Response(null, { status: 429, headers: { "retry-after": "1" } }),
      Response.json({ ok: 1 }),
    );
    const start = performance.now();
    expect((await called(api.url, get)).structuredContent).toEqual({ ok: 1 });
    expect(performance.now() - start).toBeGreaterThan(950);
  });

  test("never follows a write", async () => {
    using api = new RecordingApi(new Response(null, { status: 503 }));
    expect((await called(api.url, post, { body: {} })).isError).toBe(true);
    expect(api.asked).toHaveLength(1);
  });

  test("is left out if the API asks for a long pause", async () => {
    using api = new RecordingApi(new Response(null, { status: 429, headers: { "retry-after": "3600" } }));
    expect(textOf(await called(api.url, get))).toContain("call again in 60 min");
    expect(api.asked).toHaveLength(1);
  });

  test("follows a connection that broke", async () => {
    let connections = 0;
    const server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket) {
          connections += 1;
          if (connections === 1) socket.terminate();
          else socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 8\r\n\r\n{"ok":1}');
        },
      },
    });
    try {
      const result = await called(`http://127.0.0.1:${server.port}`, get);
      expect([result.structuredContent, connections]).toEqual([{ ok: 1 }, 2]);
    } finally {
      server.stop(true);
    }
  });
});

test("at most eight requests are at a host at once", async () => {
  let running = 0;
  let most = 0;
  const gate = Promise.withResolvers<void>();
  using api = new RecordingApi(async () => {
    most = Math.max(most, ++running);
    if (running === 8) gate.resolve();
    await gate.promise;
    running -= 1;
    return Response.json({});
  });
  await Promise.all(Array.from({ length: 30 }, () => called(api.url, get)));
  expect(most).toBe(8);
});

test("a call that is cancelled ends", async () => {
  const { sourceOf, apiOf } = await import("../../sources/openapi/made-api.ts");
  using api = new RecordingApi(() => new Promise<Response>(() => {}));
  const source = await sourceOf(apiOf(api.url, get));
  const controller = new AbortController();
  const call = source.call("operation", {}, { signal: controller.signal });
  setTimeout(() => controller.abort(), 50);
  await expect(call).rejects.toThrow();
});
