/** The order of tools: exact names, tools that read, and successors of deprecated tools come first. */
import { describe, expect, test } from "bun:test";
import { successorsOf, ToolSearch } from "../../src/tools/search/tool-search.ts";
import { serverOf } from "./search-corpus.ts";

const searchOf = (...servers: ReturnType<typeof serverOf>[]) => new ToolSearch({ version: 1, servers });
const ids = (search: ToolSearch, query: string, limit = 10) => search.search(query, limit).map(({ id }) => id);

const git = serverOf("git", {
  git_show: "Shows the contents of a commit",
  git_log: "Shows the commit logs",
  "git-diff": "Differences",
});
const github = serverOf("github", {
  get_file_contents: "Get the contents of a file or directory of a GitHub repository at a commit",
  create_or_update_file: "Create or update a single file in a GitHub repository",
  push_files: "Push multiple files to a GitHub repository in a single commit",
  get_commit: "Get details of a commit of a GitHub repository",
  list_commits: "Get the list of commits of a branch",
  getMe: "Me",
  search: "Everything",
});
const files = serverOf("filesystem", {
  read_file: "Read the complete contents of a file as text. DEPRECATED: Use read_text_file instead.",
  read_text_file: "Read the complete contents of a file from the file system as text. Handles various text encodings.",
  write_file: "Create a new file or completely overwrite an existing file with new content.",
});
const search = searchOf(git, github, files);

describe("a tool whose exact name is in the query comes first", () => {
  test.each([
    ["git_show file contents of a commit in the github repository", "git.git_show"],
    ["get the contents of a file at a commit with git_show", "git.git_show"],
    ["git.git_show github file contents", "git.git_show"],
    ["the file contents by git-show", "git.git_show"],
    ["git_diff of the commits in the github repository", "git.git-diff"],
    ["mcp__github__get_me commit file contents", "github.getMe"],
    ["github.search file contents of a commit", "github.search"],
    ["contents of a commit: gitShow", "git.git_show"],
    // The server is wrong.
    ["github.git_log: commits of the github repository", "git.git_log"],
    ["read_file, and how to read text files", "filesystem.read_file"],
  ])("%s → %s", (query, id) => {
    expect(ids(search, query)[0]).toBe(id);
  });

  test("and the other matches stay", () => {
    const found = ids(search, "git_show, and the list of commits of a branch");
    expect(found[0]).toBe("git.git_show");
    expect(found).toContain("github.list_commits");
  });

  test("except in a filter for other servers", () => {
    expect(ids(search, "git_show contents of a commit server:github")[0]).toStartWith("github.");
  });

  test("but a plain word is not a name", () => {
    expect(ids(search, "search the contents of a file at a commit")[0]).not.toBe("github.search");
  });
});

describe("tools that write come after tools that read", () => {
  test.each([
    "show the single file in a GitHub repository",
    "which single file is in the GitHub repository",
    "read a single file of a GitHub repository",
    "list updated files in a single GitHub repository",
    "Please get a single file in the repository",
  ])("for a query that reads: %s", (query) => {
    expect(ids(search, query)[0]).not.toMatch(/create|push|write/);
  });

  test.each([
    ["create a file in a GitHub repository", /create|write/],
    ["show me how to create or update a single file", /create|write/],
    ["read the file and then push multiple files in a single commit", /push/],
    ["find a way of creating a new file", /create|write/],
  ])("but not for a query that writes: %s", (query, first) => {
    expect(ids(search, query).slice(0, 2).join()).toMatch(first);
  });

  test("unless those that read match much worse", () => {
    const shop = searchOf(serverOf("s", { create_voucher: "A voucher for a customer of the shop", list_cats: "Shop" }));
    expect(ids(shop, "get a voucher for a customer of the shop")[0]).toBe("s.create_voucher");
  });

  test("unless a server says of a tool that it only reads", () => {
    const ledger = serverOf("s", { post_report: "A report of the ledger", ledger_report: "A ledger" });
    ledger.tools[0]!.annotations = { readOnlyHint: true };
    expect(ids(searchOf(ledger), "show a post report of the ledger")[0]).toBe("s.post_report");
  });
});

describe("a deprecated tool", () => {
  test.each(["read a file", "read file", "complete contents of a file as text", "show a file"])(
    "ranks below its successor: %s",
    (query) => {
      const found = ids(search, `${query} server:filesystem`);
      expect(found).toContain("filesystem.read_text_file");
      const last = found.indexOf("filesystem.read_file");
      if (last !== -1) expect(found.indexOf("filesystem.read_text_file")).toBeLessThan(last);
    },
  );

  test("ranks below a successor that the query would not find", () => {
    const renamed = searchOf(
      serverOf("s", { zebra: "**Deprecated.** This tool is superseded by `animal.find`.", "animal.find": "" }),
    );
    expect(ids(renamed, "zebra", 1)).toEqual(["s.animal.find"]);
  });

  test("ranks below a similar tool if its successor is not named", () => {
    const old = searchOf(
      serverOf("s", { find_zebra_a: "[DEPRECATED] A zebra", find_zebra_b: "Also one zebra in a zoo" }),
    );
    expect(ids(old, "find zebra")[0]).toBe("s.find_zebra_b");
  });

  test.each<[string, string[] | undefined]>([
    ["DEPRECATED: Use read_text_file instead.", ["read_text_file"]],
    ["(deprecated) Reads. Please use the `fs.read` tool", ["fs.read"]],
    ["Deprecated in favor of list_all", ["list_all"]],
    ["Deprecated alias for search-code.", ["search-code"]],
    ["This tool has been deprecated.", []],
    ["Checks whether packages are deprecated. Use it before an update.", undefined],
    ["Lists deprecated versions of a package", undefined],
    ["Marks a version as deprecated", undefined],
  ])("is recognised by its description: %s", (description, successors) => {
    expect(successorsOf({ name: "old", description, inputSchema: {} })).toEqual(successors!);
  });
});
