/** Requests as people write them: idioms, named products, people, and descriptions of what is to be read. */
import { describe, expect, test } from "bun:test";
import { maxPhraseWords } from "../../src/tools/limits.ts";
import { plainWords } from "../../src/tools/search/idioms.ts";
import { wordsOf } from "../../src/tools/search/tokenize.ts";
import { ToolSearch } from "../../src/tools/search/tool-search.ts";
import { everydayMeanings, idiomMeanings } from "../../src/tools/search/vocabulary.ts";
import { serverOf } from "./search-corpus.ts";

const searchOf = (...servers: ReturnType<typeof serverOf>[]) => new ToolSearch({ version: 1, servers });
const ids = (search: ToolSearch, query: string, limit = 10) => search.search(query, limit).map(({ id }) => id);

const git = serverOf("git", {
  git_status: "Shows the working tree status",
  git_diff_unstaged: "Shows changes in the working directory that are not yet staged",
  git_diff_staged: "Shows changes that are staged for commit",
  git_diff: "Shows differences between branches or commits",
  git_commit: "Records changes to the repository",
  git_add: "Adds file contents to the staging area",
  git_reset: "Unstages all staged changes",
  git_log: "Shows the commit logs",
  git_create_branch: "Creates a new branch from an optional base branch",
  git_checkout: "Switches branches",
  git_show: "Shows the contents of a commit",
  git_init: "Initialize a new Git repository",
  git_branch: "List Git branches",
});
const github = serverOf("github", {
  create_repository: "Create a new GitHub repository in your account",
  fork_repository: "Fork a GitHub repository to your account or specified organization",
  search_repositories: "Search for GitHub repositories",
  search_code: "Search for code across GitHub repositories",
  push_files: "Push multiple files to a GitHub repository in a single commit",
  get_file_contents: "Get the contents of a file or directory from a GitHub repository",
  get_pull_request_status: "Get the combined status of all status checks for a pull request",
  merge_pull_request: "Merge a pull request",
  create_issue: "Create a new issue in a GitHub repository",
  list_commits: "Get list of commits of a branch in a GitHub repository",
});
const files = serverOf("filesystem", {
  read_text_file: "Read the complete contents of a file from the file system as text",
  search_files: "Recursively search for files and directories matching a pattern in their names",
  edit_file: "Make line-based edits to a text file",
});
const desktop = serverOf("desktop-commander", {
  search_code: "Search for text or code patterns within file contents. Use this instead of running a command.",
  search_files: "Finds files by name using a case-insensitive substring matching",
});
const slack = serverOf("slack", {
  slack_post_message: "Post a new message to a Slack channel",
  slack_get_users: "Get a list of all users in the workspace with their basic profile information",
  slack_get_channel_history: "Get recent messages from a channel",
  slack_add_reaction: "Add a reaction emoji to a message",
});
const sentry = serverOf("sentry", {
  search_issues: "Search for grouped issues and problems in Sentry",
  create_team: "Create a new team in Sentry",
});
const atlassian = serverOf("atlassian", {
  jira_add_comment: "Add a comment to an issue",
  jira_create_issue: "Create a new issue with optional epic link or parent for subtasks",
  jira_add_worklog: "Add a worklog entry to an issue",
  jira_search: "Search issues using JQL",
  confluence_add_comment: "Add a comment to a page",
});
const linear = serverOf("linear", {
  list_projects: "List projects in the user's workspace",
  list_cycles: "Retrieve cycles for a specific team",
  create_comment: "Create a comment on a specific issue",
  list_issues: "List issues in the workspace, by assignee, state or label",
});
const zendesk = serverOf("zendesk", {
  create_ticket_comment: "Create a new comment on an existing ticket",
  list_tickets: "List tickets of the support desk",
});
const stripe = serverOf("stripe", {
  create_refund: "Refund a payment intent",
  list_disputes: "List payment disputes",
  cancel_subscription: "Cancel a subscription",
});
const calendar = serverOf("calendar", {
  "create-event": "Create a new calendar event",
  "delete-event": "Delete a calendar event",
  "get-freebusy": "Query free/busy information for calendars",
});
const logs = serverOf("logs", { query_logs: "Query the logs of a project" });
const documents = serverOf("mongodb", {
  "drop-collection": "Removes a collection",
  "list-collections": "List all collections",
  find: "Run a find query",
});
const office = searchOf(
  git,
  github,
  files,
  slack,
  sentry,
  atlassian,
  linear,
  zendesk,
  stripe,
  calendar,
  logs,
  documents,
);

describe("a request that describes a thing to read", () => {
  test("finds tools that read, although a tool that writes has its words", () => {
    const found = ids(searchOf(git, files), "files changed in a commit");
    for (const id of found.slice(0, 4)) expect(id).toMatch(/git_(diff|show)/);
    expect(found).toContain("git.git_show");
    for (const search of [searchOf(git), searchOf(git, github, files), office]) {
      expect(ids(search, "files changed in a commit")[0]).toMatch(/git_(show|diff)/);
      expect(ids(search, "status of the repository")[0]).toBe("git.git_status");
    }
  });

  test.each([
    ["messages sent by Ada", "slack.slack_get_channel_history"],
    ["recently deleted collections", "mongodb.list-collections"],
    ["projects created this week", "linear.list_projects"],
  ])("finds a tool that reads: %s", (query, id) => {
    expect(ids(office, query)[0]).toBe(id);
  });

  test("a request with a verb that writes still finds tools that write", () => {
    expect(ids(office, "put changed files into a commit")[0]).toMatch(/git_commit|git_add|push_files/);
    expect(ids(office, "refund the payment and show a receipt")[0]).toBe("stripe.create_refund");
    expect(ids(office, "merge the pull request opened by Ada")[0]).toBe("github.merge_pull_request");
  });

  test("a search in the contents of files does not find a tool for file names first", () => {
    const search = searchOf(files, desktop, git);
    for (const query of ["search file contents", "search inside the files for a word", "find a word in files"]) {
      expect([query, ids(search, query)[0]]).toEqual([query, "desktop-commander.search_code"]);
    }
    expect(ids(search, "find files by name")[0]).toEndWith(".search_files");
  });
});

describe("a short query that names one product", () => {
  test.each([
    // The server's tools have the name.
    ["leave a note on a Jira ticket", "atlassian.jira_add_comment"],
    ["streams of work in Linear", "linear.list_projects"],
    ["the comments in Zendesk", "zendesk.create_ticket_comment"],
    // With capitals inside.
    ["create an issue on GitHub", "github.create_issue"],
    ["add a comment with github", /^github\./],
  ])("finds a tool of that product first: %s", (query, id) => {
    expect(ids(office, query)[0]).toMatch(typeof id === "string" ? new RegExp(`^${id}$`) : id);
  });

  test("a name that no list of words has is a product too", () => {
    const search = searchOf(
      serverOf("kagi", { query: "Ask the engine" }),
      serverOf("web", { search_web: "Search the web" }),
    );
    expect(ids(search, "search the web with kagi")[0]).toBe("kagi.query");
    expect(ids(search, "search the web")[0]).toBe("web.search_web");
  });

  test("an ordinary word does not count as a product, although a server has it as name", () => {
    const search = searchOf(
      serverOf("memory", { read_graph: "Read the entire knowledge graph" }),
      serverOf("system", { get_memory_usage: "Memory usage of a process" }),
    );
    expect(ids(search, "memory usage of a process")[0]).toBe("system.get_memory_usage");
  });

  test("the best matches come first for several products, or in a long query", () => {
    const several = ids(office, "refund a payment with Stripe for the customer who wrote to Zendesk");
    expect(several[0]).toBe("stripe.create_refund");
    const long =
      "refund the payment of the customer who complained twice last week about the broken lamp in a ticket of Zendesk";
    expect(ids(office, long)[0]).toBe("stripe.create_refund");
  });

  test("a product behind `about` is only a subject", () => {
    const search = searchOf(linear, zendesk, serverOf("web", { search_web: "Search the web" }));
    expect(ids(search, "search the web about zendesk")[0]).toBe("web.search_web");
  });
});

describe("words for people", () => {
  const shop = searchOf(
    serverOf("retail", {
      get_user_details: "Get the details of a user, including their orders.",
      get_order_details: "Get the status and details of an order.",
      get_product_details: "Get the inventory details of a product.",
      modify_user_address: "Modify the default address of a user.",
      transfer_to_human_agents: "Transfer the user to a human agent, with a summary of the user's issue.",
    }),
  );
  test.each(["customer", "client", "shopper", "passenger", "buyer", "member", "account holder", "traveller"])(
    "%s means a user",
    (word) => {
      expect(ids(shop, `look the ${word} up`).slice(0, 2)).toContain("retail.get_user_details");
      expect(ids(shop, `profile of the ${word}`)[0]).toBe("retail.get_user_details");
    },
  );

  test("a tool with the word itself comes first", () => {
    const both = searchOf(
      serverOf("retail", { get_user_details: "Get the details of a user" }),
      serverOf("billing", { get_customer_details: "Get the details of a customer" }),
    );
    expect(ids(both, "details of a customer")[0]).toBe("billing.get_customer_details");
  });
});

describe("an idiom", () => {
  test.each([
    ["log a piece of work", /create_issue$/],
    ["log two hours on the ticket", /worklog$/],
    ["let a teammate know the build is broken", /post_message$/],
    ["keep the whole support team in the loop", /post_message$/],
    ["drop everyone a line about the party", /post_message$/],
    ["the shopper wants her money back", /create_refund$/],
    ["on an engineer's plate", /issues$/],
    ["call the dentist off", /delete-event$|cancel/],
    ["find a slot for four people", /freebusy$/],
    ["block out Friday morning", /create-event$/],
    ["a cardholder never bought this", /disputes$/],
  ])("is read as what it means: %s", (query, id) => {
    expect(ids(office, query)[0]).toMatch(id);
  });

  test.each([
    ["let the whole support team know", "send message the whole support team"],
    ["drop me a line", "send message me"],
    ["dropping her a line", "send message her"],
    ["call off the trip", "cancel the trip"],
    ["call it off", "cancel"],
    ["call the whole trip off", "cancel the whole trip"],
    ["log two hours on the ticket", "add worklog time on the ticket"],
    ["call a taxi", "call a taxi"],
    // A gap has one word at least and four at most.
    ["let know", "let know"],
    ["let one two three four five know", "let one two three four five know"],
    ["make me a note of it", "create note it"],
    // Nothing may be missing at the end.
    ["drop me a", "drop me a"],
  ])("is replaced by plain words: %s", (request, plain) => {
    expect(plainWords(wordsOf(request), () => false).join(" ")).toBe(plain);
  });

  test.each([
    "logs of the last hour on this server",
    "drop the first line of the file",
    "list files under the source folder",
    "find the time zone of Berlin",
    "create a table for customers",
    "paint the box in red",
    "stocks in the stock market",
    "turn the volume down",
    "check whether the wifi is off",
    "run number 5 of the pipeline",
    "make more copies of the page",
    "go back to the previous page",
    "how far is the station",
    "close deals with customers",
  ])("is not seen in a request with other meaning: %s", (request) => {
    expect(plainWords(wordsOf(request), () => false)).toEqual(wordsOf(request));
  });

  test("its own words count if the name of a tool has them", () => {
    const search = searchOf(serverOf("hr", { sign_off_timesheet: "", approve_leave: "Approves an absence" }));
    expect(ids(search, "sign off")[0]).toBe("hr.sign_off_timesheet");
    expect(ids(searchOf(serverOf("hr", { approve_leave: "", ask_leave: "" })), "sign off")[0]).toBe("hr.approve_leave");
  });

  test("its meaning decides whether tools that destroy or read come first", () => {
    const rooms = searchOf(serverOf("s", { delete_room: "A room", update_room: "A room", list_rooms: "All rooms" }));
    expect(ids(rooms, "get rid of the room")[0]).toBe("s.delete_room");
    expect(ids(rooms, "do away with a room")[0]).toBe("s.delete_room");
    expect(ids(rooms, "pull up the rooms")[0]).toBe("s.list_rooms");
  });
});

test("a phrase of three words has its meaning", () => {
  const audio = searchOf(serverOf("s", { transcribe: "An interview", compress: "A file" }));
  expect(ids(audio, "speech to text", 1)).toEqual(["s.transcribe"]);
  const absent = searchOf(serverOf("s", { set_absence: "From one day to another", send_letter: "To a person" }));
  expect(ids(absent, "out of office", 1)).toEqual(["s.set_absence"]);
});

test("each phrase and idiom of the vocabulary can be met", () => {
  const phrases = everydayMeanings().flatMap(({ asked }) => asked);
  expect(phrases.filter((phrase) => phrase.split("_").length > maxPhraseWords)).toEqual([]);
  const idioms = idiomMeanings();
  const gaps = (words: readonly string[]) => words.filter((word) => word === "*").length;
  const wrong = idioms.flatMap(({ asked, meant }) =>
    asked.filter((entry) => {
      const parts = entry.split("_");
      const areGapsKept = gaps(parts) === 0 ? gaps(meant) === 0 : gaps(meant) === 1;
      return meant.length === 0 || parts[0] === "*" || parts.at(-1) === "*" || !areGapsKept;
    }),
  );
  expect(wrong).toEqual([]);
  const all = idioms.flatMap(({ asked }) => asked);
  expect(all.filter((entry, at) => all.indexOf(entry) !== at)).toEqual([]);
});
