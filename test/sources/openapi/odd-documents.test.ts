/** Documents of real APIs have habits that the standard does not know. A tool still takes what the API takes. */
import { expect, test } from "bun:test";
import { ownFolder } from "../../support/own-folder.ts";
import { documentOf, operationOf, readDocument } from "./read.ts";

const folder = ownFolder();
const text = { type: "string" };

/** The tool of a POST with this body. */
async function toolWith(schema: object, more: object = {}, mediaType = "application/json") {
  const requestBody = { required: true, content: { [mediaType]: { schema } } };
  const post = { operationId: "send", responses: {}, requestBody };
  const api = await readDocument(folder.path, documentOf({ "/things": { post } }, more));
  return operationOf(api, "send");
}

test("a field that is only required can be sent", async () => {
  const { tool } = await toolWith({ type: "object", properties: { a: text }, required: ["b"] });
  expect(tool.inputSchema).toMatchObject({ properties: { a: text, b: {} }, required: ["b"] });
});

test("alternatives of required fields are in the description", async () => {
  const { tool } = await toolWith({
    type: "object",
    properties: { a: text, b: text, c: text },
    anyOf: [{ required: ["a"] }, { required: ["b", "c"] }],
  });
  expect(tool.description).toContain("Needs a or b with c.");
  expect(tool.inputSchema).not.toHaveProperty("anyOf");
});

test("alternatives of required fields further down are in the schema", async () => {
  const inner = { type: "object", properties: { a: text, b: text }, anyOf: [{ required: ["a"] }, { required: ["b"] }] };
  const { tool } = await toolWith({ type: "object", properties: { inner } });
  expect(tool.inputSchema).toMatchObject({
    properties: { inner: { anyOf: [{ required: ["a"] }, { required: ["b"] }] } },
  });
});

test("an object with options is open, because the options have more properties", async () => {
  const schemas = { User: { type: "object", properties: { type: text, id: text } } };
  const inner = {
    type: "object",
    properties: { type: text },
    additionalProperties: false,
    oneOf: [{ $ref: "#/components/schemas/User" }],
  };
  const { tool } = await toolWith({ type: "object", properties: { inner } }, { components: { schemas } });
  expect(tool.inputSchema.properties!["inner"]).not.toHaveProperty("additionalProperties");
});

test("properties may be those of another schema", async () => {
  const schemas = { Shared: { properties: { a: text } } };
  const schema = { type: "object", properties: { $ref: "#/components/schemas/Shared/properties" } };
  const { tool } = await toolWith(schema, { components: { schemas } });
  expect(Object.keys(tool.inputSchema.properties!)).toEqual(["a"]);
});

test("values beside the items of a list are those of the items, and values of another type are left out", async () => {
  const { tool } = await toolWith({
    type: "object",
    properties: { list: { type: "array", items: text, enum: ["a", "b"] }, count: { type: "integer", enum: ["BASIC"] } },
  });
  expect(tool.inputSchema.properties).toEqual({
    list: { type: "array", items: { type: "string", enum: ["a", "b"] } },
    count: { type: "integer" },
  });
});

test("a form that is a file has the part that most APIs expect", async () => {
  const { operation } = await toolWith({ type: "string", format: "binary" }, {}, "multipart/form-data");
  expect(operation.body).toMatchObject({ fields: { file: "file" }, encoding: { file: { isFile: true } } });
});

test("a body of GET is left out, and headers that HTTP writes itself are not arguments", async () => {
  const get = {
    operationId: "readThings",
    responses: {},
    parameters: [{ name: "Content-Length", in: "header", required: true, schema: text }],
    requestBody: { content: { "application/json": { schema: { type: "object", properties: { a: text } } } } },
  };
  const { tool, operation } = operationOf(
    await readDocument(folder.path, documentOf({ "/things": { get } })),
    "read_things",
  );
  expect(operation.body).toBeUndefined();
  expect(tool.inputSchema.properties).toEqual({});
});

test("placeholders in the query of a path are parameters of the query", async () => {
  const get = {
    operationId: "findThings",
    responses: {},
    parameters: [{ name: "term", in: "path", required: true, schema: text }],
  };
  const api = await readDocument(folder.path, documentOf({ "/things?q={term}&limit={limit}#List": { get } }));
  const { operation } = operationOf(api, "find_things");
  expect(operation.parameters.map(({ name, in: where }) => `${where} ${name}`)).toEqual(["query q", "query limit"]);
});
