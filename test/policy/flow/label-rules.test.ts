/** The rules label tools by what a server says about them. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type LabelledDefinition, labelsByRules, labelWords } from "../../../src/policy/flow/label-rules.ts";
import { stemOf } from "../../../src/policy/flow/label-words.ts";

const closed = { openWorldHint: false };

/** A definition that takes texts. Without annotations, the careful values count. */
function tool(args: string[], description = "", annotations?: object): LabelledDefinition {
  const properties = Object.fromEntries(args.map((name) => [name, { type: "string" }]));
  const inputSchema = { type: "object", properties, required: args };
  return { description, inputSchema, ...(annotations ? { annotations: { ...annotations } } : {}) };
}

const labelsOf = (name: string, definition: LabelledDefinition) =>
  labelsByRules(name, definition)
    .map(({ label }) => label)
    .join(" ");

test.each<[string, LabelledDefinition, string]>([
  // Sends.
  ["send_mail", tool(["to", "subject", "body"], "Sends a mail."), "public"],
  ["sendMail", tool(["to", "body"]), "public"],
  ["SEND-SMS", tool(["number", "text"]), "public"],
  ["posts_create", tool(["text"]), "public"],
  ["chat.postMessage", tool(["channel", "text"]), "public"],
  ["notify", tool(["text"], "", closed), "public"],
  ["relay", tool(["text"], "Sends the text to the team.", { readOnlyHint: true, ...closed }), "public"],
  ["create_issue", tool(["title", "body"]), "public"],
  ["add_comment", tool(["body"]), "public"],
  ["file_issue", tool(["title"]), "public"],
  ["file_search", tool(["query"]), "untrusted private"],
  ["read_and_send", tool(["id"]), "public"],
  ["make_payment", tool(["iban", "purpose"]), "public"],
  ["register_webhook", tool(["url"]), "public"],
  ["book_meeting", tool(["attendees", "title"]), "public"],
  // Reads from strangers.
  ["fetch_page", tool(["url"]), "untrusted public"],
  ["web_search", tool(["query"]), "untrusted"],
  ["browser_navigate", tool(["url"]), "untrusted public"],
  ["get_article", tool(["id"]), "untrusted"],
  // Reads what is the user's.
  ["read_file", tool(["path"]), "untrusted private"],
  ["list_emails", tool(["folder"]), "untrusted private"],
  ["searchInbox", tool(["query"]), "untrusted private"],
  ["get_customer", tool(["id"]), "untrusted private"],
  ["query", tool(["sql"], "Runs a SQL query."), "untrusted private"],
  ["recall", tool(["key"], "Returns the memory of a key."), "untrusted private"],
  ["list_invoices", tool([]), "private"],
  ["get_secret", tool(["name"]), "private"],
  ["lookup", tool(["employee_id"], "Looks up the salary."), "private"],
  // Runs what it is given.
  ["run_command", tool(["command"], "Runs a shell command."), "untrusted private public"],
  ["browser_evaluate", tool(["script"], "Runs JavaScript in the page."), "untrusted public"],
  // Neither reads nor sends.
  ["delete_file", tool(["path"]), ""],
  ["write_file", tool(["path", "content"]), ""],
  ["create_entities", tool(["entities"], "Creates entities in the knowledge graph."), ""],
  ["resize", tool(["width"]), ""],
  ["send_report", { inputSchema: { type: "object", properties: { count: { type: "integer" } } } }, ""],
  // Nothing says what they do.
  ["frobnicate", tool(["text"]), "public"],
  ["frobnicate", tool(["text"], "", closed), ""],
  ["get_weather", tool(["city"]), "untrusted"],
  ["get_weather", tool(["city"], "", closed), ""],
  ["frobnicate", tool(["text"], "", { openWorldHint: true, readOnlyHint: true }), "untrusted"],
  ["frobnicate", tool(["text"], "", { openWorldHint: "yes" }), "public"],
  ["search_docs", tool(["query"], "Searches the documentation.", closed), ""],
])("%s %j is labelled %j", (name, definition, expected) => {
  expect(labelsOf(name, definition)).toBe(expected);
});

describe("annotations", () => {
  test.each(["send_mail", "read_file", "fetch_page", "run_command"])("do not make %s harmless", (name) => {
    const args = { send_mail: ["to", "body"], read_file: ["path"], fetch_page: ["url"], run_command: ["command"] }[
      name
    ]!;
    const harmless = { readOnlyHint: true, destructiveHint: false, openWorldHint: false, idempotentHint: true };
    expect(labelsOf(name, tool(args, "", harmless))).toBe(labelsOf(name, tool(args)));
  });

  test("count although they contradict the name", () => {
    expect(labelsOf("get_it", tool(["text"], "", { readOnlyHint: false, openWorldHint: true }))).toContain("public");
  });
});

test("each label has its first reason, in words about the tool", () => {
  expect(labelsByRules("fetch_mails", tool(["url"], "Fetches your mails."))).toEqual([
    { label: "untrusted", why: 'its argument "url" is a web address' },
    { label: "public", why: 'its argument "url" is a web address', reaches: true },
  ]);
  expect(labelsByRules("send_mail", tool(["to", "body"]))).toEqual([
    { label: "public", why: 'its name says "send"', reaches: false },
  ]);
  expect(labelsByRules("get_customer", tool(["id"]))).toEqual([
    { label: "untrusted", why: 'it returns "customer"' },
    { label: "private", why: 'it returns "customer"' },
  ]);
});

test("a definition is looked at once", () => {
  const definition = tool(["to", "body"]);
  expect(labelsByRules("send_mail", definition)).toBe(labelsByRules("send_mail", definition));
});

test.each<[string, unknown]>([
  ["a schema of another type", "x"],
  ["properties that are a list", { properties: ["url"] }],
  ["an argument of another type", { properties: { url: true } }],
  ["types and choices of other kinds", { properties: { a: { type: ["string"], enum: 1, description: 2, format: 3 } } }],
  ["names of prototypes", { properties: { constructor: {}, __proto__: {}, toString: {} } }],
])("%s is read without an error", (_, inputSchema) => {
  expect(labelsByRules("send_it", { inputSchema: inputSchema as never, annotations: [] as never })).toBeArray();
});

test("endless texts and names take little time", () => {
  const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`${"aB".repeat(50)}${at}`, {}]));
  const begun = performance.now();
  labelsByRules("sendA".repeat(200_000), { description: "(a. ".repeat(500_000), inputSchema: { properties } });
  expect(performance.now() - begun).toBeLessThan(1_000);
});

test.each([
  ["post", "posts posting posted"],
  ["notify", "notifies notified notifying"],
  ["share", "shares sharing shared"],
  ["submit", "submits submitting submitted"],
  ["query", "queries"],
  ["message", "messages messaging"],
  ["send", "sends sent sending"],
  ["box", "boxes"],
])("%s has the stem of its forms", (word, forms) => {
  for (const form of forms.split(" ")) expect([form, stemOf(form)]).toEqual([form, stemOf(word)]);
});

test("docs/flow.md has the words of the rules", () => {
  const page = readFileSync(join(import.meta.dir, "../../../docs/flow.md"), "utf8");
  const rows = Object.fromEntries(
    [...page.matchAll(/^\| `(\w+)` \| .* \| ([a-z ]+) \|$/gm)].map(([, key, words]) => [key, words]),
  );
  expect(rows).toEqual({ ...labelWords });
});
