/** What search_tools says beside the tools that it has found: how to get the ids that they require, and that a service has no server. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { App } from "../../src/app/app.ts";
import { generate } from "../../src/tools/generate.ts";
import { search } from "../../src/tools/search/search.ts";
import { searchLines } from "../support/search.ts";
import { type Project, project } from "../tools/generation/project.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

const text = { type: "string" };

const described = (description: string, properties: object = {}, required = Object.keys(properties)) => ({
  description,
  inputSchema: { type: "object", properties, required },
});

let folder: Project;
let app: App;
beforeAll(async () => {
  folder = project();
  folder.configure({
    slack: folder.offering("slack", {
      slack_post_message: described("Post a new message to a Slack channel", { channel_id: text, text }),
      slack_list_channels: described("List public channels with pagination", { limit: { type: "number" } }, []),
      slack_get_channel_history: described("Get recent messages from a channel", { channel_id: text }),
      slack_list_channel_members: described("List members", { channel_id: text }),
    }),
    desk: folder.offering("desk", {
      create_ticket: described("Create a ticket for a customer", { subject: text, assignee: text }),
      close_ticket: described("Closes a ticket", { id: text }),
      findTickets: described("Finds tickets", { words: text }),
      assign: described("Assigns a colleague", { person: { type: "string", description: "The ID of the colleague" } }),
      list_persons: described("Everybody"),
      rename_board: described("Renames a board", { boardId: text, name: text }),
    }),
  });
  app = await folder.open();
  await generate(app);
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const linesOf = (args: object) => searchLines({ ...args }, app);

describe("a tool that gives the id which a found tool requires", () => {
  test("is shown with its signature below the found tool, and not among the less likely ones", async () => {
    const lines = await linesOf({ query: "post a new message", limit: 5 });
    expect(lines.slice(0, 3)).toEqual([
      "slack.slack_post_message(args: { channel_id: string; text: string }): Promise<unknown>",
      "  Post a new message to a Slack channel",
      "  channel_id from slack.slack_list_channels(args?: { limit?: number }): Promise<unknown>",
    ]);
    expect(lines.join("\n").match(/slack_list_channels\(/g)).toHaveLength(1);
  });

  test.each([
    ["close a ticket", "  id from desk.findTickets("],
    ["assign a colleague", "  person from desk.list_persons("],
  ])("is found by the name of the tool or the description of the argument: %s", async (query, line) => {
    expect((await linesOf({ query, limit: 1 })).join("\n")).toContain(line);
  });

  test.each([
    ["rename a board", "no tool lists the things"],
    ["create a ticket", "no id is required"],
    ["close ticket 17", "the query has the id"],
    ["list public channels", "the found tool requires none"],
  ])("is not shown for %j: %s", async (query) => {
    expect((await linesOf({ query, limit: 1 })).join("\n")).not.toContain(" from ");
  });

  test("is shown once in an answer", async () => {
    const lines = await linesOf({ queries: ["post a new message", "get recent messages from a channel"], limit: 1 });
    expect(lines.filter((line) => line.includes("slack_list_channels"))).toHaveLength(1);
  });
});

test("a search that finds nothing among at most sixteen tools names all of them", async () => {
  const slack = [
    "slack_post_message",
    "slack_list_channels",
    "slack_get_channel_history",
    "slack_list_channel_members",
  ];
  const desk = ["create_ticket", "close_ticket", "findTickets", "assign", "list_persons", "rename_board"];
  const ids = [...desk.map((name) => `desk.${name}`), ...slack.map((name) => `slack.${name}`)];
  const [none, all, ...rest] = await linesOf({ query: "zzqqvv" });
  expect(none).toStartWith("No tool of 10 matches.");
  expect(all!.replace("All tools: ", "").split(", ").sort()).toEqual(ids.sort());
  expect(rest).toEqual([]);
  expect(JSON.parse((await linesOf({ query: "zzqqvv", detail: "full" })).join("\n"))).toMatchObject({ all: ids });
});

describe("a query for a service without a server", () => {
  test("is answered with that, and the tools of other services are less likely", async () => {
    const [first, second, ...rest] = await linesOf({ query: "create jira ticket" });
    expect(first).toBe("No tool of 10 matches: none is for jira.");
    expect(second).toStartWith("Less likely: desk.create_ticket({ subject, assignee })");
    expect(rest).toEqual([]);
    const several = await linesOf({ queries: ["close a ticket", "create a Jira ticket"], limit: 1 });
    expect(several).toContain("No tool of 10 matches: none is for jira.");
  });

  test.each([
    ["create a ticket in Trello", ["trello"]],
    ["github issue", ["github"]],
    ["create linear issue", ["linear"]],
    ["post to notion", ["notion"]],
    // A server is for it.
    ["post a slack message", undefined],
    ["create slack message and jira ticket server:desk", undefined],
    // The word has another meaning here, or is what the request is about.
    ["linear regression", undefined],
    ["search the web for jira", undefined],
    ["create a ticket", undefined],
    ["I would like to write to all people who use my shopify store about the new prices", undefined],
  ])("is recognised: %s → %j", (query, services) => {
    expect(search(query, 5, app.catalog).noServerFor).toEqual(services!);
  });
});
