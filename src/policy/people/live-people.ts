/**
 * The people of a running `serve --http`, by their access tokens. All work of a person listens to two signals: `ended` is aborted when the
 * last token has expired, and `revoked` when an administrator has revoked the person. rights.ts decides what a token allows.
 */

import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { dayMs, minuteMs } from "../../base/units.ts";
import type { SubjectToken } from "../../config/credentials.ts";
import { type Oidc, type Person, type ScimEntry, wholeConfig } from "../../config/oidc.ts";
import type { DirectoryUser } from "../../store/directory.ts";
import { type NewestGroups, newestGroups, type SignOut, type Standing } from "../../store/people.ts";
import type { Store } from "../../store/store.ts";
import { accessClaims, looksLikeJwt, type PersonClaims } from "./claims.ts";
import { IdTokens, type SignIn } from "./id-tokens.ts";
import { Introspection } from "./introspection.ts";
import { Provider } from "./provider.ts";
import { PersonRefused } from "./refused.ts";
import { Rights } from "./rights.ts";
import { isEndedBy, signOutIn } from "./sign-outs.ts";

/** Time between two checks for expired and revoked people. Their work must end within a second. */
const peopleLookMs = 250;

/** How far back each check for people who have signed out looks, because another process may need time to write it. */
const signOutLookMs = minuteMs;

/** Tokens of one person that are remembered. A person has few clients, and each has one valid token. */
const maxLiveTokens = 50;

/** Time for which the groups in the newest token of a person are kept. Older tokens have expired long before. */
const newestGroupsKeptMs = 90 * dayMs;

/** Time for which a sign-out is kept. Tokens that were issued before have expired by then. */
const signOutsKeptMs = 90 * dayMs;

/** Time between two writes of a person's last activity. */
const personSeenGapMs = minuteMs;

/** A person, by the token of one request. */
export interface LivePerson extends Person {
  /** The claims of this token. */
  readonly claims: PersonClaims;
  /** Aborted when the last token of the person has expired, or the person was revoked. */
  readonly ended: AbortSignal;
  /** Aborted when the person was revoked. */
  readonly revoked: AbortSignal;
}

class Live {
  readonly id: string;
  /** The access token that was issued last, for servers that get it in exchange. It is never stored. */
  accessToken: string | undefined;
  /** When the token was issued, in milliseconds since 1970. */
  issuedAt = 0;
  expiresAt = 0;
  #tokens: PersonClaims[] = [];
  readonly ending = new AbortController();
  readonly revoking = new AbortController();

  readonly subject: string;

  constructor({ id, subject }: PersonClaims) {
    this.id = id;
    this.subject = subject;
  }

  renew(claims: PersonClaims, accessToken: string | undefined): void {
    const { issuedAt = 0, expiresAt } = claims;
    const isOther = (each: PersonClaims) => !Bun.deepEquals(each, claims);
    this.#tokens = [...this.#tokens.filter(isOther), claims].slice(-maxLiveTokens);
    if (issuedAt >= this.issuedAt) this.accessToken = accessToken ?? this.accessToken;
    this.issuedAt = Math.max(this.issuedAt, issuedAt);
    this.expiresAt = Math.max(this.expiresAt, expiresAt);
  }

  /** Forgets the tokens that ended with a sign-out. Without others, the person is no longer here. */
  signOut(signOut: SignOut): void {
    const left = this.#tokens.filter((token) => !isEndedBy(token, signOut));
    if (left.length === this.#tokens.length) return;
    this.#tokens = left;
    this.accessToken = undefined;
    this.expiresAt = Math.max(0, ...left.map(({ expiresAt }) => expiresAt));
  }

  /** The groups that all tokens valid at this time have, because work for the person is done for all of these tokens. */
  groupsAt(now: number): string[] {
    this.#tokens = this.#tokens.filter(({ expiresAt }) => expiresAt > now);
    const [first, ...others] = this.#tokens.filter(({ isSilent }) => !isSilent);
    return first?.groups.filter((group) => others.every(({ groups }) => groups.includes(group))) ?? [];
  }
}

export interface LivePeopleOptions {
  /** The settings as they are now. Undefined if the config no longer has any. */
  oidc: () => Oidc | undefined;
  /** The config file. */
  config: string;
  store: Store;
  log: Log;
  /** Reads the secrets in a part of the settings. Throws NEEDS_SECRET. */
  withValues<T>(part: T): Promise<T>;
  /** Removes everything that revoked people have left: stored programs, in whichever process they run, and credentials for servers. */
  endPeople: (ids: readonly string[]) => Promise<void>;
}

export class LivePeople implements AsyncDisposable {
  readonly #options: LivePeopleOptions;
  readonly #people = new Map<string, Live>();
  readonly #idTokens = new IdTokens();
  readonly #introspection = new Introspection();
  readonly #working = new Set<Promise<unknown>>();
  /** When the last activity of each person was last written. */
  readonly #notedAt = new Map<string, number>();
  #provider: Provider | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LivePeopleOptions) {
    this.#options = options;
  }

  /** The settings as they are now. Undefined if nobody can sign in any more. */
  get oidc(): Oidc | undefined {
    return this.#options.oidc();
  }

  /** The provider of an issuer, with its metadata and keys. */
  provider({ issuer }: Pick<Oidc, "issuer">): Provider {
    if (this.#provider?.issuer !== issuer) this.#provider = new Provider(issuer);
    return this.#provider;
  }

  /** The person of an access token. `resource` is the address that the request was sent to. Throws PersonRefused. */
  async use(token: string, resource: string): Promise<LivePerson> {
    const { oidc } = this;
    if (!oidc) throw new PersonRefused("invalid", "The config no longer says how people sign in");
    const audience = oidc.address === undefined ? oidc.audience : [...oidc.audience, resource];
    return this.enter(await this.#claimsOf(token, oidc, audience), token);
  }

  async #claimsOf(token: string, oidc: Oidc, audience: string[]): Promise<PersonClaims> {
    const { introspection } = oidc;
    const provider = this.provider(oidc);
    if (looksLikeJwt(token)) return accessClaims(token, provider, oidc, audience);
    if (!introspection) {
      throw new PersonRefused("invalid", "The token is wrong. An access token of the sign-in provider must be a JWT");
    }
    const client = () => this.#options.withValues(introspection);
    return this.#introspection.claims(token, { provider, oidc, client }, audience);
  }

  /** The newest token of the person. Undefined for an access token while the person is not here, and for an ID token after the sign-in to the page. */
  tokenOf(id: string, subject: SubjectToken): string | undefined {
    return subject === "id-token" ? this.#idTokens.of(id) : this.#people.get(id)?.accessToken;
  }

  /** The identity of a person for the programs of entries. Undefined while the person is not here. */
  identityOf(id: string): { subject: string; groups: string[] } | undefined {
    const live = this.#people.get(id);
    return live && { subject: live.subject, groups: live.groupsAt(Date.now()) };
  }

  /** Keeps the ID token of a sign-in to the page until that ends or the person is revoked. */
  keepIdToken(signIn: SignIn): void {
    this.#idTokens.keep(signIn);
    this.#watch();
  }

  /** Forgets the ID token of a person who signs out of the page. */
  endIdToken(signIn: SignIn): void {
    this.#idTokens.end(signIn);
  }

  /** Adds the person of verified claims to the people who are here. Throws PersonRefused if the person was revoked. */
  async enter(claims: PersonClaims, accessToken?: string): Promise<LivePerson> {
    const counted = await this.know(claims);
    const person = this.#people.get(claims.id) ?? new Live(claims);
    person.renew(counted, accessToken);
    this.#people.set(claims.id, person);
    this.#watch();
    const { id, name } = claims;
    return { id, name, claims, ended: person.ending.signal, revoked: person.revoking.signal };
  }

  /**
   * Ends the tokens of a person who has signed out at the provider, in every process. `token` is the provider's logout token. Throws
   * PersonRefused.
   */
  async signOut(token: string): Promise<void> {
    const { oidc } = this;
    if (!oidc) throw new PersonRefused("invalid", "The config no longer says how people sign in");
    const { id, ...signOut } = await signOutIn(token, this.provider(oidc), oidc);
    const { store, config, log } = this.#options;
    const now = Date.now();
    await store.people.signOut({ config, id }, signOut, { now, before: now - signOutsKeptMs });
    log.info(`person ${id} has signed out at the provider`);
    this.#people.get(id)?.signOut(signOut);
    await this.#look();
  }

  /** Makes the claims of a verified token known to every process. Returns them with the groups that count. Throws PersonRefused. */
  async know(claims: PersonClaims): Promise<PersonClaims> {
    const { claims: counted, newest } = await this.#counted(claims);
    const { id, groups, isSilent, issuedAt } = claims;
    // The directory says the groups of all tokens.
    if (this.oidc?.scim?.groups || isSilent || issuedAt === undefined) return counted;
    if (!newestGroups(newest, { issuedAt, groups })) return counted;
    const { store, config } = this.#options;
    await store.people.keepNewest({ config, id }, { issuedAt, groups }, Date.now() - newestGroupsKeptMs);
    return counted;
  }

  /** What a token allows at this moment. Throws PersonRefused if the person was revoked. */
  async rightsOf(claims: PersonClaims): Promise<Rights> {
    const counted = await this.#counted(claims);
    return new Rights(counted.claims, counted.newest, this.oidc);
  }

  /** Whether a token opens a door at this moment. Throws PersonRefused if the person was revoked. */
  async mayUse(claims: PersonClaims, door: string | undefined): Promise<boolean> {
    return (await this.rightsOf(claims)).mayUse(door);
  }

  /** Throws PersonRefused if the person was revoked, and if `person` is the claims of a token, also if it no longer counts. */
  async refuseRevoked(person: Person | PersonClaims): Promise<void> {
    if ("expiresAt" in person) await this.#counted(person);
    else await this.#standingOf(person);
  }

  /** The claims with the groups that count, and what the newest known token says. Throws PersonRefused. */
  async #counted(claims: PersonClaims): Promise<{ claims: PersonClaims; newest: NewestGroups | undefined }> {
    const { newest, signOuts } = await this.#standingOf(claims);
    if (signOuts.some((each) => isEndedBy(claims, each)))
      throw new PersonRefused("invalid", "The person has signed out since the token was issued");
    const { scim } = this.oidc ?? {};
    if (!scim) return { claims, newest };
    const { groups } = await this.#userOf(claims, scim);
    // The directory is asked now, so no token is newer.
    return scim.groups
      ? { claims: { ...claims, groups }, newest: { issuedAt: claims.issuedAt ?? 0, groups } }
      : { claims, newest };
  }

  /** The user of the directory that a token is for. Throws PersonRefused if there is none, or it is not active. */
  async #userOf({ id, name, directoryValue }: PersonClaims, { attribute }: ScimEntry): Promise<DirectoryUser> {
    const { store, config } = this.#options;
    const { directory } = store;
    const user = directoryValue === undefined ? undefined : await directory.user(config, attribute, directoryValue);
    if (!user?.isActive)
      throw new PersonRefused("revoked", `The directory of your company does not have ${name} as an active user`);
    if (user.person !== id) await directory.known(config, user.id, id);
    return user;
  }

  /** Throws PersonRefused if the person was revoked. */
  async #standingOf({ id, name }: Person): Promise<Standing> {
    const { store, config } = this.#options;
    const standing = await store.people.standing({ config, id });
    if (standing.isRevoked) throw new PersonRefused("revoked", `An administrator has revoked the access of ${name}`);
    return standing;
  }

  /** Writes that the person has used a door. Never throws. */
  note({ claims }: LivePerson, door: string | undefined): void {
    this.noteClaims(claims, door ?? wholeConfig);
  }

  /** Writes what the person has used: with the first use, and then at most once a minute. Never throws. */
  noteClaims(claims: PersonClaims, used: string): void {
    const { id, issuer, subject, name, email = null } = claims;
    const key = `${id} ${used}`;
    const now = Date.now();
    if (now - (this.#notedAt.get(key) ?? 0) < personSeenGapMs) return;
    this.#notedAt.set(key, now);
    const { config, store, log } = this.#options;
    const row = { config, id, issuer, subject, name, email, doors: [used], firstAt: now, lastAt: now, revokedAt: null };
    const writing = store.people
      .seen(row)
      .catch((error) => log.warn(`Cannot write who has signed in: ${messageOf(error)}`));
    this.#pending(writing);
  }

  #watch(): void {
    this.#timer ??= setInterval(() => void this.#look(), peopleLookMs).unref();
  }

  async #look(): Promise<void> {
    const now = Date.now();
    const skewMs = (this.oidc?.clockSkewSeconds ?? 0) * 1_000;
    const revoked = await this.#revoked().catch(() => new Set<string>());
    const gone = [...this.#people.values()].filter(({ id }) => revoked.has(id));
    for (const person of gone) this.#end(person, true);
    const signOuts = await this.#signOutsSince(now - signOutLookMs);
    for (const { id, ...signOut } of signOuts) this.#people.get(id)?.signOut(signOut);
    for (const signOut of signOuts) this.#idTokens.signOut(signOut);
    for (const person of this.#people.values()) if (person.expiresAt + skewMs <= now) this.#end(person, false);
    if (gone.length > 0) this.#endAll(gone.map(({ id }) => id));
    const { shared } = this.#idTokens;
    const ended = shared.length > 0 ? this.#options.store.replicas?.values.missing(shared) : undefined;
    this.#idTokens.forget(revoked, (await ended?.catch(() => [])) ?? []);
    if (this.#people.size + this.#idTokens.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #end(person: Live, isRevoked: boolean): void {
    this.#people.delete(person.id);
    // The row of a revoked person may be deleted. It is written again when the person comes back.
    if (isRevoked)
      for (const key of this.#notedAt.keys()) if (key.startsWith(`${person.id} `)) this.#notedAt.delete(key);
    if (isRevoked) person.revoking.abort();
    person.ending.abort();
    this.#options.log.info(`${isRevoked ? "was revoked" : "no token is valid any more"}: person ${person.id}`);
  }

  #endAll(ids: string[]): void {
    const { endPeople, log } = this.#options;
    this.#pending(
      endPeople(ids).catch((error) =>
        log.warn(`Cannot end the programs and credentials of revoked people: ${messageOf(error)}`),
      ),
    );
  }

  /** Empty if the database cannot be read: the next check reads them again, and each use of a right reads its own. */
  async #signOutsSince(since: number): Promise<(SignOut & { id: string })[]> {
    const { store, config } = this.#options;
    return store.people.signOutsSince(config, since).catch(() => []);
  }

  async #revoked(): Promise<Set<string>> {
    const { store, config } = this.#options;
    return store.people.revoked(config);
  }

  #pending(work: Promise<unknown>): void {
    const watched = work.finally(() => this.#working.delete(watched));
    this.#working.add(watched);
  }

  /** Resolves when everything is written. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#working);
  }
}
