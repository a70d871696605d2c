import { describe, expect, test } from "bun:test";
import type { Api } from "../../../src/sources/openapi/api.ts";
import { httpKey, nextPageKey } from "../../../src/sources/source.ts";
import { apiOf, called, operation, parameter, RecordingApi, sourceOf, textOf } from "./made-api.ts";

const get = operation("GET", "/things");

describe("a result", () => {
  test("is the object of the answer, with its status and headers", async () => {
    using api = new RecordingApi(
      Response.json({ id: 1 }, { headers: { "x-request-id": "r1", "set-cookie": "s=secret" } }),
    );
    const result = await called(api.url, get);
    expect(result.structuredContent).toEqual({ id: 1 });
    expect(result._meta?.[httpKey]).toMatchObject({ status: 200, headers: { "x-request-id": "r1" } });
    expect(JSON.stringify(result)).not.toContain("secret");
  });

  test("is the text of a list, with all digits", async () => {
    using api = new RecordingApi(
      new Response("[9007199254740993]", { headers: { "content-type": "application/json" } }),
    );
    const result = await called(api.url, get);
    expect([result.structuredContent, textOf(result)]).toEqual([undefined, "[9007199254740993]"]);
  });

  test("is null without a body", async () => {
    using api = new RecordingApi(new Response(null, { status: 204 }));
    expect(textOf(await called(api.url, operation("DELETE", "/things")))).toBe("null");
  });

  test("is a file in the workspace for bytes", async () => {
    const written: [string, number][] = [];
    const files = {
      read: async () => new Uint8Array(),
      write: async (name: string, bytes: Uint8Array) => {
        written.push([name, bytes.length]);
        return name;
      },
    };
    using api = new RecordingApi(new Response(new Uint8Array(10), { headers: { "content-type": "image/png" } }));
    const { structuredContent } = await called(api.url, operation("GET", "/photo"), {}, { files });
    expect(structuredContent).toEqual({ file: "photo.png", mediaType: "image/png", bytes: 10 });
    expect(written).toEqual([["photo.png", 10]]);
  });

  test("is read in a worker if it is large", async () => {
    const items = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `item ${id}` }));
    using api = new RecordingApi(Response.json({ items, next: "c2" }));
    const pages = { by: "cursor", items: ["items"], argument: "cursor", field: ["next"] } as const;
    const each = operation("GET", "/", {
      parameters: [parameter("cursor", "query")],
      pages: { ...pages, items: ["items"], field: ["next"] },
    });
    const result = await called(api.url, each);
    expect(JSON.parse(JSON.stringify(result.structuredContent)).items).toHaveLength(20_000);
    expect(result._meta?.[nextPageKey]).toEqual({ arguments: { cursor: "c2" } });
  });

  test("is refused if it is nested too deeply", async () => {
    using api = new RecordingApi(
      new Response("[".repeat(2_000) + "]".repeat(2_000), { headers: { "content-type": "application/json" } }),
    );
    await expect(called(api.url, get)).rejects.toMatchObject({ code: "PROTOCOL_ERROR" });
  });
});

describe("an error says its status, the API's own message and what to do", () => {
  const error = async (
    status: number,
    body: unknown,
    headers = {},
    more: Partial<Parameters<typeof called>[4]> = {},
    options = {},
  ) => {
    using api = new RecordingApi(Response.json(body, { status, headers }));
    const result = await called(
      api.url,
      { ...get, method: "POST", security: more?.securitySchemes ? [{ key: ["write"] }] : [] },
      {},
      options,
      more as Partial<Api>,
    );
    expect(result.isError).toBe(true);
    return textOf(result);
  };

  test("404", async () => {
    expect(await error(404, { message: "No such repository" })).toBe(
      "404 Not Found: No such repository\nCheck the names and ids in the arguments. Some APIs also say this for what the credentials may not see.",
    );
  });

  test("422 with the fields", async () => {
    const body = {
      message: "Validation Failed",
      errors: [
        { field: "title", code: "missing" },
        { loc: ["body", "age"], msg: "not a number" },
      ],
    };
    expect(await error(422, body)).toBe(
      "422 Unprocessable Entity: Validation Failed\nDetails: title: missing; body.age: not a number\nCorrect the arguments, and call again.",
    );
  });

  test("429 with the time", async () => {
    expect(await error(429, { error: { message: "Slow down" } }, { "retry-after": "40" })).toBe(
      "429 Too Many Requests: Slow down\nThe API limits how often it is called: call again in 40 s.",
    );
  });

  const securitySchemes = { key: { type: "apiKey", in: "header", name: "X-Key" } } as const;

  test("401 without credentials", async () => {
    expect(await error(401, { detail: "Who are you?" }, {}, { securitySchemes })).toBe(
      '401 Unauthorized: Who are you?\nAdd credentials to "shop" in the config: "auth": { "key": "${…}" }. key is a key (header X-Key).',
    );
  });

  test("401 with credentials", async () => {
    expect(await error(401, {}, {}, { securitySchemes }, { auth: "k" })).toBe(
      '401 Unauthorized\nThe API refused the credentials for key: check "auth" of "shop" in the config.',
    );
  });

  test("403 with the scopes", async () => {
    expect(await error(403, { message: "No" }, {}, { securitySchemes }, { auth: "k" })).toBe(
      "403 Forbidden: No\nThe credentials need these scopes: write",
    );
  });

  test("500 with a page for people", async () => {
    using api = new RecordingApi(new Response("<html>oops</html>", { status: 500 }));
    const result = await called(api.url, operation("POST", "/"));
    expect(textOf(result)).toBe("500 Internal Server Error\nThe API failed: call again later.");
  });
});

describe("credentials are sent as the document says", () => {
  const schemes = {
    header: { type: "apiKey", in: "header", name: "X-Key" },
    query: { type: "apiKey", in: "query", name: "api key" },
    cookie: { type: "apiKey", in: "cookie", name: "sid" },
    bearer: { type: "http", scheme: "bearer" },
    basic: { type: "http", scheme: "basic" },
    oauth: { type: "oauth2", flows: [] },
  } satisfies Api["securitySchemes"];

  const signed = async (auth: string | Record<string, string>, security: Record<string, string[]>[], headers = {}) => {
    using api = new RecordingApi(Response.json({}));
    await called(
      api.url,
      { ...get, security },
      {},
      { auth, sending: { endpoint: { headers } } },
      { securitySchemes: schemes },
    );
    const { path, headers: sent } = api.last;
    return { path, authorization: sent["authorization"], key: sent["x-key"], cookie: sent["cookie"] };
  };

  test("keys in a header, the query and a cookie together", async () => {
    const auth = { header: "h", query: "q&1", cookie: "c;" };
    expect(await signed(auth, [{ header: [], query: [], cookie: [] }])).toEqual({
      path: "/things?api%20key=q%261",
      authorization: undefined,
      key: "h",
      cookie: "sid=c%3B",
    } as never);
  });

  test("tokens, users with passwords, and keys in the place of users", async () => {
    const authorization = async (auth: string, name: string) => (await signed(auth, [{ [name]: [] }])).authorization;
    expect(await authorization("t1", "bearer")).toBe("Bearer t1");
    expect(await authorization("Bearer t1", "bearer")).toBe("Bearer t1");
    expect(await authorization("ada:pw", "basic")).toBe(`Basic ${btoa("ada:pw")}`);
    expect(await authorization("sk_1", "basic")).toBe(`Basic ${btoa("sk_1:")}`);
    expect(await authorization("t2", "oauth")).toBe("Bearer t2");
  });

  test("the first alternative that the entry has all of", async () => {
    const security = [{ header: [], query: [] }, { bearer: [] }, {}];
    expect((await signed({ header: "h", bearer: "t" }, security)).authorization).toBe("Bearer t");
  });

  test("none, if the operation needs none", async () => {
    expect(await signed("t", [])).toMatchObject({ path: "/things", authorization: undefined } as never);
  });

  test("the headers of the entry are sent too", async () => {
    expect((await signed("t", [], { Authorization: "Bearer own" })).authorization).toBe("Bearer own");
  });

  test("a name that the document does not have is a mistake", async () => {
    await expect(
      sourceOf({ ...apiOf("https://a.example"), securitySchemes: schemes }, { auth: { keys: "x" } }),
    ).rejects.toThrow("its document has no security scheme called keys");
  });
});
