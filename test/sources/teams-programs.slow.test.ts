/**
 * Three programs that a team runs, in one program: PostGraphile over a database, Unleash for feature flags, and Jupyter Server. They publish
 * their documents.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cli } from "../cli/in-memory.ts";
import { ownFolder } from "../support/own-folder.ts";
import { type PostgresFixture, password, postgresFixture, postgresPrograms } from "../support/postgres.ts";
import { hasJupyter, hasPostGraphile, hasUnleash, RealProgram } from "./real-programs.ts";

setDefaultTimeout(120_000);

const missing = [
  ...(postgresPrograms === undefined ? ["Postgres"] : []),
  ...(hasJupyter ? [] : ["jupyter-server"]),
  ...(hasUnleash ? [] : ["unleash-server in TEST_SERVERS"]),
  ...(hasPostGraphile ? [] : ["postgraphile in TEST_SERVERS"]),
];
const note = missing.length === 0 ? "" : ` (skipped: needs ${missing.join(", ")})`;

describe.skipIf(missing.length > 0)(`the programs of a team${note}`, () => {
  const folder = ownFolder({ isShared: true });
  const orders = 10_000;
  const token = "*:*.a-token-of-tests";
  const programs: RealProgram[] = [];
  let postgres: PostgresFixture;

  beforeAll(async () => {
    postgres = await postgresFixture();
    const shop = await postgres.database();
    for (const statement of [
      "CREATE TABLE customers (id serial PRIMARY KEY, name text NOT NULL)",
      "CREATE TABLE orders (id serial PRIMARY KEY, customer_id int REFERENCES customers, total int NOT NULL)",
      "INSERT INTO customers (name) SELECT 'customer ' || each FROM generate_series(1, 100) each",
      `INSERT INTO orders (customer_id, total) SELECT 1 + each % 100, each FROM generate_series(1, ${orders}) each`,
    ])
      await postgres.run(shop, statement);
    const [database, flags] = [shop, await postgres.database()].map(networkUrl) as [string, string];
    const [graph, unleash, jupyter] = await Promise.all([
      RealProgram.postGraphile(database),
      RealProgram.unleash(flags, token),
      RealProgram.jupyter("a-jupyter-token"),
    ]);
    programs.push(graph, unleash, jupyter);
    const mcpServers = {
      shop: { graphql: `${graph.url}/graphql` },
      flags: { openapi: `${unleash.url}/docs/openapi.json`, baseUrl: unleash.url, auth: "${FLAGS_TOKEN}" },
      notebooks: {
        openapi: `${jupyter.url}/api/spec.yaml`,
        baseUrl: jupyter.url,
        headers: { Authorization: "token ${JUPYTER_TOKEN}" },
      },
      stranger: { openapi: `${unleash.url}/docs/openapi.json`, baseUrl: unleash.url, auth: "wrong" },
    };
    // The texts of all of them are those of the test.
    const labelled = Object.entries(mcpServers).map(([name, entry]) => [name, { ...entry, labels: { "*": [] } }]);
    folder.write(".config/claudikins/claudikins.json", JSON.stringify({ mcpServers: Object.fromEntries(labelled) }));
  });

  afterAll(async () => {
    for (const program of programs) await program[Symbol.asyncDispose]();
    await postgres?.[Symbol.asyncDispose]();
  });

  const networkUrl = (url: string) =>
    `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${postgres.port}${new URL(url).pathname}`;

  async function exec(code: string): Promise<unknown> {
    const env = { FLAGS_TOKEN: token, JUPYTER_TOKEN: "a-jupyter-token" };
    const { exitCode, stdout, stderr } = await cli(["exec", "--json", "-e", code], { cwd: folder.path, env });
    if (exitCode !== 0) throw new Error(stderr || stdout);
    return JSON.parse(stdout).value;
  }

  test("one program adds up ten thousand rows, makes a feature flag of the result, and saves a report", async () => {
    const value = await exec(`
      let [rows, total] = [0, 0];
      for await (const order of shop.allOrders.pages({ first: 1000 })) {
        rows++;
        total += order.total;
      }
      const flag = await flags.create_feature({ projectId: "default", name: "orders-" + rows, type: "release" });
      const listed = await flags.get_features({ projectId: "default" });
      await notebooks.put_contents_by_path({ path: "report.txt", body: { type: "file", format: "text", content: rows + " orders: " + total } });
      const report = await notebooks.get_contents_by_path({ path: "report.txt" });
      return { flag: flag.name, flags: listed.features.map(({ name }) => name), report: report.content };
    `);
    const total = (orders * (orders + 1)) / 2;
    expect(value).toEqual({
      flag: `orders-${orders}`,
      flags: [`orders-${orders}`],
      report: `${orders} orders: ${total}`,
    });
  });

  test("a mutation changes one row of the database", async () => {
    const value = await exec(`
      const input = { id: 7, customerPatch: { name: "Ada" } };
      const { customer } = await shop.updateCustomerById({ input, select: "customer { id name }" });
      return [customer, (await shop.customerById({ id: 7 })).name];
    `);
    expect(value).toEqual([{ id: 7, name: "Ada" }, "Ada"]);
  });

  test("errors of each kind have their status and the program's own message", async () => {
    const value = await exec(`
      async function messageOf(call) {
        try { await call(); return "done" } catch (error) { return [error.data?.status, error.message] }
      }
      const flag = { projectId: "default", name: "twice" };
      await flags.create_feature(flag);
      return [
        await messageOf(() => stranger.create_feature({ projectId: "default", name: "refused" })),
        await messageOf(() => flags.get_feature({ projectId: "default", featureName: "absent" })),
        await messageOf(() => flags.create_feature(flag)),
        await messageOf(() => flags.create_feature({ projectId: "default", name: "not a name" })),
        await messageOf(() => notebooks.get_contents_by_path({ path: "absent.txt" })),
      ];
    `);
    expect(value).toEqual([
      [401, expect.stringMatching(/^401 Unauthorized: .*\n.*check "auth" of "stranger" in the config/)],
      [404, expect.stringMatching(/^404 Not Found: There's no feature named "absent"/)],
      [409, expect.stringMatching(/^409 Conflict: A flag with that name already exists\n/)],
      [400, expect.stringMatching(/^400 Bad Request: .*\nDetails: "name" must be URL friendly/)],
      [404, expect.stringMatching(/^404 Not Found: file or directory does not exist: 'absent.txt'\n/)],
    ]);
  });
});
