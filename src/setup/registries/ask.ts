/**
 * Requests servers from a registry with the API of the official one: lists of servers in pages, and single versions. Answers are bounded.
 * Data that was sent to one host is never sent to another.
 */

import { boundedText } from "../../base/bounded-body.ts";
import { waitText } from "../../base/duration.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { megabyte, megabytes } from "../../base/units.ts";
import { version as ownVersion } from "../../base/version.ts";
import { noAnswer } from "../../servers/failures/network-failure.ts";
import { retryAfterOf } from "../../servers/network/http-response.ts";
import { type PublishedServer, type PublishedSummary, publishedServer, summaryOf } from "./published.ts";
import { type Registry, titleOf } from "./registries.ts";

/** The stable API, and the one before it. */
const apis = ["v0.1", "v0"];

/** Size of one answer. A hundred servers with long descriptions take a tenth of it. */
const maxRegistryBytes = 4 * megabyte;

/** Servers of one page. */
const registryPageSize = 100;

/** Pages of one answer. */
const maxRegistryPages = 10;

/** Redirects of one request, within the registry. */
const maxRegistryRedirects = 3;

/** Characters of the cursor of a page. */
const maxCursorChars = 2_048;

/** Words of a search. Further words only narrow the answers down. */
const maxAskedWords = 4;

export interface Page {
  servers: PublishedSummary[];
  /** The registry has more servers than were read. */
  isPartial: boolean;
}

/** One registry, for one command. Throws AUTH_REQUIRED, SERVER_UNAVAILABLE, PROTOCOL_ERROR, NEEDS_VARIABLE and CANCELLED. */
export class RegistryClient {
  readonly #registry: Registry;
  readonly #interrupted: AbortSignal;
  readonly #limit: AbortSignal;
  /** The version of the API that the registry has answered in. */
  #api: string | undefined;

  constructor(registry: Registry, interrupted: AbortSignal) {
    this.#registry = registry;
    this.#interrupted = interrupted;
    this.#limit = AbortSignal.timeout(registry.timeoutMs);
  }

  /** The latest versions of the servers that have all words in their name, title or description. */
  async search(words: readonly string[]): Promise<Page> {
    const lower = words.map((word) => word.toLowerCase());
    const found = new Map<string, PublishedSummary>();
    const take = (items: unknown[]) => {
      for (const item of items) {
        const server = summaryOf(item);
        if (!server || server.status === "deleted" || server.isLatest === false || found.has(server.name)) continue;
        const text = `${server.name} ${server.title ?? ""} ${server.description}`.toLowerCase();
        if (lower.every((word) => text.includes(word))) found.set(server.name, server);
      }
      return true;
    };
    // Many registries search only the names, and only one of the words may be in the name.
    const asked = [...new Set(lower)].slice(0, maxAskedWords);
    const partial = await Promise.all(asked.map((word) => this.#pages({ search: word, version: "latest" }, take)));
    return { servers: [...found.values()], isPartial: partial.includes(true) };
  }

  /** One version, or the latest. Returns undefined if the registry does not have it. Throws SERVER_NOT_FOUND for a broken description. */
  async find(name: string, version: string | undefined): Promise<PublishedServer | undefined> {
    const item = (await this.#versionOf(name, version)) ?? (await this.#fromList(name, version));
    if (item === undefined) return undefined;
    const { server, problem } = publishedServer(item);
    if (server) return server;
    throw new ClaudikinsError(
      "PROTOCOL_ERROR",
      `${this.#title} describes ${name} in a form that cannot be read: ${problem}`,
      {
        hint: "Tell the publisher of the server, or add it yourself: claudikins add --help",
      },
    );
  }

  async #versionOf(name: string, version: string | undefined): Promise<unknown> {
    for (const api of this.#candidates()) {
      const path = `/${api}/servers/${encodeURIComponent(name)}/versions/${encodeURIComponent(version ?? "latest")}`;
      const answer = await this.#get(path, { include_deleted: "true" });
      const found = summaryOf(answer);
      // A registry must not answer with another server, or with another version.
      if (found?.name === name && (version === undefined || found.version === version)) return answer;
    }
    return undefined;
  }

  /** Finds a server in a registry that supports only lists. */
  async #fromList(name: string, version: string | undefined): Promise<unknown> {
    const found: { item: unknown; server: PublishedSummary }[] = [];
    const filter = { search: name, version: version ?? "latest", include_deleted: "true" };
    await this.#pages(filter, (items) => {
      for (const item of items) {
        const server = summaryOf(item);
        if (server?.name === name && (version === undefined || server.version === version))
          found.push({ item, server });
      }
      return version === undefined || found.length === 0;
    });
    const newest = found.toSorted((one, other) => newer(one.server, other.server));
    return newest[0]?.item;
  }

  /** Reads pages until there are no more, or `take` returns false. Returns whether pages are left. */
  async #pages(filter: Record<string, string>, take: (items: unknown[]) => boolean): Promise<boolean> {
    let cursor = "";
    const seen = new Set<string>();
    for (let page = 0; page < maxRegistryPages; page++) {
      const answer = await this.#list({
        ...filter,
        limit: String(registryPageSize),
        ...(cursor === "" ? {} : { cursor }),
      });
      if (!take(answer.items)) return false;
      if (answer.cursor === "" || seen.has(answer.cursor)) return false;
      cursor = answer.cursor;
      seen.add(cursor);
    }
    return true;
  }

  async #list(query: Record<string, string>): Promise<{ items: unknown[]; cursor: string }> {
    for (const api of this.#candidates()) {
      const answer = await this.#get(`/${api}/servers`, query);
      if (answer === undefined) continue;
      if (!isObject(answer) || !Array.isArray(answer["servers"])) {
        throw this.#failure("its answer is not a list of MCP servers", "PROTOCOL_ERROR", addressHint);
      }
      this.#api = api;
      const meta = isObject(answer["metadata"]) ? answer["metadata"] : {};
      const next = meta["nextCursor"] ?? meta["next_cursor"];
      const cursor = typeof next === "string" && next.length <= maxCursorChars ? next : "";
      return { items: answer["servers"].slice(0, 10 * registryPageSize), cursor };
    }
    throw this.#failure("it has no MCP registry at this address (404)", "SERVER_UNAVAILABLE", addressHint);
  }

  #candidates(): string[] {
    if (this.#api !== undefined) return [this.#api];
    const { api } = this.#registry;
    return api === undefined ? apis : [api, ...apis.filter((each) => each !== api)];
  }

  /** The JSON of an answer; undefined if there is nothing at this path. */
  async #get(path: string, query: Record<string, string>): Promise<unknown> {
    const { url, headers, needs } = this.#registry;
    if (needs.length > 0) {
      throw this.#failure(
        `it needs ${needs.join(", ")} in the environment`,
        "NEEDS_VARIABLE",
        `Set ${needs.join(", ")}.`,
      );
    }
    let to = new URL(`${url}${path}?${new URLSearchParams(query)}`);
    const both = AbortSignal.any([this.#limit, this.#interrupted]);
    try {
      for (let redirects = 0; ; redirects++) {
        const response = await fetch(to, {
          headers: { accept: "application/json", "user-agent": `claudikins/${ownVersion}`, ...headers },
          redirect: "manual",
          signal: both,
        });
        const next = response.status >= 300 && response.status < 400 ? response.headers.get("location") : null;
        if (next === null) return await this.#read(response);
        await response.body?.cancel();
        to = this.#redirected(next, to, redirects);
      }
    } catch (error) {
      if (this.#interrupted.aborted) throw new ClaudikinsError("CANCELLED", "The command was interrupted");
      if (error instanceof ClaudikinsError) throw error;
      if (this.#limit.aborted) {
        throw this.#failure(`it did not answer within ${waitText(this.#registry.timeoutMs)}`);
      }
      throw this.#failure(noAnswer(error, to).message);
    }
  }

  /** Redirects are followed only within the origin. Another origin must not receive the headers or decide what is installed. */
  #redirected(location: string, from: URL, redirects: number): URL {
    const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
    if (to?.origin === from.origin && redirects < maxRegistryRedirects) return to;
    const where = to && to.origin !== from.origin ? `to ${to.origin}, and claudikins does not follow` : "in a circle";
    throw this.#failure(`it redirects ${where}`, "SERVER_UNAVAILABLE", "Use the final address of the registry.");
  }

  async #read(response: Response): Promise<unknown> {
    const { status } = response;
    if (status === 404) {
      await response.body?.cancel();
      return undefined;
    }
    if (!response.ok) {
      await response.body?.cancel();
      throw this.#refusal(status, retryAfterOf(response));
    }
    const text = await boundedText(response, maxRegistryBytes, () =>
      this.#failure(`it sent more than ${megabytes(maxRegistryBytes)} in one answer`, "PROTOCOL_ERROR"),
    );
    const answer = parsedJson(text);
    if (answer === undefined) throw this.#failure("its answer is not JSON", "PROTOCOL_ERROR", addressHint);
    return answer;
  }

  #refusal(status: number, retryAfterMs: number | undefined): ClaudikinsError {
    if (status === 401 || status === 403) {
      const hasToken = Object.keys(this.#registry.headers).length > 0;
      const what = hasToken ? "it does not accept the token" : "it needs a token";
      const hint =
        'In your own claudikins.json: "registries": [{ "url": "…", "headers": { "Authorization": "Bearer ${TOKEN}" } }]';
      return this.#failure(`${what} (${status})`, "AUTH_REQUIRED", hint);
    }
    if (status === 429) {
      const when = retryAfterMs === undefined ? "" : `; retry after ${waitText(retryAfterMs)}`;
      return this.#failure(`it received too many requests (429)${when}`);
    }
    return this.#failure(status >= 500 ? `it failed (${status})` : `it refused the request (${status})`);
  }

  /** The registry's title at the beginning of a sentence. */
  get #title(): string {
    return titleOf(this.#registry).replace("the", "The");
  }

  #failure(
    what: string,
    code: ConstructorParameters<typeof ClaudikinsError>[0] = "SERVER_UNAVAILABLE",
    hint = "Try again later, or name another registry: --registry URL",
  ): ClaudikinsError {
    return new ClaudikinsError(code, `${this.#title} cannot be used: ${what}`, { hint });
  }
}

const addressHint = "Check the address: it is the part before /v0.1/servers.";

/** Puts the latest version first, and a later one before an earlier one. */
function newer(one: PublishedSummary, other: PublishedSummary): number {
  const latest = Number(other.isLatest ?? false) - Number(one.isLatest ?? false);
  if (latest !== 0) return latest;
  const days = (other.publishedOn ?? "").localeCompare(one.publishedOn ?? "");
  return days !== 0 ? days : other.version.localeCompare(one.version, "en", { numeric: true });
}
