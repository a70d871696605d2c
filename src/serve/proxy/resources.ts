/** The resources, templates and skills of all servers, shown with their own URIs and read from the server that has them. */

import { SkillSchema } from "@modelcontextprotocol/core/ext/skills";
import type { App } from "../../app/app.ts";
import { toClaudikinsError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { percentDecoded } from "../../base/percent-decoded.ts";
import {
  isOurs,
  KnownAddresses,
  mayBeOf,
  type OwnAddress,
  placeOf,
  schemeOf,
  shownAddresses,
  withServer,
} from "./addresses.ts";
import { hostError, invalidParams, noResource, noSkill } from "./answers.ts";
import { pageIn, withPage } from "./apps.ts";
import { type Usable, usableResource, usableTemplate } from "./definitions.ts";
import { KnownLists } from "./known-lists.ts";
import { blocksWith, type Others, othersThan } from "./links.ts";
import { type DirectCall, observedRequest } from "./observed-request.ts";

export class ProxiedResources {
  readonly #app: App;
  readonly resources: KnownLists;
  readonly templates: KnownLists;
  readonly skills: KnownLists;
  /** The servers of URIs and of templates that the agent was shown, also after they are no longer listed. */
  readonly #addresses = new KnownAddresses();
  readonly #templateAddresses = new KnownAddresses();
  readonly #subscriptions = new Map<string, () => void>();

  /** The pages of MCP Apps that the tools of each server name. */
  readonly #pages: () => ReadonlyMap<string, readonly string[]>;

  constructor(app: App, onLate: () => void, pages: () => ReadonlyMap<string, readonly string[]>) {
    this.#app = app;
    this.#pages = pages;
    const { pool } = app;
    const resources = (server: string) => pool.listResources(server);
    const templates = (server: string) => pool.listResourceTemplates(server).catch(noneWhereUnknown);
    const kind = { offer: "resources", list: resources, usable: usableResource, key: "uri" } as const;
    this.resources = new KnownLists(app, kind, onLate);
    this.templates = new KnownLists(
      app,
      { ...kind, list: templates, usable: usableTemplate, key: "uriTemplate" },
      onLate,
    );
    const skills = (server: string) => pool.listSkills(server);
    this.skills = new KnownLists(app, { offer: "skills", list: skills, usable: usableSkill, key: "uri" }, onLate);
  }

  /** Lists resources or templates, with the URIs that the agent is shown. */
  async list(what: "resources" | "resourceTemplates", signal: AbortSignal): Promise<JsonObject[]> {
    const isTemplates = what === "resourceTemplates";
    const [lists, key] = isTemplates ? [this.templates, "uriTemplate"] : [this.resources, "uri"];
    await lists.ask(signal);
    const own = (definition: JsonObject) => String(definition[key]);
    const addresses = isTemplates ? this.#templateAddresses : this.#addresses;
    const claimant = (template: string) => addresses.serverOf(template);
    const shown = isTemplates ? shownAddresses(addressesIn(lists, own), claimant) : this.shown();
    return [...lists.known].flatMap(([server, all]) =>
      all.map((definition) => {
        const address = shown.get(server)!.get(own(definition))!;
        addresses.list(address, server);
        return { ...definition, [key]: address };
      }),
    );
  }

  /** Lists skills, with the URIs that the agent is shown. */
  async listSkills(signal: AbortSignal): Promise<JsonObject[]> {
    await this.skills.ask(signal);
    const shown = this.shown();
    return [...this.skills.known].flatMap(([server, all]) =>
      all.map((skill) => {
        const own = skillAddresses(skill);
        // All files of a skill are below the folder of the skill.
        const isShared = own.some((uri) => shown.get(server)?.get(uri) !== uri);
        return this.#shownSkill(skill, server, isShared);
      }),
    );
  }

  /** Gets the entry of one skill. It need not be listed. */
  async getSkill(uri: string, params: JsonObject, call: DirectCall): Promise<JsonObject> {
    await this.skills.askOnce(call.signal);
    return this.#askFirst(this.#placesOfSkill(uri), noSkill(uri), call, async (place) => {
      const request = { method: "skills/get", params: { ...params, uri: place.uri } };
      const result = await observedRequest(place.server, request, call);
      const skill = isObject(result["skill"]) ? usableSkill(result["skill"]) : undefined;
      if (skill?.["uri"] !== place.uri) throw noSkill(uri);
      return { ...result, skill: this.#shownSkill(skill, place.server, place.uri !== uri) };
    });
  }

  #shownSkill(skill: JsonObject, server: string, isShared: boolean): JsonObject {
    const address = (uri: string) => (isShared ? withServer(server, uri) : uri);
    for (const uri of skillAddresses(skill)) this.#addresses.list(address(uri), server);
    return withAddresses(skill, address);
  }

  async read(uri: string, params: JsonObject, call: DirectCall): Promise<JsonObject> {
    return this.#askOwner(uri, call, async (place) => {
      const request = { method: "resources/read", params: { ...params, uri: place.uri } };
      const result = await observedRequest(place.server, request, call);
      return this.#withShownContents(result, place, uri);
    });
  }

  /** `onUpdate` gets the URI as the agent knows it. */
  async subscribe(uri: string, onUpdate: (uri: string) => void, call: DirectCall): Promise<void> {
    if (this.#subscriptions.has(uri)) return;
    const end = await this.#askOwner(uri, call, ({ server, uri: own }) => {
      const isPlain = (updated: string) => own === uri && !this.#isShownOfOther(server, updated);
      const tell = (updated: string) => onUpdate(isPlain(updated) ? updated : withServer(server, updated));
      return call.app.pool.subscribe(server, own, tell, call);
    });
    // The agent may have subscribed twice at once.
    if (this.#subscriptions.has(uri)) end();
    else this.#subscriptions.set(uri, end);
  }

  unsubscribe(uri: string): void {
    this.#subscriptions.get(uri)?.();
    this.#subscriptions.delete(uri);
  }

  /** Finds the server and the template that the agent names. */
  async findTemplate(template: string, signal: AbortSignal): Promise<OwnAddress | undefined> {
    const servers = this.#app.config.servers.keys();
    const place = placeOf(template, servers);
    if (place) return place;
    await this.templates.askOnce(signal);
    const known = [...this.templates.known].filter(([, all]) => all.some((each) => each["uriTemplate"] === template));
    const server = this.#templateAddresses.serverOf(template) ?? (known.length === 1 ? known[0]![0] : undefined);
    return server === undefined ? undefined : { server, uri: template };
  }

  /**
   * The blocks of a server's result as the agent is shown them. A URI that means something of another server, or that looks like one of
   * our addresses, gets the server's name. The others are remembered: a URI that no server lists is read from the server that sent it.
   */
  shownBlocks(server: string, blocks: unknown): unknown {
    let others: Others | undefined;
    return blocksWith(blocks, (uri) => {
      others ??= othersThan(server, this.shown(), addressesIn(this.templates, templateOf));
      const listed = others.own.get(uri);
      if (listed !== undefined) return listed;
      const isOther = this.#isShownOfOther(server, uri) || others.mayHave(uri);
      return !isOther && this.#addresses.link(uri, server) ? uri : withServer(server, uri);
    });
  }

  /** Whether the address belongs to another server in the eyes of the agent, or is one of ours. */
  #isShownOfOther(server: string, uri: string): boolean {
    return isOurs(uri) || (this.#addresses.serverOf(uri) ?? server) !== server;
  }

  /** Gives the contents the URIs by which the agent knows them. */
  #withShownContents(result: JsonObject, { server, uri: own }: OwnAddress, shown: string): JsonObject {
    const { contents } = result;
    if (!Array.isArray(contents)) return result;
    const addressOf = (uri: unknown) => {
      if (uri === own) return shown;
      return typeof uri === "string" && this.#isShownOfOther(server, uri) ? withServer(server, uri) : uri;
    };
    const isChanged = contents.some((each) => addressOf(Object(each).uri) !== Object(each).uri);
    if (!isChanged) return result;
    return {
      ...result,
      contents: contents.map((each) => (isObject(each) ? { ...each, uri: addressOf(each["uri"]) } : each)),
    };
  }

  /** Asks the servers that may have the resource, one after another. If all refuse, the first error is thrown. */
  async #askOwner<T>(uri: string, call: DirectCall, ask: (place: OwnAddress) => Promise<T>): Promise<T> {
    return this.#askFirst(await this.#places(uri, call.signal), noResource(uri), call, ask);
  }

  async #askFirst<T>(
    places: readonly OwnAddress[],
    nowhere: Error,
    call: DirectCall,
    ask: (place: OwnAddress) => Promise<T>,
  ): Promise<T> {
    let first: unknown;
    for (const place of places) {
      try {
        return await ask(place);
      } catch (error) {
        if (call.signal.aborted) throw error;
        first ??= hostError(error, place.server);
      }
    }
    throw first ?? nowhere;
  }

  #placesOfSkill(uri: string): OwnAddress[] {
    const names = [...this.#app.config.servers.keys()];
    const certain = placeOf(uri, names);
    if (certain) return [certain];
    const owner = this.#addresses.serverOf(uri);
    const offering = (name: string) => this.#app.pool.offers(name, "skills") === true;
    const likely = owner === undefined ? names.filter(offering) : [owner];
    return likely.map((server) => ({ server, uri }));
  }

  async #places(uri: string, signal: AbortSignal): Promise<OwnAddress[]> {
    const { config } = this.#app;
    const certain = placeOf(uri, config.servers.keys());
    if (certain) return [certain];
    const [app, ...others] = [...this.#pages()].filter(([, pages]) => pages.includes(uri)).map(([name]) => name);
    const server = this.#addresses.serverOf(uri) ?? (others.length === 0 ? app : undefined);
    if (server !== undefined) return [{ server, uri }];
    await Promise.all([this.resources, this.templates, this.skills].map((lists) => lists.askOnce(signal)));
    return this.#likely(uri).map((name) => ({ server: name, uri }));
  }

  /** The shown addresses of resources, files of skills and pages of apps: an address never belongs to two servers. */
  shown(): Map<string, Map<string, string>> {
    const resources = addressesIn(this.resources, ({ uri }) => String(uri));
    const all = [resources, addressesIn(this.skills, skillAddresses), this.#pages()];
    const servers = [...this.#app.config.servers.keys()];
    return shownAddresses(new Map(servers.map((name) => [name, all.flatMap((each) => each.get(name) ?? [])])), (uri) =>
      this.#addresses.serverOf(uri),
    );
  }

  /** The result of a tool with the shown address of its page. A page that no list has is read from this server. */
  withShownPage(server: string, result: JsonObject): JsonObject {
    const page = pageIn(result);
    if (page === undefined) return result;
    const [link] = this.shownBlocks(server, [{ type: "resource_link", uri: page }]) as [{ uri: string }];
    const address = link.uri;
    return withPage(result, () => address);
  }

  /**
   * The likely servers of a URI: the ones that list it, or a skill in whose folder it is; else the ones with a matching template; else the
   * ones that use its scheme; else the ones that have resources and list nothing.
   */
  #likely(uri: string): string[] {
    const [resources, templates, skills] = [this.resources.known, this.templates.known, this.skills.known];
    const names = [...this.#app.config.servers.keys()].filter((name) =>
      [resources, templates, skills].some((known) => known.has(name)),
    );
    const uris = (name: string) => (resources.get(name) ?? []).map((each) => String(each["uri"]));
    const patterns = (name: string) => (templates.get(name) ?? []).map((each) => String(each["uriTemplate"]));
    const folders = (name: string) =>
      (skills.get(name) ?? []).map(({ uri: own }) => String(own).slice(0, -"SKILL.md".length));
    const scheme = schemeOf(uri);
    const fits = (name: string) => patterns(name).some((template) => mayBeOf(template, uri));
    const guesses: ((name: string) => boolean)[] = [
      (name) => uris(name).includes(uri) || folders(name).some((folder) => uri.startsWith(folder)),
      (name) => fits(name),
      (name) => [...uris(name), ...patterns(name), ...folders(name)].some((each) => schemeOf(each) === scheme),
      (name) => this.#app.pool.offers(name, "resources") === true && uris(name).length + patterns(name).length === 0,
    ];
    const found = guesses.map((guess) => names.filter(guess)).find((each) => each.length > 0) ?? [];
    // The agent made the address from a template, and one server may have a template that matches the addresses of another.
    if (found.length > 1 && found.every(fits)) throw severalHave(uri, found);
    return found;
  }
}

/** The addresses of each server in its list. */
function addressesIn(
  { known }: KnownLists,
  own: (definition: JsonObject) => string | readonly string[],
): Map<string, string[]> {
  return new Map([...known].map(([server, all]) => [server, all.flatMap(own)]));
}

const templateOf = ({ uriTemplate }: JsonObject) => String(uriTemplate);

/** Many servers have resources but no templates. */
function noneWhereUnknown(error: unknown): JsonObject[] {
  if (toClaudikinsError(error).code === "PROTOCOL_ERROR") return [];
  throw error;
}

function severalHave(uri: string, servers: readonly string[]): Error {
  const addresses = servers.map((server) => withServer(server, uri)).join(" or ");
  return invalidParams(`Several servers may have the resource ${uri}. Name the server: ${addresses}`);
}

const suffix = "/SKILL.md";

/**
 * Many agents check a list as a whole, so entries that the extension does not allow are left out. Undefined if the entry breaks a rule of
 * the extension (io.modelcontextprotocol/skills, "Skill Entries") or of Agent Skills.
 */
export const usableSkill: Usable = (skill) => {
  const { success, data } = SkillSchema.safeParse(skill);
  if (!success) return undefined;
  const { uri, frontmatter, resources } = data;
  const { name, description, compatibility, metadata } = frontmatter as typeof frontmatter & JsonObject;
  const address = plain(uri);
  const folder = address?.slice(0, -suffix.length) ?? "";
  const last = folder.split("/").at(-1) ?? "";
  const isNamed = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) && percentDecoded(last) === name;
  const isDescribed = isBetween(description, 1_024) && (compatibility === undefined || isBetween(compatibility, 500));
  const hasTexts = metadata === undefined || (isObject(metadata) && Object.values(metadata).every(isText));
  if (!address?.endsWith(suffix) || !isNamed || !isDescribed || !hasTexts) return undefined;
  if (resources === "dynamic") return skill;
  const files = resources.map((each) => plain(each.uri));
  const isComplete =
    files.includes(address) && new Set(files.map((file = "") => percentDecoded(file))).size === files.length;
  return isComplete && files.every((file) => isIn(folder, file)) ? skill : undefined;
};

/** The addresses of the skill's files, as far as the entry names them. */
function skillAddresses({ uri, resources }: JsonObject): string[] {
  return [...new Set([String(uri), ...(Array.isArray(resources) ? resources.map((each) => String(each.uri)) : [])])];
}

/** The entry with other addresses. */
function withAddresses(skill: JsonObject, shown: (uri: string) => string): JsonObject {
  const { uri, resources } = skill;
  const files = Array.isArray(resources) ? resources.map((each) => ({ ...each, uri: shown(each.uri) })) : resources;
  return { ...skill, uri: shown(String(uri)), resources: files };
}

/** The usual spelling of a URI. Undefined if it is invalid, or has a query or a fragment. */
function plain(uri: string): string | undefined {
  const href = URL.parse(uri)?.href;
  return href && /[?#]/.test(href) ? undefined : href;
}

function isIn(folder: string, file: string | undefined): boolean {
  if (!file?.startsWith(`${folder}/`)) return false;
  const names = file
    .slice(folder.length + 1)
    .split("/")
    .map(percentDecoded);
  return names.every((name) => name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name));
}

const isText = (value: unknown) => typeof value === "string";

function isBetween(value: unknown, maxChars: number): boolean {
  return typeof value === "string" && value !== "" && [...value].length <= maxChars;
}
