/**
 * Lets people in who have signed in at the provider of the config, as an OAuth resource server: RFC 6750 and RFC 9728, as the authorization of
 * MCP requires.
 */

import { pagePath } from "../../config/oidc.ts";
import type { LivePeople, LivePerson } from "../../policy/people/live-people.ts";
import { PersonRefused } from "../../policy/people/refused.ts";
import { personOwner } from "../owner.ts";
import { textOf } from "./body.ts";
import type { Caller } from "./clients.ts";
import { HttpRefusal, insufficientScope, invalidToken } from "./refusal.ts";
import { targetOf } from "./target.ts";

const metadataPath = "/.well-known/oauth-protected-resource";

/** The provider sends logout tokens here. */
const signOutPath = `${pagePath}back-channel-logout`;

/** Bytes of a request with a logout token, of which providers send some 1,000. */
const maxSignOutBytes = 65_536;

/** The form of a door's path. The metadata of all such paths are alike, so they do not tell which doors exist. */
const resourcePath = /^\/[a-z0-9-]{1,32}$/;

export class PeopleGate {
  readonly people: LivePeople;

  constructor(people: LivePeople) {
    this.people = people;
  }

  /** The host name of the public address. */
  get hostname(): string | undefined {
    const address = this.people.oidc?.address;
    return address === undefined ? undefined : new URL(address).hostname;
  }

  /** The metadata of the protected resource that the path is about (RFC 9728). Undefined for other paths. */
  metadataAt(request: Request): Response | undefined {
    const { pathname } = targetOf(request);
    const { oidc } = this.people;
    if (!oidc || request.method !== "GET" || !pathname.startsWith(metadataPath)) return undefined;
    const path = pathname.slice(metadataPath.length);
    if (path !== "" && !resourcePath.test(path)) return undefined;
    return Response.json({
      resource: `${this.#originOf(request)}${path}`,
      authorization_servers: [oidc.issuer],
      bearer_methods_supported: ["header"],
      ...(oidc.scopes.length > 0 ? { scopes_supported: oidc.scopes } : {}),
      resource_name: "claudikins",
    });
  }

  /** Answers the provider when it tells us that a person has signed out. Undefined for other paths. Throws an HttpRefusal. */
  async signOutAt(request: Request): Promise<Response | undefined> {
    if (targetOf(request).pathname !== signOutPath) return undefined;
    if (request.method !== "POST") throw new HttpRefusal(405, "Only POST is allowed", { allow: "POST" });
    const form = new URLSearchParams(await textOf(request, maxSignOutBytes));
    const headers = { "cache-control": "no-store" };
    try {
      await this.people.signOut(form.get("logout_token") ?? "");
      return new Response(null, { headers });
    } catch (error) {
      if (!(error instanceof PersonRefused)) throw error;
      if (error.kind === "unavailable") throw refusalOf(error, "");
      return Response.json({ error: "invalid_request", error_description: error.message }, { status: 400, headers });
    }
  }

  /** What a client needs to know to get a token. */
  challengeFor(request: Request): string {
    const { pathname } = targetOf(request);
    const scopes = this.people.oidc?.scopes ?? [];
    const at = `${this.#originOf(request)}${metadataPath}${resourcePath.test(pathname) ? pathname : ""}`;
    return `, resource_metadata="${at}"${scopes.length > 0 ? `, scope="${scopes.join(" ")}"` : ""}`;
  }

  /** The person of an access token. Throws an HttpRefusal with status 401, 403 or 503. */
  async callerOf(token: string, request: Request, address: string): Promise<Caller> {
    const challenge = this.challengeFor(request);
    const { people } = this;
    try {
      const person = await people.use(token, `${this.#originOf(request)}${targetOf(request).pathname}`);
      const { ended, revoked } = person;
      return {
        owner: personOwner(person.id),
        person,
        mayApprove: () => mayApprove(person, people),
        ended,
        revoked,
        address,
      };
    } catch (error) {
      if (error instanceof PersonRefused) throw refusalOf(error, challenge);
      throw error;
    }
  }

  #originOf(request: Request): string {
    return this.people.oidc?.address ?? `http://${request.headers.get("host")}`;
  }
}

/** Asked with each use. The answer is never kept. */
async function mayApprove({ claims }: LivePerson, people: LivePeople): Promise<boolean> {
  try {
    return (await people.rightsOf(claims)).mayApprove;
  } catch (error) {
    if (error instanceof PersonRefused) return false;
    throw error;
  }
}

function refusalOf({ kind, message }: PersonRefused, challenge: string): HttpRefusal {
  switch (kind) {
    case "invalid":
      return invalidToken(message, challenge);
    case "scope":
      return insufficientScope(message, challenge);
    case "revoked":
      return new HttpRefusal(403, message);
    default:
      return new HttpRefusal(503, message, { "retry-after": "5" });
  }
}
