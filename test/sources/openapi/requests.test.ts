/** Requests compared with the document by a checker that shares no code with `src`: `scripts/harnesses/requests`. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { checkDocument } from "../../../scripts/harnesses/requests/check-document.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { allStyles } from "./all-styles.ts";
import { readDocument } from "./read.ts";

const folder = ownFolder();

test("requests with every style of parameters and bodies are as the document says", async () => {
  const api = await readDocument(folder.path, allStyles);
  const { operations, faults, withoutValues } = await checkDocument(api, join(folder.path, "openapi.json"));
  expect({ operations, withoutValues, faults }).toEqual({ operations: 13, withoutValues: 0, faults: [] });
});

test("requests for a document of Swagger 2 are as it says", async () => {
  const lists = ["csv", "ssv", "pipes", "multi"].map((collectionFormat) => ({
    name: collectionFormat,
    in: "query",
    type: "array",
    items: { type: "string" },
    collectionFormat,
  }));
  const form = [
    { name: "title", in: "formData", type: "string", required: true },
    { name: "tags", in: "formData", type: "array", items: { type: "string" } },
  ];
  const document = {
    swagger: "2.0",
    info: { title: "Old", version: "1" },
    host: "api.example.com",
    schemes: ["https"],
    consumes: ["application/json"],
    paths: {
      "/lists": { get: { parameters: lists } },
      "/form": { post: { consumes: ["application/x-www-form-urlencoded"], parameters: form } },
      "/file": {
        post: {
          consumes: ["multipart/form-data"],
          parameters: [...form, { name: "file", in: "formData", type: "file", required: true }],
        },
      },
      "/body": {
        put: {
          parameters: [
            { name: "pet", in: "body", schema: { type: "object", properties: { id: { type: "integer" } } } },
          ],
        },
      },
    },
  };
  const api = await readDocument(folder.path, document);
  const { operations, faults } = await checkDocument(api, join(folder.path, "openapi.json"));
  expect({ operations, faults }).toEqual({ operations: 4, faults: [] });
});

test("the checker notices a request that is not as the document says", async () => {
  const api = await readDocument(folder.path, allStyles);
  for (const operation of api.operations)
    for (const parameter of operation.parameters) if (parameter.in === "query") parameter.explode = !parameter.explode;
  const { faults } = await checkDocument(api, join(folder.path, "openapi.json"));
  expect(faults.some(({ text }) => text.startsWith("query form_list_each"))).toBe(true);
});
