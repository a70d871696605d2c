/** Ranking: the weight of each part of a tool, long requests, filters, equal tools, and hostile queries. */
import { describe, expect, test } from "bun:test";
import { ToolSearch } from "../../src/tools/search/tool-search.ts";
import { serverOf, type ToolDraft } from "./search-corpus.ts";

const searchOf = (...servers: ReturnType<typeof serverOf>[]) => new ToolSearch({ version: 1, servers });
const ids = (search: ToolSearch, query: string, limit = 10) => search.search(query, limit).map(({ id }) => id);

describe("the weight of words", () => {
  test.each<[string, Record<string, string | ToolDraft>, string]>([
    ["a name before a description", { zebra: "Any", a: "About a zebra" }, "s.zebra"],
    [
      "the first sentence before the rest",
      { b: "Counts every zebra in the zoo today. Also lions.", a: "Counts every lion in the zoo today. Also zebras." },
      "s.b",
    ],
    ["a description before a parameter", { b: "A zebra", a: { parameters: { zebra: {} } } }, "s.b"],
    ["a title before a parameter", { b: { title: "Zebra" }, a: { parameters: { zebra: {} } } }, "s.b"],
    ["the description of a parameter", { b: { parameters: { x: { description: "zebra" } } }, a: "Nothing" }, "s.b"],
    ["the values of a parameter", { b: { parameters: { x: { enum: ["zebra", 1] } } }, a: "Nothing" }, "s.b"],
    ["a short description before a long one", { b: "zebra zoo", a: `zebra ${"other words of it ".repeat(20)}` }, "s.b"],
    ["all of a name before some of it", { zebra: "", zebra_lion_ape: "" }, "s.zebra"],
  ])("the first match has %s", (_, tools, first) => {
    expect(ids(searchOf(serverOf("s", tools)), "zebra")[0]).toBe(first);
  });

  test("a name matches if the query leaves out only a word that all names have", () => {
    const search = searchOf(serverOf("s", { ape_zebra: "", get_zebra: "", get_lion: "", get_bear: "", get_wolf: "" }));
    expect(ids(search, "zebra", 1)).toEqual(["s.get_zebra"]);
  });

  test("earlier words count a bit more", () => {
    const search = searchOf(serverOf("s", { lion: "", zebra: "" }));
    expect(ids(search, "lion zebra")).toEqual(["s.lion", "s.zebra"]);
    expect(ids(search, "zebra lion")).toEqual(["s.zebra", "s.lion"]);
  });

  test("words that many requests have count less", () => {
    const search = searchOf(serverOf("s", { latest_lion: "", old_zebra: "" }));
    expect(ids(search, "latest zebra")).toEqual(["s.old_zebra", "s.latest_lion"]);
  });

  test("words that are consecutive in the name count more", () => {
    const search = searchOf(serverOf("s", { ape_bear_lion: "", lion_ape_bear: "", zebra: "" }));
    expect(ids(search, "the lion ape and a zebra")[0]).toBe("s.lion_ape_bear");
    expect(ids(search, "the bear lion and a zebra")[0]).toBe("s.ape_bear_lion");
  });

  test("rare words count more than common ones", () => {
    const search = searchOf(serverOf("s", { get_item_a: "", get_item_b: "", get_item_c: "", pay: "An invoice" }));
    expect(ids(search, "item invoice")[0]).toBe("s.pay");
  });

  test("a word of one server counts more than a word of many", () => {
    const search = searchOf(
      serverOf("a", { zebra_one: "", zebra_two: "", zebra_three: "" }),
      serverOf("b", { lion_one: "" }),
      serverOf("c", { lion_two: "" }),
      serverOf("d", { lion_three: "" }),
    );
    expect(ids(search, "lion zebra", 1)[0]).toStartWith("a.zebra");
  });

  test("a server's name, description and other tools count for its tools", () => {
    const search = searchOf(
      serverOf("alpha", { get: "One entry here" }),
      serverOf("tracker", { get: "One entry" }),
      serverOf("omega", { get: "One entry" }, { description: "Telescope of the observatory" }),
      serverOf("zoo", { get: "One entry there", feed: "Gives the giraffe its leaves" }),
    );
    expect(ids(search, "get tracker", 1)).toEqual(["tracker.get"]);
    expect(ids(search, "entry of the telescope", 1)).toEqual(["omega.get"]);
    const order = ids(search, "entry giraffe");
    expect(order.slice(0, 2)).toEqual(["zoo.feed", "zoo.get"]);
  });

  test("a request to read does not rank a deleting tool first", () => {
    const search = searchOf(serverOf("s", { delete_branch: "A branch", describe_branch: "A branch" }));
    expect(ids(search, "show the branch")[0]).toBe("s.describe_branch");
    expect(ids(search, "remove the branch")[0]).toBe("s.delete_branch");
    const both = searchOf(serverOf("s", { add_branch: "A branch", branch_owner: "Shows the branch" }));
    expect(ids(both, "a branch")[0]).toBe("s.add_branch");
    expect(ids(both, "which branch is it")[0]).toBe("s.branch_owner");
  });
});

describe("requests", () => {
  const search = searchOf(
    serverOf("files", { read_file: "The content of a file", write_file: "Replaces the content of a file" }),
    serverOf("mail", { send_mail: "To one person", list_mails: "In one mailbox" }),
    serverOf("sheets", { add_row: "To a spreadsheet" }),
    serverOf("web", { open_page: "A page of the internet" }),
  );

  test("polite words do not change the result", () => {
    expect(ids(search, "Hello, could you please help me to write a file? Thank you!")[0]).toBe("files.write_file");
  });

  test("each of several wishes has its tool among the first results", () => {
    const found = ids(
      search,
      "Look at the spreadsheet and add a row, then send a mail to the owner of it, and open the page of the shop.",
      3,
    );
    expect(found.sort()).toEqual(["mail.send_mail", "sheets.add_row", "web.open_page"]);
  });

  test("a tool that meets one wish ranks above one that meets parts of two", () => {
    const zoo = searchOf(serverOf("s", { lion_bear: "", lion_tamer: "", paint_wall: "" }));
    expect(ids(zoo, "Paint a bear. The lion and its tamer.")[0]).toBe("s.lion_bear");
    expect(ids(zoo, "Paint a bear. The lion tamer.")[0]).toBe("s.lion_tamer");
  });

  test("a path means a file and a URL means a page, whatever their names", () => {
    expect(ids(search, "What is in /home/me/mail/page-12.txt?")[0]).toStartWith("files.");
    expect(ids(search, "show https://www.example.org/list/mail")[0]).toBe("web.open_page");
    expect(ids(search, "tell somebody@spreadsheet.example about it")[0]).toStartWith("mail.");
  });
});

describe("exact names come first", () => {
  const search = searchOf(
    serverOf("github", { search: "Everything", search_code: "Search, search, search: code search", get_me: "" }),
    serverOf("search", { query: "Search the search index: search" }),
  );
  test.each([
    ["search", "github.search"],
    ["search_code", "github.search_code"],
    ["github.search", "github.search"],
    ["Github Search Code", "github.search_code"],
    ["search.query", "search.query"],
    // Only common words.
    ["get me", "github.get_me"],
  ])("%j → %s", (query, id) => {
    expect(ids(search, query)[0]).toBe(id);
  });
});

describe("filters", () => {
  const search = searchOf(
    serverOf("github", { list_issues: "Issues of a repository" }, { category: "code" }),
    serverOf("gitlab", { list_issues: "Issues of a project" }, { category: "code" }),
    serverOf("my shop", { list_issues: "Issues of customers", sell: "A thing" }, { category: "UI", jsName: "my_shop" }),
  );
  test.each([
    ["issues server:gitlab", ["gitlab.list_issues"]],
    ["SERVER:GitHub issues", ["github.list_issues"]],
    ['issues server:"my shop"', ["my shop.list_issues"]],
    ["issues server:my_shop", ["my shop.list_issues"]],
    ["my_shop: issues", ["my shop.list_issues"]],
    ["GITHUB: issues", ["github.list_issues"]],
    ["note: issues", ["github.list_issues", "gitlab.list_issues", "my shop.list_issues"]],
    ["issues category:code", ["github.list_issues", "gitlab.list_issues"]],
    ["server:github server:gitlab issues", ["github.list_issues", "gitlab.list_issues"]],
    ["issues category:ui server:github", []],
    // Only filters: every tool that they select.
    ["server:'my shop'", ["my shop.list_issues", "my shop.sell"]],
    ["category:nothing", []],
  ])("%j", (query, found) => {
    expect(ids(search, query).sort()).toEqual(found);
  });

  test("an unknown server in a filter is an error with similar names", () => {
    expect(() => search.search("issues server:githbu", 5)).toThrow(
      expect.objectContaining({
        code: "SERVER_NOT_FOUND",
        message: 'No tools are known for server "githbu"',
        hint: expect.stringContaining("github"),
      }),
    );
  });

  test("a colon alone is not a filter", () => {
    expect(ids(search, "server: issues").length).toBe(3);
  });
});

describe("tools that destroy", () => {
  const memory = serverOf("memory", {
    delete_observations: "Delete specific observations from entities in the knowledge graph",
    delete_entities: "Delete multiple entities from the knowledge graph",
    add_observations: "Add new observations to existing entities in the knowledge graph",
    read_graph: "Read the entire knowledge graph",
  });
  const cloud = serverOf("cloud", { terminate_machine: "Ends a machine for good", list_machines: "All of them" });
  const [ending] = cloud.tools.filter(({ name }) => name === "terminate_machine");
  ending!.annotations = { destructiveHint: true };
  const search = searchOf(memory, cloud);

  test("are never first unless the request asks to destroy", () => {
    for (const query of [
      "remember a fact",
      "specific observations from entities",
      "knowledge graph",
      "entities",
      "a machine for good",
      "machine",
      "server:memory",
    ]) {
      const [first] = ids(search, query);
      expect([query, first]).toEqual([query, expect.not.stringMatching(/delete|terminate/)]);
    }
  });

  test("are first if the request asks for it, or if nothing else matches", () => {
    expect(ids(search, "delete specific observations")[0]).toBe("memory.delete_observations");
    expect(ids(search, "get rid of entities")[0]).toBe("memory.delete_entities");
    expect(ids(search, "terminate the machine")[0]).toBe("cloud.terminate_machine");
    expect(ids(searchOf(serverOf("a", { delete_user: "A user" })), "user")).toEqual(["a.delete_user"]);
  });
});

describe("the same tool on several servers", () => {
  const echo: ToolDraft = { description: "Says it again", parameters: { text: { type: "string" } } };
  const search = searchOf(
    serverOf("home", { echo }),
    serverOf("work", { echo }),
    serverOf("other", { echo: { ...echo, parameters: { words: { type: "string" } } } }),
  );

  test("is one match, which names the others", () => {
    const found = search.search("echo", 10).map(({ id, also }) => [id, also]);
    expect(found).toEqual([
      ["home.echo", ["work.echo"]],
      ["other.echo", []],
    ]);
    expect(search.search("echo", 1)).toMatchObject([{ id: "home.echo", also: ["work.echo"] }]);
  });

  test("is that of the first server in the config, for any query, and the others are named", () => {
    const tools = { add_note: "Adds a note to the memory", note_list: "Lists the notes of the cursor" };
    const twins = searchOf(serverOf("memory", tools), serverOf("memory-cursor", tools), serverOf("a-memory", tools));
    for (const query of ["add a note", "note", "memory", "note in memory", "list notes", "lists the notes of"]) {
      for (const { id, also } of twins.search(query, 10)) {
        const tool = id.split(".")[1];
        expect([query, id, also]).toEqual([query, `memory.${tool}`, [`memory-cursor.${tool}`, `a-memory.${tool}`]]);
      }
    }
    // A named server takes precedence.
    expect(twins.search("add a note with memory-cursor", 1)).toMatchObject([{ id: "memory-cursor.add_note" }]);
    expect(twins.search("add a note server:a-memory", 1)).toMatchObject([{ id: "a-memory.add_note", also: [] }]);
  });

  test("is found by its server's name", () => {
    expect(search.search("echo server:work", 1)).toMatchObject([{ id: "work.echo", also: [] }]);
  });

  test("is not merged if only the name is known", () => {
    const bare = searchOf(serverOf("a", { go: "" }), serverOf("b", { go: "" }));
    expect(ids(bare, "go")).toEqual(["a.go", "b.go"]);
  });
});

describe("a hostile query", () => {
  const search = searchOf(serverOf("s", { read_file: "The content of a file", constructor: "__proto__ toString" }));
  const long = (text: string) => text.repeat(Math.ceil(100_000 / text.length));
  test.each([
    ["words", long("file ")],
    ["other words", Array.from({ length: 20_000 }, (_, index) => `w${index}`).join(" ")],
    ["wishes", long("file, ")],
    ["slashes", long("/")],
    ["dots and letters", long("a.")],
    ["quotes", long("\"'")],
    ["at signs", long("a@")],
    ["capitals", long("aB")],
    ["filters", `${long("category:x ")}file`],
    ["open filters", long('category:"')],
    ["accents", long("é\u0301")],
    ["Han", long("文")],
    ["emojis", long("👩‍👩‍👧 ")],
    ["pieces of surrogates", long("\ud83d ")],
    ["patterns", long("(.*)+$[^a]\\b{9}|")],
  ])("is answered quickly: %s", (_, query) => {
    expect(search.search(query, 10).length).toBeLessThanOrEqual(2);
  });

  test.each(["__proto__", "constructor", "toString"])("finds %s as an ordinary word", (query) => {
    expect(ids(search, query)).toEqual(["s.constructor"]);
  });

  test("is answered with invalid and huge schemas", () => {
    const [odd] = [serverOf("odd", { a: "Zebra" })];
    odd.tools.push(
      { name: "b", description: "Zebra", inputSchema: { properties: ["x"] } },
      { name: "c", description: "Zebra", inputSchema: { properties: { x: true, y: null, z: { description: 1 } } } },
      { name: "d", description: "Zebra ".repeat(200_000), inputSchema: {} },
    );
    expect(ids(searchOf(odd), "zebra").sort()).toEqual(["odd.a", "odd.b", "odd.c", "odd.d"]);
  });
});
