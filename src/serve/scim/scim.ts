/**
 * SCIM 2.0 (RFC 7644) for `serve --http`: a company's directory says who its people are, so that nobody who has left gets in, and which groups
 * they have.
 */
import { messageOf } from "../../base/errors.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import type { Log } from "../../base/log.ts";
import { isSameSecret } from "../../base/same-secret.ts";
import type { Oidc } from "../../config/oidc.ts";
import type { DirectoryEntry, DirectoryFilter, DirectoryKind, DirectoryRows } from "../../store/directory.ts";
import { textOf } from "../http/body.ts";
import { HttpRefusal } from "../http/refusal.ts";
import { targetOf } from "../http/target.ts";
import { listAnswer, ScimRefusal, scimAnswer } from "./answers.ts";
import { discovered, maxScimPage } from "./discovery.ts";
import { patched } from "./patch.ts";
import { attributesIn, type Resource, resourceOf, shownResource } from "./resources.ts";

/** The path of the service. A door's path has one part only. */
const scimPath = "/scim/v2";

/** Bytes of one request. A group with 20,000 members has some 1,000,000. */
const maxScimBytes = 2_000_000;

const kinds: ReadonlyMap<string, DirectoryKind> = new Map([
  ["Users", "User"],
  ["Groups", "Group"],
]);

export interface ScimOptions {
  /** The settings as they are now. */
  oidc: () => Oidc | undefined;
  /** The config file. */
  config: string;
  rows: DirectoryRows;
  log: Log;
  /** Reads the secrets in a part of the settings. Throws NEEDS_SECRET. */
  withValues<T>(part: T): Promise<T>;
  /** Takes the access of a person away, or gives it back. Does nothing for a person who was never here. */
  setAccess(person: string, what: "revoked" | "restored"): Promise<void>;
}

interface Asked {
  request: Request;
  kind: DirectoryKind;
  query: URLSearchParams;
  /** The address of the service. */
  base: string;
}

export class Scim {
  readonly #options: ScimOptions;

  constructor(options: ScimOptions) {
    this.#options = options;
  }

  /** Undefined for requests to other paths, and if the config has no directory. Throws what the store throws. */
  async answer(request: Request): Promise<Response | undefined> {
    const { pathname, search } = targetOf(request);
    const oidc = this.#options.oidc();
    if (!oidc?.scim || !pathname.startsWith(`${scimPath}/`)) return undefined;
    try {
      await this.#checkToken(request, oidc.scim.token);
      const base = `${oidc.address ?? `http://${request.headers.get("host")}`}${scimPath}`;
      return await this.#answerAt(request, pathname.slice(scimPath.length + 1), new URLSearchParams(search), base);
    } catch (error) {
      if (error instanceof ScimRefusal) return error.response();
      if (error instanceof HttpRefusal) return new ScimRefusal(error.status, error.message).response();
      throw error;
    }
  }

  async #checkToken(request: Request, written: string): Promise<void> {
    const [, given = ""] = /^Bearer +(\S+) *$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    const { token } = await this.#options.withValues({ token: written });
    if (token !== "" && isSameSecret(given, token)) return;
    throw new ScimRefusal(401, "The token is missing or wrong", undefined, {
      "www-authenticate": 'Bearer realm="scim"',
    });
  }

  #answerAt(request: Request, path: string, query: URLSearchParams, base: string): Promise<Response> | Response {
    const [what = "", id, ...more] = path.split("/").map(decoded);
    const kind = kinds.get(what);
    if (!kind) {
      const known =
        request.method === "GET" ? discovered([what, ...(id === undefined ? [] : [id]), ...more], base) : undefined;
      if (known) return known;
      throw new ScimRefusal(["Bulk", "Me", ".search"].includes(what) ? 501 : 404, `"${what}" is not supported here`);
    }
    if (more.length > 0) throw new ScimRefusal(404, "There is nothing at this path");
    const asked = { request, kind, query, base };
    return id === undefined || id === "" ? this.#all(asked) : this.#one(asked, id);
  }

  async #all(asked: Asked): Promise<Response> {
    const { request, kind, query, base } = asked;
    const { config, rows } = this.#options;
    if (request.method === "GET") {
      const from = Math.max(numberIn(query, "startIndex") ?? 1, 1) - 1;
      const count = Math.min(Math.max(numberIn(query, "count") ?? 100, 0), maxScimPage);
      const withMembers = showsMembers(query);
      const page = { filter: filterIn(query.get("filter"), kind), from, count, withMembers };
      const { total, entries } = await rows.list(config, kind, page);
      return listAnswer(
        entries.map((entry) => shownResource(kind, entry, base, withMembers)),
        total,
        from,
      );
    }
    if (request.method !== "POST") throw notAllowed("GET, POST");
    const added = await rows.add(config, kind, attributesIn(kind, await bodyOf(request)), crypto.randomUUID());
    if (!added) throw taken(kind);
    this.#log(kind, added, "added");
    const back = kind === "User" && added.isActive ? await rows.comeBack(config, added) : undefined;
    if (back !== undefined) await this.#options.setAccess(back, "restored");
    return shown(asked, added, 201);
  }

  async #one(asked: Asked, id: string): Promise<Response> {
    const { request, kind, query, base } = asked;
    const { config, rows } = this.#options;
    switch (request.method) {
      case "GET": {
        const entry = await rows.get(config, kind, id);
        if (!entry) throw missing(kind, id);
        return scimAnswer(shownResource(kind, entry, base, showsMembers(query)));
      }
      case "PUT": {
        const attributes = attributesIn(kind, await bodyOf(request));
        return shown(asked, await this.#change(asked, id, () => attributes));
      }
      case "PATCH": {
        const body = await bodyOf(request);
        const change = (entry: DirectoryEntry) => attributesIn(kind, patched(kind, resourceOf(kind, entry), body));
        const entry = await this.#change(asked, id, change);
        // A group may have thousands of members.
        return kind === "Group" ? new Response(null, { status: 204 }) : shown(asked, entry);
      }
      case "DELETE": {
        const entry = await rows.remove(config, kind, id);
        if (!entry) throw missing(kind, id);
        this.#log(kind, entry, "removed");
        if (entry.person !== null) await this.#options.setAccess(entry.person, "revoked");
        return new Response(null, { status: 204 });
      }
      default:
        throw notAllowed("GET, PUT, PATCH, DELETE");
    }
  }

  async #change({ kind }: Asked, id: string, change: Parameters<DirectoryRows["change"]>[3]): Promise<DirectoryEntry> {
    const { config, rows, setAccess } = this.#options;
    const changed = await rows.change(config, kind, id, change);
    if (changed === "missing") throw missing(kind, id);
    if (changed === "taken") throw taken(kind);
    const { before, after } = changed;
    if (before.isActive !== after.isActive) this.#log(kind, after, after.isActive ? "activated" : "deactivated");
    if (before.isActive !== after.isActive && after.person !== null)
      await setAccess(after.person, after.isActive ? "restored" : "revoked");
    return after;
  }

  #log(kind: DirectoryKind, { id }: DirectoryEntry, what: string): void {
    this.#options.log.info(`the directory has ${what} the ${kind.toLowerCase()} ${id}`);
  }
}

function shown({ kind, base, query }: Asked, entry: DirectoryEntry, status = 200): Response {
  const headers = { location: `${base}/${kind}s/${entry.id}` };
  return scimAnswer(shownResource(kind, entry, base, showsMembers(query)), { status, headers });
}

function showsMembers(query: URLSearchParams): boolean {
  const namesIn = (key: string) =>
    query
      .get(key)
      ?.toLowerCase()
      .split(",")
      .map((name) => name.trim());
  if (namesIn("excludedAttributes")?.includes("members")) return false;
  return namesIn("attributes")?.includes("members") ?? true;
}

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^-?\d{1,9}$/.test(text)) throw new ScimRefusal(400, `${name} must be a number`, "invalidValue");
  return Number(text);
}

/** Directories look for one entry by its name or id. Other filters would read everything. */
const filterForm = /^\s*(?:urn:[\w:.-]+:)?(id|userName|displayName|externalId)\s+eq\s+("(?:[^"\\]|\\.)*")\s*$/i;

function filterIn(text: string | null, kind: DirectoryKind): DirectoryFilter {
  if (text === null || text === "") return {};
  const nameOf = { User: "username", Group: "displayname" } as const;
  const [, attribute = "", quoted = ""] = filterForm.exec(text) ?? [];
  const value = parsedJson(quoted);
  const by = attribute.toLowerCase();
  if (typeof value === "string" && by === "id") return { id: value };
  if (typeof value === "string" && by === "externalid") return { externalId: value };
  if (typeof value === "string" && by === nameOf[kind]) return { name: value };
  const usable = `id, externalId or ${kind === "User" ? "userName" : "displayName"}`;
  throw new ScimRefusal(400, `A filter can only be: ${usable}, eq, and a text in quotes`, "invalidFilter");
}

async function bodyOf(request: Request): Promise<Resource> {
  const body = parsedJson(await textOf(request, maxScimBytes));
  if (!isObject(body)) throw new ScimRefusal(400, "The body is not a JSON object", "invalidSyntax");
  return body;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    throw new ScimRefusal(404, `The path is wrong: ${messageOf(error)}`);
  }
}

function missing(kind: DirectoryKind, id: string): ScimRefusal {
  return new ScimRefusal(404, `There is no ${kind.toLowerCase()} "${id.slice(0, 100)}"`);
}

function taken(kind: DirectoryKind): ScimRefusal {
  const attribute = kind === "User" ? "userName" : "displayName";
  return new ScimRefusal(409, `Another ${kind.toLowerCase()} has this ${attribute}`, "uniqueness");
}

function notAllowed(methods: string): ScimRefusal {
  return new ScimRefusal(405, `Only ${methods} are allowed`, undefined, { allow: methods });
}
