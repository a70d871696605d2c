/** Everything that is kept between sessions has an owner and labels, or a reason why it needs none. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/claudikins.ts";

interface Kept {
  /** The owner, and the readers. */
  owner: string;
  /** How labels of what a session has read stay with it, or why it has no data of sessions. */
  labels: string;
}

const ofExecution: Kept = {
  owner:
    "the door, person and starter in the request of its execution; stored-executions.ts and asker.ts decide who asks",
  labels: "the labels of the execution, which whoever gets its outcome gets too",
};
const ofUser = (labels: string): Kept => ({ owner: "the user of this machine, who alone reads it", labels });
const noData = "no data of sessions";
const ofOperator = (labels = noData): Kept => ({ owner: "the operator; agents and programs never read it", labels });

/** By table, without regard to case and underscores: both databases have the same. */
const tables: Record<string, Kept> = {
  executions: ofExecution,
  calls: ofExecution,
  pages: ofExecution,
  saving: ofExecution,
  keptvalues: { owner: "a sealed request of one session, opened by its key only", labels: "those of its client" },
  approvals: {
    owner: "the person for whom the program runs, and approvers",
    labels: "shown to people only; an agent gets the decision and no argument",
  },
  denials: { owner: "that of its approval, with which it goes", labels: "the words of the person who denied" },
  records: ofOperator("in the record: a program that is saved of it keeps them"),
  activity: ofOperator("none: names and sizes of a record, with which it goes"),
  calllog: {
    owner: "the operator, who asks for the calls of all; a row names its person or token, and goes with the person",
    labels: "names, sizes and the labels of the tool's data; no contents",
  },
  deliveries: {
    owner: "the user of the programs at its place, whose commands alone list it",
    labels: "in each row: the program that gets the event has read them",
  },
  counts: ofOperator("numbers by tool"),
  audit: ofOperator("digests of arguments; names of programs, tools and people"),
  auditend: ofOperator(),
  people: ofOperator(),
  newestgroups: ofOperator("the groups of people, which take rights away"),
  signouts: ofOperator("times of sign-outs, which take rights away"),
  directory: ofOperator("the users and groups of a company, which its directory alone reads with its token"),
  directorymembers: ofOperator("who is in which group"),
  labels: { owner: "the holder: an execution, a file or a client", labels: "these are the labels" },
  quotauses: ofOperator("numbers"),
  objects: ofOperator("names of objects; their contents are those of files and programs"),
  objectpages: ofExecution,
  storedbytes: ofOperator("a number"),
  owners: ofOperator("processes that are alive"),
  schemaversion: ofOperator(),
  sharedkey: ofOperator(),
  sessions: { owner: "the client that has begun the session", labels: "those of its client" },
  documents: { owner: "that of each document: see the writers", labels: "see the writers" },
  documentlocks: ofOperator(),
  workspaces: { owner: "the config, its door and its person", labels: "by file, in the table of labels" },
  files: { owner: "that of its workspace", labels: "by file, in the table of labels" },
  fileparts: { owner: "that of its workspace", labels: "by file, in the table of labels" },
};

/** Files of the data folder. */
const dataFiles: Record<string, Kept> = {
  "credentials.json": ofOperator(),
  "secrets.json": ofOperator(),
  people: { owner: "one person each, sealed", labels: noData },
  "http-token": ofOperator(),
  "tokens.json": ofOperator(),
  "executions.sqlite": { owner: "that of each table", labels: "see the tables" },
  programs: {
    owner: "the owner in each program; visible-programs.ts decides who calls it. Schedules and triggers are the user's",
    labels: "in each program: whoever runs it gets them",
  },
  executables: ofOperator(),
  upgrade: ofOperator(),
  definitions: { owner: "the user, for all agents of a config", labels: "texts of servers, which agents read anyway" },
  bundles: ofUser("files of servers"),
  sources: ofOperator("documents of web APIs, which have no data of people"),
  logs: ofOperator("output of servers, which agents do not read"),
  failures: ofOperator(),
  "trust.json": ofOperator(),
  "written-folders": ofOperator(),
};

/** Sources outside of `base/` that write files or documents. */
const writers: Record<string, Kept> = {
  "cli/all-executions.ts": ofUser("a page that the user asks for"),
  "cli/commands/daemon-service.ts": ofUser(noData),
  "cli/flags/http-flags.ts": ofOperator(),
  "cli/programs/repository.ts": ofUser("programs that the user exports, to a folder of the user's choice"),
  "config/secrets/store.ts": ofOperator(),
  "config/trust/store.ts": ofOperator(),
  "programs/recordings/recording-files.ts": {
    owner: "the user, whose program it is",
    labels: "in each recording; placeholders stand for private data, and *** for secrets",
  },
  "programs/events/stored-triggers.ts": ofUser("conditions and inputs that the user has given; names of files"),
  "programs/saved/library.ts": dataFiles["programs"]!,
  "programs/saved/schedules.ts": ofUser("inputs that the user has given; the outcome has the labels of its execution"),
  "serve/tokens/token-file.ts": ofOperator(),
  "servers/auth/credentials.ts": { owner: "the user, or one person, sealed", labels: noData },
  "setup/upgrade/hint.ts": ofOperator(),
  "setup/upgrade/lasting.ts": ofOperator(),
  "tools/definitions/lock-file.ts": ofUser("fingerprints"),
  "tools/definitions/record.ts": dataFiles["definitions"]!,
  "tools/generate.ts": ofUser(noData),
  "tools/observed/store.ts": {
    owner: "everybody who uses the registry",
    labels: "results of private tools, and of programs whose session has read private data, are not observed",
  },
  "sources/graphql/schema-worker.ts": ofUser("schemas of APIs, and the tools made of them"),
  "tools/origin.ts": ofUser(noData),
  "tools/registry/bridge.ts": ofUser(noData),
  "tools/registry/globals/globals-file.ts": ofUser("signatures of tools"),
  "tools/registry/store.ts": {
    owner: "everybody who uses the registry; programs of tokens and people are not in it",
    labels: "signatures of tools, with observed types: see there",
  },
  "tools/search/prepared-index.ts": ofUser("words of signatures"),
};

const source = join(root, "src");
const files = (readdirSync(source, { recursive: true }) as string[])
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => /\.ts$/.test(name) && !name.startsWith("base/"));
const textOf = (file: string) => readFileSync(join(source, file), "utf8");

function found(pattern: RegExp, among = files): string[] {
  return [
    ...new Set(among.flatMap((file) => Array.from(textOf(file).matchAll(pattern), ([, name = ""]) => name))),
  ].sort();
}

function expectListed(names: readonly string[], listed: Record<string, Kept>): void {
  // Add a line for what is new: whose is it, and where are its labels?
  expect(names.filter((name) => !Object.hasOwn(listed, name))).toEqual([]);
  expect(Object.keys(listed).filter((name) => !names.includes(name))).toEqual([]);
  for (const { owner, labels } of Object.values(listed))
    expect([owner.length > 5, labels.length > 5]).toEqual([true, true]);
}

test("each table of a database has an owner and labels", () => {
  const names = found(/CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?(?:claudikins\.)?(\w+)/g);
  expect(names.length).toBeGreaterThan(20);
  expectListed([...new Set(names.map((name) => name.toLowerCase().replaceAll("_", "")))], tables);
});

test("statements that both databases share have no words that only one of them knows", () => {
  const foreign =
    /::(?:int|text|json|double|bytea)|\bjson_(?:each|array|extract|agg)|\bpg_|\browid\b|clock_timestamp|INSERT OR REPLACE|starts_with/;
  const shared = files.filter((file) => /^store\/(?:audit\/)?[^/]+\.ts$/.test(file));
  expect(shared.filter((file) => textOf(file).includes("claudikins.")).length).toBeGreaterThan(6);
  expect(shared.filter((file) => foreign.test(textOf(file)))).toEqual([]);
});

test("each file and folder of the data folder has an owner and labels", () => {
  expectListed(found(/inDataFolder\((?:join\()?"([^"]+)"/g), dataFiles);
});

test("each source that writes files or documents has an owner and labels for them", () => {
  const writes = /\b(?:writeWhenChanged|writeSecret|changes\.write|changes\.writeSecret|[wW]riteJsonFile)\(/;
  expectListed(
    files.filter((file) => writes.test(textOf(file))),
    writers,
  );
});
