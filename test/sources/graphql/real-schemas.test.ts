/** Large real schemas: each tool has a request that its schema accepts. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildSchema, parse, validate } from "graphql";
import { requestWith } from "../../../src/sources/graphql/select.ts";
import { graphqlApi } from "../../../src/sources/graphql/tools.ts";
import { root } from "../../support/claudikins.ts";

setDefaultTimeout(60_000);

// The package is large, and only this file needs it. `npm install --no-save @octokit/graphql-schema@15.26.1` brings it.
const github = join(root, "node_modules", "@octokit", "graphql-schema", "schema.graphql");

describe.skipIf(!existsSync(github))("the schema of GitHub", () => {
  const text = existsSync(github) ? readFileSync(github, "utf8") : "type Query { a: Int }";
  // It defines two fields twice, which the worker does not mind either.
  const schema = buildSchema(text, { assumeValid: true, assumeValidSDL: true });
  const api = graphqlApi(schema);

  test("has a valid request and a bounded description for each field", () => {
    const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
      Object.keys(type?.getFields() ?? {}),
    );
    // `relay` is the query type once more.
    expect(api.tools.map(({ name }) => name)).toEqual(fields.filter((name) => name !== "relay"));
    expect(api.problems).toEqual([]);
    for (const { request } of api.operations) expect(validate(schema, parse(request.document))).toEqual([]);
    expect(Math.max(...api.tools.map((tool) => JSON.stringify(tool).length))).toBeLessThan(20_000);
  });

  test("takes a selection with a connection inside", () => {
    const repository = api.operations.find(({ name }) => name === "repository");
    if (!repository) throw new Error("GitHub has repositories");
    const select = "issues(first: 10, states: [OPEN]) { nodes { title author { login } } }";
    expect(requestWith(schema, repository, select).pages?.items).toEqual(["issues", "nodes"]);
  });
});
