/** What the catalog says of a well-known MCP server: how it is started, what it needs, what it is good for. */

/** The folders of the catalog. */
export type Category =
  | "ai-models"
  | "apis"
  | "business"
  | "cloud"
  | "code"
  | "data"
  | "files"
  | "game-dev"
  | "knowledge"
  | "monitoring"
  | "reasoning"
  | "search"
  | "testing"
  | "ui"
  | "web";

/** An entry of `mcpServers`, as any host takes it. What differs from person to person stands in it as `${VAR}`. */
export type McpServerEntry =
  | { command: string; args?: readonly string[]; env?: Readonly<Record<string, string>>; sandbox?: CatalogSandbox }
  | { type: "http" | "sse"; url: string; headers?: Readonly<Record<string, string>> }
  | WebApiEntry;

/** A web API with an OpenAPI document, for which claudikins itself is the server. */
export interface WebApiEntry {
  openapi: string;
  baseUrl?: string;
  auth?: string | Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
}

/** What a server needs to read, write and reach, besides its own program: `sandbox` of an entry. */
export interface CatalogSandbox {
  read?: readonly string[];
  write?: readonly string[];
  network?: boolean | readonly string[];
}

export interface CatalogVariable {
  name: string;
  /** Without it the server does not start, or can do nothing. */
  required: boolean;
  /** What it is, and what for. */
  what: string;
  /** The page where a person gets it; none where it is a path or an address of their own. */
  from?: string;
}

/** What a tool returns. It has types and formats, and no values. */
export interface CatalogResult {
  /** The type of the value in TypeScript. Missing if the tool declares a type itself. */
  type?: string;
  /** The format of a text, or what the type does not tell, in one line. */
  text?: string;
}

/** What the tools of one version of a server return, found by running it. Written by `bun run results`. */
export interface CatalogResults {
  /** The results are true of this package only, not of other servers for the same thing. */
  package: string;
  version: string;
  tools: Readonly<Record<string, CatalogResult>>;
  /** The tools of most tasks as agents see them: `({ path })`, with the outer fields of a declared result: `({ path }): { content }`. */
  usual?: Readonly<Record<string, string>>;
}

export interface CatalogServer {
  /** The name of its folder, and the key in `mcpServers` that `server` is written under. */
  name: string;
  /** As its makers write it. */
  title: string;
  /** One line: what it lets an agent do. */
  description: string;
  /** The folder above its own. */
  category: Category;
  server: McpServerEntry;
  /** Other ways to the same server, and other servers for the same thing. */
  alternatives?: readonly { what: string; server: McpServerEntry }[];
  /** Every variable in `server` and the alternatives. */
  variables: readonly CatalogVariable[];
  /**
   * How one signs in to what `server` starts: not at all, with a token in a variable, by OAuth in a browser, or with
   * another program that the notes name.
   */
  signIn: "none" | "token" | "oauth" | "program";
  /**
   * `private`: it keeps a state for its conversation that the next call uses, such as an open page, a working directory, a connection or a
   * chosen project, so each agent has its own process. `shared`: calls name all that they are about, so agents share one.
   */
  session: "shared" | "private";
  /**
   * The packages that do the same in whatever folder they are started, so that agents in all folders share one process. `none`: they use no
   * folder. `named`: they use those that their arguments name. They ask their agent for nothing but its roots, which they can do without.
   */
  folders?: Readonly<Record<string, "none" | "named">>;
  /**
   * How it is started in a sandbox: `server` with this `sandbox`, or another entry. A text says why it cannot be
   * confined. Missing for servers on the network. The table of docs/sandbox.md has those that were tried. The hosts of the others are named by
   * their makers.
   */
  confined?: CatalogSandbox | { server: McpServerEntry } | string;
  /**
   * The labels of its tools' data, by pattern; the most exact one counts. `untrusted`: strangers may have written the results. `private`: the
   * results must not leave. `public`: others can see the arguments.
   */
  labels?: Readonly<Record<string, readonly ("untrusted" | "private" | "public")[]>>;
  /** What its tools return, if the server was run. */
  results?: CatalogResults;
  /** Words that a person would look for. */
  goodFor: readonly string[];
  notes: readonly string[];
  /** Other names it is known by; the packages, images and hosts of `server` and the alternatives go without saying. */
  aliases: readonly string[];
  homepage: string;
  /** `started`: `server` was started and has listed its tools. `documented`: its makers say so; it was not tried. */
  checked: { date: string; how: "started" | "documented" };
}
