/** The next page of a list is recognised from the document, for the ways that APIs have. */
import { expect, test } from "bun:test";
import { ownFolder } from "../../support/own-folder.ts";
import { documentOf, operationOf, readDocument } from "./read.ts";

const folder = ownFolder({ isShared: true });
const text = { type: "string" };
const number = { type: "integer" };
const flag = { type: "boolean" };
const list = { type: "array", items: { type: "object", properties: { id: text } } };
const object = (properties: object) => ({ type: "object", properties });

const cases: [string, string[], object, object | undefined, object?][] = [
  ["GitHub", ["per_page", "page"], list, { items: [], by: "link" }, { Link: { schema: text } }],
  [
    "GitHub's searches",
    ["page"],
    object({ total_count: number, items: list }),
    { items: ["items"], by: "link" },
    { link: {} },
  ],
  [
    "Stripe",
    ["starting_after", "ending_before", "limit"],
    object({ data: list, has_more: flag, url: text }),
    { items: ["data"], by: "last item", argument: "starting_after", key: "id", more: ["has_more"] },
  ],
  [
    "Slack",
    ["cursor", "limit"],
    object({ ok: flag, channels: list, response_metadata: object({ next_cursor: text }) }),
    { items: ["channels"], by: "cursor", argument: "cursor", field: ["response_metadata", "next_cursor"] },
  ],
  [
    "Google",
    ["pageToken", "pageSize"],
    object({ files: list, nextPageToken: text }),
    { items: ["files"], by: "cursor", argument: "pageToken", field: ["nextPageToken"] },
  ],
  [
    "Kubernetes",
    ["continue", "limit"],
    object({ items: list, metadata: object({ continue: text }) }),
    { items: ["items"], by: "cursor", argument: "continue", field: ["metadata", "continue"] },
  ],
  [
    "OpenAI",
    ["after", "limit"],
    object({ data: list, last_id: text, has_more: flag }),
    { items: ["data"], by: "cursor", argument: "after", field: ["last_id"], more: ["has_more"] },
  ],
  [
    "Microsoft Graph",
    ["$top", "$skip"],
    object({ value: list, "@odata.nextLink": text }),
    { items: ["value"], by: "address", field: ["@odata.nextLink"] },
  ],
  [
    "Twilio",
    ["PageSize", "Page"],
    object({ calls: list, next_page_uri: text }),
    { items: ["calls"], by: "address", field: ["next_page_uri"] },
  ],
  [
    "JSON:API",
    ["page[number]"],
    object({ data: list, links: object({ next: { type: "string", format: "uri" } }) }),
    { items: ["data"], by: "address", field: ["links", "next"] },
  ],
  [
    "Jira",
    ["startAt", "maxResults"],
    object({ values: list, total: number }),
    { items: ["values"], by: "offset", argument: "startAt", limit: "maxResults", total: ["total"] },
  ],
  [
    "Cloudflare",
    ["page", "per_page"],
    object({ result: list, result_info: object({ page: number, total_count: number }) }),
    {
      items: ["result"],
      by: "page",
      argument: "page",
      first: 1,
      limit: "per_page",
      total: ["result_info", "total_count"],
    },
  ],
  ["a list without pages", ["name"], list, undefined],
  ["an offset without anything else", ["offset"], object({ a: list }), undefined],
  ["a single object", ["page"], object({ id: text }), undefined],
];

// Bun would take an argument that a case leaves out for its callback.
test.each(cases.map((each) => [each[0], each] as const))("%s", async (_, [, parameters, schema, pages, headers]) => {
  const get = {
    operationId: "list_all",
    parameters: parameters.map((name) => ({ name, in: "query", schema: text })),
    responses: { 200: { description: "OK", headers, content: { "application/json": { schema } } } },
  };
  const { tool, operation } = operationOf(await readDocument(folder.path, documentOf({ "/a": { get } })), "list_all");
  expect<unknown>(operation.pages).toEqual(pages);
  expect(tool._meta).toEqual(pages && { "claudikins/pages": { items: (pages as { items: string[] }).items } });
});
