/** Ranking of a small corpus: the intended tool is first, unusual queries are harmless, and the order is stable. */
import { describe, expect, test } from "bun:test";
import type { RegistryServer } from "../../src/tools/model.ts";
import { ToolSearch } from "../../src/tools/search/tool-search.ts";

/** A server with a description and parameters for each tool. */
function server(name: string, tools: Record<string, string[]>): RegistryServer {
  return {
    name,
    category: "other",
    description: "",
    folder: `other/${name}`,
    fingerprint: "x",
    tools: Object.entries(tools).map(([tool, [description = "", ...parameters]]) => ({
      name: tool,
      description,
      inputSchema: { type: "object", properties: Object.fromEntries(parameters.map((each) => [each, {}])) },
    })),
  };
}

const search = new ToolSearch({
  version: 1,
  servers: [
    server("github", {
      create_issue: ["Create a new issue in a repository", "owner", "repo", "title"],
      "list-issues": ["List issues of a repository", "owner", "repo", "state"],
      mergePullRequest: ["Merge a pull request", "pull_number"],
      search_code: ["Search for code across repositories", "query"],
    }),
    server("files", {
      read_file: ["Read the complete contents of a file", "path"],
      write_file: ["Create a new file or overwrite an existing one", "path", "content"],
      search_files: ["Search for files that match a pattern", "pattern"],
    }),
    server("shop", {
      refund_order: ["Pay back what a customer paid for an order", "order_id", "reason"],
      list_orders: ["Orders by status and date", "status"],
      ["constructor"]: ["Has an odd name: __proto__ hasOwnProperty"],
    }),
  ],
});

const found = (query: string, limit = 3) => search.search(query, limit).map(({ id }) => id);

describe("the intended tool comes first", () => {
  test.each([
    ["refund an order", "shop.refund_order"],
    ["create issue", "github.create_issue"],
    ["I want to read a file please", "files.read_file"],
    // Plurals, other endings, other spellings of names.
    ["refunds for orders", "shop.refund_order"],
    ["creating issues", "github.create_issue"],
    ["listIssues", "github.list-issues"],
    ["list-issues", "github.list-issues"],
    ["LIST_ISSUES", "github.list-issues"],
    ["merge-pull-request", "github.mergePullRequest"],
    ["merging pull requests", "github.mergePullRequest"],
    // The server, a parameter, the beginning of a word.
    ["github search", "github.search_code"],
    ["pull_number", "github.mergePullRequest"],
    ["overwr", "files.write_file"],
    ["constructor", "shop.constructor"],
  ])("%j → %s", (query, id) => {
    expect(found(query)[0]).toBe(id);
  });
});

describe("an unusual query", () => {
  test.each(["", "   ", "!!! ???", "\0", "日本語", "zzzzqqq", "x".repeat(100_000)])("finds nothing: %j", (query) => {
    expect(found(query)).toEqual([]);
  });

  test("with names of Object's properties finds ordinary words", () => {
    expect(found("__proto__")).toEqual(["shop.constructor"]);
    expect(found("hasOwnProperty")[0]).toBe("shop.constructor");
    expect(found("toLocaleString")).toEqual([]);
  });

  test("uses common words only if there are no others", () => {
    expect(found("for a", 10)).toEqual(found("a for", 10));
    expect(found("the file", 10)).toEqual(found("file", 10));
  });
});

describe("the order of matches", () => {
  test("is by id for equal scores, and the limit cuts the end", () => {
    const same = new ToolSearch({
      version: 1,
      servers: [server("b", { z: ["match"], y: ["match"] }), server("a", { x: ["match"], B: ["match"] })],
    });
    expect(same.search("match", 10).map(({ id, score }) => [id, score === same.search("match", 1)[0]?.score])).toEqual([
      ["a.B", true],
      ["a.x", true],
      ["b.y", true],
      ["b.z", true],
    ]);
    expect(same.search("match", 2).map(({ id }) => id)).toEqual(["a.B", "a.x"]);
  });

  test("is by falling scores, and always the same", () => {
    const matches = search.search("search files in a repository", 10);
    const scores = matches.map(({ score }) => score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(matches[0]?.id).toBe("files.search_files");
    expect(search.search("search files in a repository", 10)).toEqual(matches);
  });

  test("keeps the tool and the server of each match", () => {
    const [match] = search.search("refund", 1);
    expect([match?.server.name, match?.tool.name, match?.tool.description]).toEqual([
      "shop",
      "refund_order",
      "Pay back what a customer paid for an order",
    ]);
  });
});

test("an empty registry finds nothing", () => {
  const empty = new ToolSearch({ version: 1, servers: [] });
  expect([empty.size, empty.search("anything", 5)]).toEqual([0, []]);
  expect(search.size).toBe(10);
});
