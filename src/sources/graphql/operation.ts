/** A GraphQL API as its calls need it: its tools, and the request that each of them makes. It is JSON, and is kept in a file. */
import type { Tool } from "@modelcontextprotocol/client";

/** `tools[i]` describes `operations[i]`. */
export interface GraphqlApi {
  tools: Tool[];
  operations: GraphqlOperation[];
  /** Parts of the schema that were left out, in words for people. */
  problems: string[];
}

/** A field of the schema's query or mutation type, or a field of a namespace in it. */
export interface GraphqlOperation {
  /** The name of its tool. */
  name: string;
  kind: "query" | "mutation";
  /** The arguments of the field, which are the variables of its request. */
  variables: string[];
  /** Where the variables may have files, as paths of names. `*` stands for the items of a list. */
  uploads?: string[][] | undefined;
  /** The argument of the tool that chooses fields. Undefined if the result has none. */
  select?: string | undefined;
  /** The number of items of a page that is asked for if the caller gives none, for a connection. */
  first?: number | undefined;
  /** The request without `select`. */
  request: GraphqlRequest;
}

/** A document, and where its result is. It does not depend on the values of variables. */
export interface GraphqlRequest {
  document: string;
  /** The fields that lead from `data` to the value of the call. */
  path: string[];
  pages?: ConnectionPages | undefined;
}

/** A Relay connection in the value of a call. */
export interface ConnectionPages {
  /** The fields that lead from the value to the `PageInfo`. */
  info: string[];
  /** The last of these fields was added to what the caller has chosen, and is taken out of the value. */
  isAdded: boolean;
  /** The fields that lead from the value to the array of items. */
  items: string[];
  next: NextArgument;
}

/** Where the cursor of the next page goes: into an argument, or into a place of the text in `select`. */
export type NextArgument = { argument: string } | { start: number; end: number; before: string; after: string };
