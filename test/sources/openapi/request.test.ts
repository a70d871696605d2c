import { describe, expect, test } from "bun:test";
import { parseExact } from "../../../src/base/exact-json.ts";
import type { JsonObject } from "../../../src/base/json-object.ts";
import type { Operation } from "../../../src/sources/openapi/api.ts";
import { requestOf } from "../../../src/sources/openapi/request.ts";
import { called, operation, parameter, RecordingApi } from "./made-api.ts";

const json = Response.json({ ok: true });

test("an argument goes to the place that the document names", async () => {
  using api = new RecordingApi(json);
  const parameters = [
    parameter("owner", "path"),
    parameter("labels", "query", { name: "label", explode: false }),
    parameter("trace", "header", { name: "X-Trace" }),
    parameter("theme", "cookie"),
  ];
  const args = { owner: "ada & co", labels: ["a", "b"], trace: "t1", theme: "dark", title: "Hello", count: 2 };
  const body = { isRequired: true, mediaType: "application/json", kind: "json", fields: { title: "title" } } as const;
  await called(`${api.url}/v1/`, operation("POST", "/repos/{owner}/issues", { parameters, body }), args);
  const { method, path, headers, body: sent } = api.last;
  expect({ method, path, sent }).toEqual({
    method: "POST",
    path: "/v1/repos/ada%20%26%20co/issues?label=a,b",
    sent: '{"title":"Hello","count":2}',
  });
  expect(headers).toMatchObject({ "x-trace": "t1", cookie: "theme=dark", "content-type": "application/json" });
  expect(headers["accept"]).toStartWith("application/json");
});

describe("an argument in the path never leads to another operation", () => {
  const each = operation("DELETE", "/users/{id}", { parameters: [parameter("id", "path")] });
  for (const id of ["", ".", "..", null, undefined]) {
    test(JSON.stringify(id) ?? "nothing", async () => {
      await expect(requestOf(each, { id }, "https://api.example", undefined)).rejects.toMatchObject({
        code: "INVALID_ARGUMENTS",
      });
    });
  }

  test("two values that make a step together", async () => {
    const parameters = [parameter("a", "path"), parameter("b", "path")];
    const joined = operation("GET", "/x/{a}{b}/y", {
      parameters: parameters.map((each) => ({ ...each, style: "label" })),
    });
    await expect(requestOf(joined, { a: [], b: [] }, "https://api.example", undefined)).rejects.toMatchObject({
      code: "INVALID_ARGUMENTS",
    });
  });

  test("a slash is a part of the value", async () => {
    const { url } = await requestOf(each, { id: "../admin" }, "https://api.example/v2", undefined);
    expect(url.pathname).toBe("/v2/users/..%2Fadmin");
  });
});

describe("a body is written as its media type says", () => {
  const sent = async (body: Operation["body"], args: JsonObject) => {
    const { body: text, headers } = await requestOf(
      operation("POST", "/", { body }),
      args,
      "https://a.example",
      undefined,
    );
    return [headers["content-type"], text];
  };

  test("JSON keeps large integers", async () => {
    const body = { isRequired: true, mediaType: "application/json", kind: "json", argument: "body" } as const;
    const args = { body: parseExact('{"id":9007199254740993}') };
    expect(await sent(body, args)).toEqual(["application/json", '{"id":9007199254740993}']);
  });

  test("a form with lists, nested objects and brackets", async () => {
    const encoding = { metadata: { style: "deepObject", explode: true } } as const;
    const fields = { name: "name", tags: "tags", metadata: "metadata", address: "address" };
    const mediaType = "application/x-www-form-urlencoded";
    const body = { isRequired: true, mediaType, kind: "form", fields, encoding } as const;
    const args = { name: "Ada L.", tags: ["a", "b"], metadata: { k: "v" }, address: { city: "Ulm" } };
    expect(await sent(body, args)).toEqual([
      mediaType,
      "name=Ada+L.&tags=a&tags=b&metadata%5Bk%5D=v&address=%7B%22city%22%3A%22Ulm%22%7D",
    ]);
  });

  test("text as it is", async () => {
    const body = { isRequired: true, mediaType: "text/markdown", kind: "text", argument: "body" } as const;
    expect(await sent(body, { body: "# Hi" })).toEqual(["text/markdown", "# Hi"]);
  });

  test("nothing, if it is optional and no field is given", async () => {
    const body = { isRequired: false, mediaType: "application/json", kind: "json", fields: { a: "a" } } as const;
    expect(await sent(body, {})).toEqual([undefined, undefined]);
  });
});

test("a multipart body has the files of the workspace, with their names", async () => {
  using api = new RecordingApi(json);
  const files = {
    read: async (path: string) => Uint8Array.from(Buffer.from(`bytes of ${path}`)),
    write: async () => "",
  };
  const body = {
    isRequired: true,
    mediaType: "multipart/form-data",
    kind: "multipart",
    fields: { file: "file", title: "title", meta: "meta" },
    encoding: { file: { isFile: true, mediaType: "image/png" } },
  } as const;
  await called(
    api.url,
    operation("POST", "/files", { body }),
    { file: "out/a.png", title: "T", meta: { a: 1 }, 'odd"name': "1" },
    { files },
  );
  const form = api.last.form!;
  const file = form.get("file") as File;
  expect([file.name, file.type, await file.text()]).toEqual(["a.png", "image/png", "bytes of out/a.png"]);
  expect(form.get("title")).toBe("T");
  // A part with a file name is a file for a server.
  expect(form.get("meta")).toBe('{"a":1}');
  expect(form.get("odd%22name")).toBe("1");
});

test("an address has the query of the path in the document, and leaves out its fragment", async () => {
  const each = operation("GET", "/data/{id}?kind=all&limit={limit}#Action=List", {
    parameters: [parameter("id", "path"), parameter("limit", "query")],
  });
  const { url } = await requestOf(each, { id: "a#b?c", limit: 3 }, "https://a.example/v1", undefined);
  expect(url.href).toBe("https://a.example/v1/data/a%23b%3Fc?kind=all&limit=3");
});

test("a header cannot be split in two", async () => {
  const each = operation("GET", "/", { parameters: [parameter("trace", "header")] });
  await expect(requestOf(each, { trace: "a\r\nx-admin: 1" }, "https://a.example", undefined)).rejects.toMatchObject({
    code: "INVALID_ARGUMENTS",
  });
});
