/** Tasks over several web APIs in one program, with programs that others have made. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { cli } from "../cli/in-memory.ts";
import { ownFolder } from "../support/own-folder.ts";
import { startBookshop } from "./graphql/bookshop.ts";
import { hasPowerDns, RealProgram, registryDocument, signInsAMinute } from "./real-programs.ts";

setDefaultTimeout(120_000);

/** More than any API returns at once. */
const books = 10_000;

const folder = ownFolder({ isShared: true });
const dnsKey = "dns-key-1";
const env: Record<string, string> = { DNS_KEY: dnsKey, PACKAGES_TOKEN: "" };
let shop: ReturnType<typeof startBookshop>;
let registry: RealProgram;
let dns: RealProgram | undefined;

beforeAll(async () => {
  shop = startBookshop({}, books);
  registry = await RealProgram.packageRegistry();
  dns = hasPowerDns ? await RealProgram.powerDns(dnsKey) : undefined;
  folder.write("packages.json", JSON.stringify(registryDocument));
  const packages = { openapi: `${folder.path}/packages.json`, baseUrl: registry.url };
  const zones = dns && {
    openapi: `${dns.url}/api/docs`,
    baseUrl: `${dns.url}/api/v1`,
    headers: { "X-API-Key": "${DNS_KEY}" },
  };
  // The texts of the shop are those of the test.
  const labels = { "*": [] };
  const mcpServers = {
    shop: { graphql: shop.url, labels },
    packages: { ...packages, auth: "${PACKAGES_TOKEN}" },
    strangers: packages,
    ...(zones ? { dns: zones } : {}),
  };
  folder.write(".config/claudikins/claudikins.json", JSON.stringify({ mcpServers }));
  const signIn = 'return (await strangers.sign_in({ user: "ada", name: "ada", password: "secret-1" })).token';
  env["PACKAGES_TOKEN"] = String(await exec(signIn));
});

afterAll(async () => {
  await dns?.[Symbol.asyncDispose]();
  await registry?.[Symbol.asyncDispose]();
  await shop?.[Symbol.asyncDispose]();
});

async function exec(code: string): Promise<unknown> {
  const { exitCode, stdout, stderr } = await cli(["exec", "--json", "-e", code], { cwd: folder.path, env });
  if (exitCode !== 0) throw new Error(stderr || stdout);
  return JSON.parse(stdout).value;
}

const publish = `
  function publish(server, name, version, bytes) {
    const file = name + "-" + version + ".tgz";
    return server.publish_package({
      package: name, _id: name, name, "dist-tags": { latest: version },
      versions: { [version]: { name, version, dist: { tarball: "http://packages.example/" + file } } },
      _attachments: { [file]: { content_type: "application/octet-stream", data: bytes.toString("base64"), length: bytes.length } },
    });
  }
  async function statusOf(call) {
    try { await call(); return 200; } catch (error) { return error.data?.status ?? error.message; }
  }
`;

test.skipIf(!hasPowerDns)(
  "one program reads ten thousand rows, uploads a file, publishes a package and changes a zone",
  async () => {
    const value = await exec(`
    import fs from "node:fs/promises";
    ${publish}
    const titles = [];
    for await (const { title } of shop.books.pages({ first: 500, select: "nodes { title }" })) titles.push(title);
    await fs.writeFile("workspace/titles.txt", titles.join("\\n"));
    const [picture] = await shop.addPictures({ cover: "workspace/titles.txt" });
    await publish(packages, "titles", "1.0.0", await fs.readFile("workspace/titles.txt"));
    const published = await packages.get_package({ package: "titles" });
    const at = { server_id: "localhost" };
    const zone = await dns.create_zone({ ...at, body: { name: "shop.example.", kind: "Native", nameservers: ["ns1.shop.example."] } });
    const record = { content: JSON.stringify(String(titles.length)), disabled: false };
    const rrsets = [{ name: "count.shop.example.", type: "TXT", ttl: 60, changetype: "REPLACE", records: [record] }];
    await dns.patch_zone({ ...at, zone_id: zone.id, rrsets });
    const read = await dns.list_zone({ ...at, zone_id: zone.id });
    return {
      titles: titles.length,
      picture: picture.slice(0, 30),
      user: (await packages.who_am_i()).username,
      published: Object.keys(published.versions),
      record: read.rrsets.find(({ type }) => type === "TXT").records[0].content,
    };
  `);
    expect(value).toEqual({
      titles: books,
      picture: "cover: titles.txt Book 0\\nBook ".replace("\\n", "\n"),
      user: "ada",
      published: ["1.0.0"],
      record: `"${books}"`,
    });
  },
);

test("errors of each kind have their status", async () => {
  const value = await exec(`
    ${publish}
    const bytes = Buffer.from("x");
    await publish(packages, "errors", "1.0.0", bytes);
    return [
      await statusOf(() => publish(strangers, "errors", "2.0.0", bytes)),
      await statusOf(() => packages.get_package({ package: "absent" })),
      await statusOf(() => publish(packages, "errors", "1.0.0", bytes)),
    ];
  `);
  expect(value).toEqual([401, 404, 409]);
});

test.skipIf(!hasPowerDns)("errors of a DNS server have its own messages", async () => {
  const value = await exec(`
    const messages = [];
    for (const name of ["without-a-dot", "twice.example.", "twice.example."]) {
      try { await dns.create_zone({ server_id: "localhost", body: { name, kind: "Native", nameservers: [] } }) }
      catch (error) { messages.push(error.message.split("\\n")[0]) }
    }
    return messages;
  `);
  expect(value).toEqual(["422 Unprocessable Entity: DNS Name 'without-a-dot' is not canonical", "409 Conflict"]);
});

test("a limit of requests is an error that says when to call again", async () => {
  const value = await exec(`
    let message = "";
    for (let count = 0; count <= ${signInsAMinute}; count++) {
      try { await strangers.sign_in({ user: "eve", name: "eve", password: "wrong-" + count }) }
      catch (error) { message = error.message }
      if (message.includes("429")) break;
    }
    return message;
  `);
  expect(value).toMatch(/^429 .*\nThe API limits how often it is called: call again in \d+ s\.$/s);
});
