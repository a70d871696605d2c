/** How registries are asked: pages, versions, tokens, redirects, limits, and what a broken one does to the others. */
import { afterEach, describe, expect, test } from "bun:test";
import { RegistryClient } from "../../../src/setup/registries/ask.ts";
import { findInRegistries, searchRegistries } from "../../../src/setup/registries/lookup.ts";
import {
  configuredRegistries,
  namedRegistries,
  official,
  type Registry,
} from "../../../src/setup/registries/registries.ts";
import { type Published, type RegistryOptions, StandInRegistry } from "../../support/mcp-registry.ts";
import { temporaryFolder } from "../../support/temporary.ts";

const open: StandInRegistry[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each[Symbol.dispose]();
});

function registry(options: RegistryOptions): StandInRegistry {
  const made = new StandInRegistry(options);
  open.push(made);
  return made;
}

const of = (url: string, more: Partial<Registry> = {}): Registry => ({ ...namedRegistries([url])[0]!, ...more });
const never = new AbortController().signal;
const client = (url: string, more: Partial<Registry> = {}) => new RegistryClient(of(url, more), never);

const published = (name: string, version = "1.0.0", more: Partial<Published["server"]> = {}): Published => ({
  server: { name, version, description: `About ${name}`, ...more },
});

const names = ({ servers }: { servers: { name: string }[] }) => servers.map(({ name }) => name).sort();

describe("a search", () => {
  test("reads all pages by their cursors, the latest versions only, and leaves out what was deleted", async () => {
    const servers = Array.from({ length: 25 }, (_, at) => published(`com.example/weather-${at}`));
    servers.push(published("com.example/weather-0", "2.0.0"), {
      ...published("com.example/weather-bad"),
      status: "deleted",
    });
    const { url, requests } = registry({ servers, pageSize: 10 });
    const { servers: found, isPartial } = await client(url).search(["weather"]);
    expect([found.length, isPartial, requests.length]).toEqual([25, false, 3]);
    expect(found.find(({ name }) => name === "com.example/weather-0")?.version).toBe("2.0.0");
    expect(requests[1]?.path).toContain("cursor=com.example%2Fweather-");
  });

  test("finds servers that have all words, wherever they stand", async () => {
    const servers = [
      published("com.example/weather", "1.0.0", { description: "Forecasts of any city" }),
      published("com.example/news", "1.0.0", { description: "Weather news" }),
    ];
    const { url } = registry({ servers });
    expect(names(await client(url).search(["Weather", "forecast"]))).toEqual(["com.example/weather"]);
    expect(names(await client(url).search(["weather"]))).toEqual(["com.example/news", "com.example/weather"]);
  });

  test("filters by itself if the registry does not, and stops after ten pages", async () => {
    let page = 0;
    const answer = () => {
      page += 1;
      const servers = [published(`a.b/x${page}`), published(`a.b/weather${page}`)].map(({ server }) => ({ server }));
      return Response.json({ servers, metadata: { nextCursor: `page ${page}` } });
    };
    const { url } = registry({ answer });
    const { servers, isPartial } = await client(url).search(["weather"]);
    expect([servers.length, isPartial, page]).toEqual([10, true, 10]);
  });

  test("ends at a cursor that comes again", async () => {
    const { url, requests } = registry({
      answer: () => Response.json({ servers: [], metadata: { nextCursor: "same" } }),
    });
    expect(await client(url).search(["x"])).toEqual({ servers: [], isPartial: false });
    expect(requests.length).toBe(2);
  });

  test("leaves out entries without a valid name, and shortens long texts", async () => {
    const good = { name: "a.b/x", version: "1", description: `x ${"long ".repeat(10_000)}\u001b[2J` };
    const servers = [null, 5, { server: {} }, { server: { name: "x; rm", version: "1" } }, { server: good }, good];
    const { url } = registry({ answer: () => Response.json({ servers }) });
    const { servers: found } = await client(url).search(["x"]);
    expect(found.length).toBe(1);
    expect(found[0]?.description.length).toBe(300);
  });
});

describe("the API", () => {
  test("has version 0.1, or else version 0", async () => {
    const servers = [published("com.example/x")];
    for (const api of ["v0.1", "v0"]) {
      const { url, requests } = registry({ servers, api });
      expect(names(await client(url).search(["x"]))).toEqual(["com.example/x"]);
      expect(requests.at(-1)?.path).toStartWith(`/${api}/servers?`);
      expect((await client(url).find("com.example/x", undefined))?.version).toBe("1.0.0");
    }
  });

  test("may stand behind a path, and the address may already name its version", async () => {
    const { url } = registry({ servers: [published("com.example/x")], base: "/acme/registry", api: "v0" });
    for (const ending of ["", "/", "/v0", "/v0/servers", "/v0.1"]) {
      expect(names(await client(`${url}${ending}`).search(["x"]))).toEqual(["com.example/x"]);
    }
    expect(of(`${url}/v0`).name).toBe(`${new URL(url).host}/acme/registry`);
  });

  test("gives one version, with names and versions encoded in the path", async () => {
    const servers = [published("com.example/x", "1.0.0+build.1"), published("com.example/x", "2.0.0")];
    const { url, requests } = registry({ servers });
    expect((await client(url).find("com.example/x", undefined))?.version).toBe("2.0.0");
    expect((await client(url).find("com.example/x", "1.0.0+build.1"))?.version).toBe("1.0.0+build.1");
    expect(requests.at(-1)?.path).toBe("/v0.1/servers/com.example%2Fx/versions/1.0.0%2Bbuild.1?include_deleted=true");
    expect(await client(url).find("com.example/x", "3.0.0")).toBeUndefined();
    expect(await client(url).find("com.example/none", undefined)).toBeUndefined();
  });

  test("needs only the list", async () => {
    const servers = [
      published("com.example/x", "1.0.0"),
      published("com.example/x", "2.0.0"),
      published("com.example/x-y"),
    ];
    const { url } = registry({ servers, listOnly: true });
    expect((await client(url).find("com.example/x", undefined))?.version).toBe("2.0.0");
    expect((await client(url).find("com.example/x", "1.0.0"))?.version).toBe("1.0.0");
  });

  test("says that a version was deleted", async () => {
    const { url } = registry({
      servers: [{ ...published("com.example/x"), status: "deleted", statusMessage: "malware" }],
    });
    expect(await client(url).find("com.example/x", undefined)).toMatchObject({
      status: "deleted",
      statusMessage: "malware",
    });
  });

  test("must not answer with another server than the one that was asked for", async () => {
    const other = { server: published("com.evil/x").server };
    const { url } = registry({
      answer: (_, { pathname }) => Response.json(pathname.endsWith("/servers") ? { servers: [other] } : other),
    });
    expect(await client(url).find("com.example/x", undefined)).toBeUndefined();
  });
});

describe("a registry cannot be used", () => {
  const failing = (answer: RegistryOptions["answer"], more: Partial<Registry> = {}) =>
    client(registry({ answer: answer! }).url, more).search(["x"]);

  test.each<[number, object, string, string]>([
    [401, {}, "AUTH_REQUIRED", "it needs a token (401)"],
    [403, { headers: { Authorization: "Bearer s3cr3t-0815" } }, "AUTH_REQUIRED", "it does not accept the token (403)"],
    [429, {}, "SERVER_UNAVAILABLE", "it received too many requests (429); retry after 7 s"],
    [500, {}, "SERVER_UNAVAILABLE", "it failed (500)"],
    [418, {}, "SERVER_UNAVAILABLE", "it refused the request (418)"],
    [404, {}, "SERVER_UNAVAILABLE", "it has no MCP registry at this address (404)"],
  ])("if it answers %i", async (status, more, code, message) => {
    const failure = await failing(
      () => new Response("s3cr3t-0815", { status, headers: { "retry-after": "7" } }),
      more,
    ).catch((error) => error);
    expect([failure.code, failure.message]).toEqual([code, expect.stringContaining(message)]);
    expect(JSON.stringify([failure.message, failure.hint])).not.toContain("s3cr3t-0815");
  });

  test.each<[string, () => Response, string]>([
    ["a web page", () => new Response("<html>"), "its answer is not JSON"],
    ["other JSON", () => Response.json([]), "its answer is not a list of MCP servers"],
    ["too much", () => new Response("x".repeat(5_000_000)), "it sent more than 4 MB in one answer"],
  ])("if it answers with %s", async (_, answer, message) => {
    await expect(failing(answer)).rejects.toThrow(message);
  });

  test("if it does not answer in time, or nothing listens", async () => {
    await expect(failing(() => new Promise<Response>(() => {}), { timeoutMs: 100 })).rejects.toThrow(
      "it did not answer within 100 ms",
    );
    const closed = new StandInRegistry();
    closed[Symbol.dispose]();
    await expect(client(closed.url).search(["x"])).rejects.toThrow(`nothing listens at ${closed.url}`);
  });

  test("if its token is not set, and nothing is sent", async () => {
    const made = registry({});
    await expect(client(made.url, { needs: ["ACME_TOKEN"] }).search(["x"])).rejects.toThrow(
      "it needs ACME_TOKEN in the environment",
    );
    expect(made.requests).toEqual([]);
  });

  test("after Ctrl-C", async () => {
    const { url } = registry({ answer: () => new Promise<Response>(() => {}) });
    const asking = new RegistryClient(of(url), AbortSignal.timeout(50)).search(["x"]);
    expect(await asking.catch(({ code }) => code)).toBe("CANCELLED");
  });
});

describe("a token", () => {
  const headers = { Authorization: "Bearer s3cr3t-0815" };

  test("is sent with every request, also after a redirect within the origin", async () => {
    const made = registry({
      servers: [published("com.example/x")],
      base: "/new",
      answer: (_, { pathname, search }) =>
        pathname.startsWith("/old")
          ? Response.redirect(`${pathname.replace("/old", "/new")}${search}`, 308)
          : undefined,
    });
    const old = of(made.url.replace("/new", "/old"), { headers });
    expect(names(await new RegistryClient(old, never).search(["x"]))).toEqual(["com.example/x"]);
    expect(made.requests.map(({ headers: sent }) => sent.get("authorization"))).toEqual([
      headers.Authorization,
      headers.Authorization,
    ]);
  });

  test("is not sent to another origin: its redirects are not followed", async () => {
    const other = registry({ servers: [published("com.example/x")] });
    const { url } = registry({
      answer: (request) => Response.redirect(request.url.replace(new URL(request.url).host, other.host), 307),
    });
    await expect(client(url, { headers }).search(["x"])).rejects.toThrow(
      `it redirects to ${other.url}, and claudikins does not follow`,
    );
    await expect(client(url).search(["x"])).rejects.toThrow("does not follow");
    expect(other.requests).toEqual([]);
  });

  test("does not end up in a circle", async () => {
    const { url, requests } = registry({ answer: (request) => Response.redirect(request.url, 302) });
    const error = await client(url)
      .search(["x"])
      .catch((thrown) => thrown);
    expect(error.message).toContain("it redirects in a circle");
    expect(requests.length).toBe(4);
  });
});

describe("several registries", () => {
  test("are asked at once; a broken one is named and does not hide the others", async () => {
    const good = registry({ servers: [published("com.example/x"), published("com.example/xyz")] });
    const broken = registry({ answer: () => new Response("", { status: 500 }) });
    const { found, failed } = await searchRegistries([of(broken.url), of(good.url)], ["x"], never);
    expect(found.map(({ server }) => server.name)).toEqual(["com.example/x", "com.example/xyz"]);
    expect(failed.map(({ registry: { name } }) => name)).toEqual([broken.host]);
  });

  test("are taken in their order for an exact name, and one that could not be asked before leaves a doubt", async () => {
    const first = registry({ servers: [published("com.example/x", "1.0.0")] });
    const second = registry({ servers: [published("com.example/x", "9.0.0")] });
    const broken = registry({ answer: () => new Response("", { status: 500 }) });
    const lookup = await findInRegistries(
      [of(first.url), of(broken.url), of(second.url)],
      { name: "com.example/x" },
      never,
    );
    expect([lookup.server?.version, lookup.also.map(({ name }) => name), lookup.unsure]).toEqual([
      "1.0.0",
      [second.host],
      [],
    ]);
    const doubt = await findInRegistries([of(broken.url), of(second.url)], { name: "com.example/x" }, never);
    expect([doubt.server?.version, doubt.unsure.map(({ registry: { name } }) => name)]).toEqual([
      "9.0.0",
      [broken.host],
    ]);
  });
});

describe("registries", () => {
  test("in the person's own config have headers with variables", async () => {
    using folder = temporaryFolder();
    const env = { HOME: folder.path, ACME_TOKEN: "s3cr3t-0815" };
    expect(await configuredRegistries(env)).toBeUndefined();
    const acme = {
      url: "https://mcp.acme.example/registry/v0.1",
      headers: { Authorization: "Bearer ${ACME_TOKEN}", X: "${NONE}" },
      timeoutMs: 5,
    };
    folder.write(
      ".config/claudikins/claudikins.json",
      JSON.stringify({ mcpServers: {}, registries: [acme, "official"] }),
    );
    expect(await configuredRegistries(env)).toEqual([
      {
        name: "mcp.acme.example/registry",
        url: "https://mcp.acme.example/registry",
        api: "v0.1",
        headers: { Authorization: "Bearer s3cr3t-0815", X: "${NONE}" },
        timeoutMs: 5,
        needs: ["NONE"],
      },
      official(),
    ]);
    expect(official().url).toBe("https://registry.modelcontextprotocol.io");
  });

  test("in a flag are addresses, or names of registries in the config with their headers", () => {
    const known = of("https://mcp.acme.example", { headers: { A: "b" } });
    for (const word of ["mcp.acme.example", "https://mcp.acme.example/", "https://mcp.acme.example/v0.1"]) {
      expect(namedRegistries([word], [known])).toEqual([known]);
    }
    expect(namedRegistries(["https://mcp.acme.example.evil.example"], [known])[0]?.headers).toEqual({});
  });

  test.each([
    ["acme", 'expected "official" or an address that starts with https://'],
    ["file:///etc/passwd", 'expected "official" or an address that starts with https://'],
    ["http://mcp.acme.example", "must start with https://"],
    ["https://user:pw@mcp.acme.example", "must not contain a password"],
    ["https://mcp.acme.example/?token=x", "must not contain ? or #"],
  ])("are not %s", (word, message) => {
    expect(() => namedRegistries([word])).toThrow(message);
  });
});
