/** An OpenAPI document becomes tools: arguments, bodies, results, addresses, sign-in, references, overlays, and a kept copy. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ownFolder } from "../../support/own-folder.ts";
import { documentOf, operationOf, read, readDocument } from "./read.ts";

const folder = ownFolder();
const text = { type: "string" };
const ok = (schema: object) => ({ 200: { description: "OK", content: { "application/json": { schema } } } });

describe("an operation", () => {
  test("has its parameters and the fields of its body in one object", async () => {
    const document = documentOf({
      "/pets/{petId}": {
        parameters: [{ name: "petId", in: "path", required: true, schema: text }],
        patch: {
          operationId: "updatePet",
          summary: "Update a pet",
          parameters: [
            { name: "X-Trace", in: "header", schema: text },
            { name: "tags", in: "query", style: "pipeDelimited", schema: { type: "array", items: text } },
            { name: "Accept", in: "header", schema: text },
          ],
          requestBody: {
            required: true,
            content: {
              "application/json": {
                schema: {
                  type: "object",
                  required: ["id", "name"],
                  properties: {
                    id: { type: "integer", readOnly: true },
                    name: { type: "string", maxLength: 40 },
                    age: { type: ["integer", "null"] },
                  },
                },
              },
            },
          },
          responses: ok({
            type: "object",
            required: ["id"],
            properties: { id: { type: "integer" }, secret: { type: "string", writeOnly: true } },
          }),
        },
      },
    });
    const { tool, operation } = operationOf(await readDocument(folder.path, document), "update_pet");
    expect(tool).toEqual({
      name: "update_pet",
      title: "Update a pet",
      description: "Update a pet. (PATCH /pets/{petId})",
      inputSchema: {
        type: "object",
        properties: {
          petId: { type: "string" },
          tags: { type: "array", items: { type: "string" } },
          "X-Trace": { type: "string" },
          name: { type: "string", maxLength: 40 },
          age: { type: ["integer", "null"] },
        },
        required: ["petId", "name"],
        additionalProperties: false,
      },
      outputSchema: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
    });
    expect(operation).toEqual({
      name: "update_pet",
      method: "PATCH",
      path: "/pets/{petId}",
      parameters: [
        { argument: "petId", name: "petId", in: "path", style: "simple", explode: false, allowReserved: false },
        { argument: "tags", name: "tags", in: "query", style: "pipeDelimited", explode: false, allowReserved: false },
        { argument: "X-Trace", name: "X-Trace", in: "header", style: "simple", explode: false, allowReserved: false },
      ],
      body: { isRequired: true, mediaType: "application/json", kind: "json", fields: { name: "name", age: "age" } },
      responses: { 200: { kind: "json" } },
      security: [],
    });
  });

  test("has its whole body in one argument if a field has the name of a parameter", async () => {
    const schema = { type: "object", properties: { id: text, name: text } };
    const document = documentOf({
      "/pets/{id}": {
        put: {
          operationId: "putPet",
          parameters: [{ name: "id", in: "path", required: true, schema: text }],
          requestBody: { required: true, content: { "application/json": { schema } } },
          responses: {},
        },
      },
    });
    const { tool, operation } = operationOf(await readDocument(folder.path, document), "put_pet");
    expect(tool.inputSchema.properties).toEqual({
      id: { type: "string" },
      body: { type: "object", properties: { id: { type: "string" }, name: { type: "string" } } },
    });
    expect(operation.body).toEqual({ isRequired: true, mediaType: "application/json", kind: "json", argument: "body" });
    expect(tool.annotations).toMatchObject({ idempotentHint: true });
  });

  test("sends parameters with the same name at different places as different arguments", async () => {
    const at = (where: string) => ({ name: "id", in: where, required: where === "path", schema: text });
    const document = documentOf({
      "/a/{id}": { get: { operationId: "a_b", parameters: [at("header"), at("query"), at("path")], responses: {} } },
    });
    const { operation } = operationOf(await readDocument(folder.path, document), "a_b");
    expect(operation.parameters.map(({ argument, in: where }) => [argument, where])).toEqual([
      ["id", "path"],
      ["id_query", "query"],
      ["id_header", "header"],
    ]);
  });

  test("needs no argument for a parameter that can have one value only, nor for a token that the sign-in sends", async () => {
    const document = documentOf(
      {
        "/a": {
          get: {
            operationId: "a_b",
            parameters: [
              { name: "API-Version", in: "header", required: true, schema: { type: "string", enum: ["2026-01-01"] } },
              { name: "token", in: "query", required: true, description: "Authentication token", schema: text },
            ],
            responses: {},
          },
        },
      },
      {
        components: { securitySchemes: { bearer: { type: "http", scheme: "Bearer" } } },
        security: [{ bearer: [] }, {}],
      },
    );
    const api = await readDocument(folder.path, document);
    const { tool, operation } = operationOf(api, "a_b");
    expect(tool.inputSchema.required).toBeUndefined();
    expect(operation.parameters.find(({ name }) => name === "API-Version")!.constant).toBe("2026-01-01");
    expect(operation.security).toEqual([{ bearer: [] }, {}]);
    expect(api.securitySchemes).toEqual({ bearer: { type: "http", scheme: "bearer" } });
  });

  test("takes files of the workspace for binary fields and bodies, and returns one for bytes", async () => {
    const bytes = { type: "string", format: "binary" };
    const multipart = {
      type: "object",
      required: ["file"],
      properties: { file: bytes, photos: { type: "array", items: bytes }, note: text },
    };
    const document = documentOf({
      "/files": {
        post: {
          operationId: "upload_file",
          requestBody: {
            required: true,
            content: {
              "multipart/form-data": { schema: multipart, encoding: { note: { contentType: "text/markdown" } } },
            },
          },
          responses: { 200: { description: "The file", content: { "application/pdf": { schema: bytes } } } },
        },
        put: {
          operationId: "put_file",
          requestBody: { content: { "application/octet-stream": {} } },
          responses: { 204: { description: "Saved" } },
        },
      },
    });
    const api = await readDocument(folder.path, document);
    const upload = operationOf(api, "upload_file");
    expect(upload.operation.body).toEqual({
      isRequired: true,
      mediaType: "multipart/form-data",
      kind: "multipart",
      fields: { file: "file", photos: "photos", note: "note" },
      encoding: { file: { isFile: true }, photos: { isFile: true }, note: { mediaType: "text/markdown" } },
    });
    expect(upload.tool.inputSchema.properties!["file"]).toEqual({
      description: "A path of a file in the workspace.",
      type: "string",
      format: "binary",
    });
    expect(Object.keys((upload.tool.outputSchema as { properties: object }).properties)).toEqual([
      "file",
      "mediaType",
      "bytes",
    ]);
    expect(upload.operation.responses).toEqual({ 200: { kind: "binary", description: "The file" } });
    const put = operationOf(api, "put_file");
    expect(put.operation.body).toEqual({
      isRequired: false,
      mediaType: "application/octet-stream",
      kind: "binary",
      argument: "body",
    });
    expect(put.operation.responses).toEqual({ 204: { kind: "none", description: "Saved" } });
    expect(put.tool.outputSchema).toBeUndefined();
  });

  test("in OpenAPI 3.2 may have the method QUERY, methods of its own, and a whole query string", async () => {
    const document = documentOf(
      {
        "/pets": {
          query: {
            operationId: "query_pets",
            parameters: [
              {
                name: "q",
                in: "querystring",
                content: { "application/x-www-form-urlencoded": { schema: { type: "object" } } },
              },
            ],
            responses: {},
          },
          additionalOperations: { COPY: { operationId: "copy_pets", responses: {} } },
        },
      },
      { openapi: "3.2.0" },
    );
    const api = await readDocument(folder.path, document);
    expect(api.operations.map(({ name, method }) => [name, method])).toEqual([
      ["query_pets", "QUERY"],
      ["copy_pets", "COPY"],
    ]);
    expect(operationOf(api, "query_pets").operation.parameters[0]).toMatchObject({
      in: "querystring",
      mediaType: "application/x-www-form-urlencoded",
    });
    expect(operationOf(api, "query_pets").tool.annotations).toEqual({ readOnlyHint: true, openWorldHint: true });
  });

  test("comes last and says so if it is deprecated", async () => {
    const document = documentOf({
      "/a": { get: { operationId: "old_a", deprecated: true, responses: {} } },
      "/b": { get: { operationId: "new_b", responses: {} } },
    });
    const { tools } = await readDocument(folder.path, document);
    expect(tools.map(({ description }) => description)).toEqual(["(GET /b)", "Deprecated. (GET /a)"]);
  });
});

test("Swagger 2 documents say the same in other words", async () => {
  const api = await readDocument(folder.path, {
    swagger: "2.0",
    info: { title: "Old", version: 1 },
    host: "old.example.com",
    basePath: "/api/",
    schemes: ["http", "https"],
    consumes: ["application/json"],
    securityDefinitions: {
      key: { type: "apiKey", in: "header", name: "X-Key" },
      login: {
        type: "oauth2",
        flow: "accessCode",
        authorizationUrl: "https://a",
        tokenUrl: "https://t",
        scopes: { read: "" },
      },
    },
    parameters: { page: { name: "page", in: "query", type: "integer", minimum: 1 } },
    definitions: {
      Pet: {
        type: "object",
        required: ["name"],
        properties: { name: text, kind: { type: "string", "x-nullable": true } },
      },
    },
    paths: {
      "/pets": {
        get: {
          operationId: "listPets",
          produces: ["application/json"],
          parameters: [
            { $ref: "#/parameters/page" },
            { name: "ids", in: "query", type: "array", items: text, collectionFormat: "multi" },
          ],
          responses: { 200: { description: "ok", schema: { type: "array", items: { $ref: "#/definitions/Pet" } } } },
        },
        post: {
          operationId: "addPet",
          parameters: [{ in: "body", name: "pet", required: true, schema: { $ref: "#/definitions/Pet" } }],
          responses: {},
        },
      },
      "/photos": {
        post: {
          operationId: "addPhoto",
          consumes: ["multipart/form-data"],
          parameters: [
            { in: "formData", name: "photo", type: "file", required: true },
            { in: "formData", name: "title", type: "string" },
          ],
          responses: { 200: { description: "ok", schema: { type: "file" } } },
        },
      },
    },
  });
  expect(api).toMatchObject({
    title: "Old",
    version: "1",
    servers: ["https://old.example.com/api", "http://old.example.com/api"],
    problems: [],
  });
  expect(api.securitySchemes).toEqual({
    key: { type: "apiKey", in: "header", name: "X-Key" },
    login: {
      type: "oauth2",
      flows: [{ kind: "authorizationCode", authorizationUrl: "https://a", tokenUrl: "https://t", scopes: ["read"] }],
    },
  });
  const list = operationOf(api, "list_pets");
  expect(list.tool.inputSchema.properties).toEqual({
    page: { type: "integer", minimum: 1 },
    ids: { type: "array", items: { type: "string" } },
  });
  expect(list.operation.parameters.map(({ style, explode }) => [style, explode])).toEqual([
    ["form", false],
    ["form", true],
  ]);
  expect(list.tool.outputSchema).toMatchObject({ type: "array", items: { type: "object", required: ["name"] } });
  expect(operationOf(api, "add_pet").operation.body).toEqual({
    isRequired: true,
    mediaType: "application/json",
    kind: "json",
    fields: { name: "name", kind: "kind" },
  });
  expect(operationOf(api, "add_photo").operation).toMatchObject({
    body: { kind: "multipart", fields: { photo: "photo", title: "title" }, encoding: { photo: { isFile: true } } },
    responses: { 200: { kind: "binary" } },
  });
});

test("schemas of OpenAPI 3.0 become JSON Schema, and cycles stay references", async () => {
  const components = {
    schemas: {
      Node: {
        type: "object",
        properties: {
          name: { type: "string", nullable: true },
          weight: { type: "number", minimum: 0, exclusiveMinimum: true },
          children: { type: "array", items: { $ref: "#/components/schemas/Node" } },
        },
      },
      Named: {
        allOf: [
          { $ref: "#/components/schemas/Node" },
          { type: "object", required: ["id"], properties: { id: { type: "integer", format: "int64" } } },
        ],
      },
    },
  };
  const document = documentOf(
    {
      "/a": {
        get: { operationId: "get_a", responses: ok({ $ref: "#/components/schemas/Named" }) },
        post: {
          operationId: "post_a",
          requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/Node" } } } },
          responses: {},
        },
      },
    },
    { openapi: "3.0.3", components },
  );
  const api = await readDocument(folder.path, document);
  expect(operationOf(api, "get_a").tool.outputSchema).toEqual({
    type: "object",
    properties: {
      name: { type: ["string", "null"] },
      weight: { type: "number" },
      children: { type: "array", items: { $ref: "#/$defs/Node" } },
      id: { type: "integer", format: "int64" },
    },
    required: ["id"],
    $defs: {
      Node: {
        type: "object",
        properties: {
          name: { type: ["string", "null"] },
          weight: { type: "number" },
          children: { type: "array", items: { $ref: "#/$defs/Node" } },
        },
      },
    },
  });
  expect(operationOf(api, "post_a").tool.inputSchema.properties!["weight"]).toEqual({
    type: "number",
    exclusiveMinimum: 0,
  });
});

describe("addresses", () => {
  test.each([
    [
      "variables get their defaults",
      { servers: [{ url: "https://{region}.example.com/", variables: { region: { default: "eu" } } }] },
      ["https://eu.example.com"],
    ],
    ["an address without a scheme is https", { servers: [{ url: "//k8s.local" }] }, ["https://k8s.local"]],
    ["variables without a value leave no address", { servers: [{ url: "https://{tenant}.example.com" }] }, []],
    ["a relative address in a file leaves none", { servers: [{ url: "/v2" }] }, []],
  ])("%s", async (_, more, servers) => {
    const api = await readDocument(folder.path, documentOf({ "/a": { get: { responses: {} } } }, more));
    expect(api.servers).toEqual(servers);
    expect(api.problems).toEqual(
      servers.length > 0 ? [] : ['The document names no complete address of the API. Set "baseUrl".'],
    );
  });

  test("from the user replace the addresses of the document, and an operation may have its own", async () => {
    const document = documentOf({
      "/a": { servers: [{ url: "https://uploads.example.com" }], get: { operationId: "a_b", responses: {} } },
    });
    const api = await readDocument(folder.path, document, { baseUrl: "http://localhost:8080/api/" });
    expect(api.servers).toEqual(["http://localhost:8080/api"]);
    expect(api.operations[0]!.servers).toEqual(["https://uploads.example.com"]);
  });

  test("are relative to the address of a document on the network", async () => {
    await using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => Response.json(documentOf({ "/a": { get: { responses: {} } } }, { servers: [{ url: "../v2" }] })),
    });
    expect((await read(`${server.url}docs/openapi.json`, folder.path)).servers).toEqual([`${server.url}v2`]);
  });
});

test("references lead to other files and their parts, and unreadable ones are problems", async () => {
  mkdirSync(join(folder.path, "models"));
  writeFileSync(
    join(folder.path, "paths.yaml"),
    "pets:\n  get:\n    operationId: list_pets\n    responses:\n      '200':\n        $ref: models/answers.yml#/Pets\n",
  );
  writeFileSync(
    join(folder.path, "models", "answers.yml"),
    "Pets:\n  description: OK\n  content:\n    application/json:\n      schema:\n        type: array\n        items: { $ref: './pet.json' }\n",
  );
  writeFileSync(
    join(folder.path, "models", "pet.json"),
    JSON.stringify({
      type: "object",
      properties: { mother: { $ref: "pet.json" }, lost: { $ref: "gone.json#/x" }, key: { $ref: "/etc/hostname" } },
    }),
  );
  const document = `openapi: 3.0.0\ninfo: { title: Split, version: "1" }\nservers: [{ url: "https://a.example" }]\npaths:\n  /pets: { $ref: "paths.yaml#/pets" }\n`;
  const api = await readDocument(folder.path, document);
  expect(operationOf(api, "list_pets").tool.outputSchema).toEqual({
    type: "array",
    items: { $ref: "#/$defs/pet" },
    $defs: { pet: { type: "object", properties: { mother: { $ref: "#/$defs/pet" }, lost: {}, key: {} } } },
  });
  expect(api.problems.toSorted()).toEqual([
    "The reference /etc/hostname leads nowhere, so its users are incomplete.",
    "The reference gone.json#/x leads nowhere, so its users are incomplete.",
    "The referenced document gone.json does not exist. References to it were left out.",
    "The referenced document hostname is not a JSON or YAML file. References to it were left out.",
  ]);
});

describe("include and exclude", () => {
  const paths = {
    "/pets": {
      get: { operationId: "listPets", tags: ["animals"], responses: {} },
      post: { operationId: "addPet", tags: ["animals"], responses: {} },
    },
    "/admin/users": { get: { operationId: "listUsers", responses: {} } },
  };
  test.each([
    ["tags", { include: ["animals"] }, ["list_pets", "add_pet"]],
    ["names", { include: ["list_*"] }, ["list_pets", "list_users"]],
    ["ids", { exclude: ["listPets"] }, ["add_pet", "list_users"]],
    ["paths", { exclude: ["/admin/*"] }, ["list_pets", "add_pet"]],
    ["methods", { include: ["get /*"] }, ["list_pets", "list_users"]],
  ])("choose operations by %s", async (_, options, names) => {
    const api = await readDocument(folder.path, documentOf(paths), options);
    expect(api.tools.map(({ name }) => name)).toEqual(names);
  });

  test("are a problem if they leave nothing", async () => {
    expect((await readDocument(folder.path, documentOf(paths), { include: ["cats"] })).problems).toEqual([
      '"include" and "exclude" leave no operation.',
    ]);
  });
});

describe("overlays", () => {
  const paths = {
    "/pets": {
      get: { operationId: "list_pets", tags: ["a"], responses: {} },
      delete: { operationId: "delete_pets", "x-internal": true, responses: {} },
    },
  };
  const overlaid = (actions: object[]) => {
    const overlay = join(folder.path, "overlay.yaml");
    writeFileSync(overlay, JSON.stringify({ overlay: "1.0.0", info: { title: "o", version: "1" }, actions }));
    return readDocument(folder.path, documentOf(paths), { overlays: [overlay] });
  };

  test("change and remove parts of the document", async () => {
    const api = await overlaid([
      { target: "$.info", update: { title: "Changed" } },
      { target: "$.paths['/pets'].get", update: { summary: "List all pets", tags: ["b"] } },
      { target: "$.paths.*[?@['x-internal'] == true]", remove: true },
      { target: "$..servers[0]", update: { url: "https://other.example" } },
    ]);
    expect(api).toMatchObject({ title: "Changed", servers: ["https://other.example"], problems: [] });
    expect(api.tools.map(({ name, title }) => [name, title])).toEqual([["list_pets", "List all pets"]]);
  });

  test("with a path that cannot be read are an error that names it", async () => {
    await expect(overlaid([{ target: "$.paths[", remove: true }])).rejects.toThrow(
      "The path $.paths[ of the overlay cannot be read at character 9",
    );
  });
});

describe("the kept copy", () => {
  const document = documentOf({ "/a": { get: { operationId: "a_b", responses: {} } } });
  const cached = () => readdirSync(join(folder.path, "cache"));

  test("is used while the document stays the same, and is made again when it changes", async () => {
    const first = await readDocument(folder.path, document);
    const [file] = cached();
    const path = join(folder.path, "cache", file!);
    writeFileSync(path, readFileSync(path, "utf8").replace('"title":"Pets"', '"title":"Kept"'));
    expect(await readDocument(folder.path, document)).toEqual({ ...first, title: "Kept" });
    const changed = documentOf({ "/b": { get: { operationId: "b_c", responses: {} } } });
    expect((await readDocument(folder.path, changed)).tools.map(({ name }) => name)).toEqual(["b_c"]);
    expect(cached()).toEqual([file!]);
  });

  test("is made again when a document that it refers to is changed, or gone", async () => {
    const part = join(folder.path, "part.json");
    const referring = documentOf({ "/a": { $ref: "part.json" } });
    const names = async () => (await readDocument(folder.path, referring)).tools.map(({ name }) => name);
    writeFileSync(part, JSON.stringify({ get: { operationId: "one_a", responses: {} } }));
    expect(await names()).toEqual(["one_a"]);
    writeFileSync(part, JSON.stringify({ get: { operationId: "two_a", responses: {} } }));
    expect(await names()).toEqual(["two_a"]);
    rmSync(part);
    expect(await names()).toEqual([]);
  });

  test("is made again if it is damaged", async () => {
    const first = await readDocument(folder.path, document);
    const path = join(folder.path, "cache", cached()[0]!);
    writeFileSync(path, readFileSync(path, "utf8").slice(0, -20));
    expect(await readDocument(folder.path, document)).toEqual(first);
  });

  test("is used with a word about it when the server fails, and asks with the tag of the document otherwise", async () => {
    const asked: (string | null)[] = [];
    let status = 200;
    await using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ headers }) => {
        asked.push(headers.get("if-none-match"), headers.get("authorization"));
        if (status !== 200) return new Response("", { status });
        return headers.get("if-none-match") === '"1"'
          ? new Response(null, { status: 304 })
          : Response.json(document, { headers: { etag: '"1"' } });
      },
    });
    const address = `http://user:secret@127.0.0.1:${server.port}/openapi.json`;
    const first = await read(address, folder.path);
    expect(await read(address, folder.path)).toEqual(first);
    expect(asked).toEqual([null, "Basic dXNlcjpzZWNyZXQ=", '"1"', "Basic dXNlcjpzZWNyZXQ="]);
    status = 503;
    expect((await read(address, folder.path)).problems).toEqual([
      "The document could not be fetched: the server answered 503. Its last copy is used.",
    ]);
    status = 401;
    // `rejects` would not let the server of this thread answer.
    const error = await read(address, folder.path).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "AUTH_REQUIRED" });
    expect(
      cached()
        .map((name) => readFileSync(join(folder.path, "cache", name), "utf8"))
        .join(),
    ).not.toContain("secret");
  });
});

test("a cancelled read ends with its reason", async () => {
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Promise<Response>(() => controller.abort(new Error("stopped"))),
  });
  const controller = new AbortController();
  await expect(read(server.url.href, folder.path, { signal: controller.signal })).rejects.toThrow("stopped");
});
