/**
 * The stored tools of the configured servers, and whether they are still valid.
 *
 * A server is *listed* when this process has asked it for its tools (`tools/list`). The answer is *stored* in the registry on disk, where
 * the next process finds it. A stored entry is valid only if it was made from the current config entry.
 */

import type { ClaudikinsError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { twinsOf } from "../../config/accounts.ts";
import type { Environment } from "../../config/environment.ts";
import type { Config } from "../../config/load.ts";
import { ownNameOf } from "../../config/tool-edits.ts";
import { AcceptedDefinitions } from "../definitions/accepted.ts";
import { definitionChars, type HeldTool, type HeldTools, type RegistryIndex, type RegistryServer } from "../model.ts";
import { assignNames, type JsNamed, sandboxGlobals, toIdentifier } from "../names.ts";
import { deniesMoreOnly, fingerprintOf, isClosed, rulesOf } from "./config-entry.ts";
import { IndexStore } from "./index-store.ts";
import { Observer } from "./observer.ts";

/** The state that the catalogs of one config share: the registry on disk, and the observed shapes of results. */
export interface SharedTools {
  store: IndexStore;
  observer: Observer;
  definitions: AcceptedDefinitions;
}

/** The config and the environment that the stored tools belong to. */
interface Surroundings {
  config: Config;
  env: Environment;
  cwd: string;
  log: Log;
}

/** How fresh the known tools of a server are. */
type Freshness =
  /** This process has asked the server. */
  | "listed"
  /** An earlier process has, and the config has not changed since. */
  | "stored"
  /** Stored from another config entry or by another version, so it is not valid. */
  | "outdated"
  | "unknown";

export abstract class StoredTools {
  readonly config: Config;
  protected readonly shared: SharedTools;
  readonly #fingerprints = new Map<string, string>();
  /** Whether outdated servers are complete. */
  #completeness = new WeakMap<RegistryServer, boolean>();
  /** Characters of definitions. A server that changes becomes a new object. */
  readonly #chars = new WeakMap<RegistryServer, number>();
  #names: readonly JsNamed[] = [];

  constructor(surroundings: Surroundings, shared?: SharedTools) {
    this.config = surroundings.config;
    this.shared = shared ?? newShared(surroundings);
    this.#nameServers();
  }

  /** Whether this process itself has asked the server for its tools. */
  protected abstract hasListed(server: string): boolean;

  /** The shapes of results that were seen. */
  get observer(): Observer {
    return this.shared.observer;
  }

  /** The configured servers with their names in code, in the order of the config. */
  get names(): readonly JsNamed[] {
    return this.#names;
  }

  /** A server's name in code. Undefined if it has none. */
  jsNameOf(server: string): string | undefined {
    return this.#names.find(({ name }) => name === server)?.jsName;
  }

  /** The stored index; empty before the first `gen`, and if its file is damaged. A new object after every change. */
  get index(): RegistryIndex {
    return this.shared.store.index;
  }

  /** Why the index on disk could not be read. Programs run without it. Features that need it should report this problem. */
  get indexProblem(): ClaudikinsError | undefined {
    return this.shared.store.problem;
  }

  /** The stored server, without the tools that the config denies. Undefined if it is missing, or may have other tools by now. */
  find(server: string): RegistryServer | undefined {
    const found = this.shared.store.find(server);
    return found && this.#isComplete(found) ? found : undefined;
  }

  /** The held tools of a server, by their own names. */
  held(server: string): HeldTools | undefined {
    return this.shared.store.find(server)?.held;
  }

  /** Whether a definition may have been accepted since tools of the server were held, with this mark or when they were listed last. */
  isReviewed(server: string, mark = this.held(server)?.mark): boolean {
    return mark !== undefined && this.shared.definitions.isReviewed(this.config.servers.get(server), mark);
  }

  /** The held tools by the names that agents would use. */
  heldTools(server: string): (HeldTool & { jsName: string })[] {
    const edits = this.config.servers.get(server)?.edits?.tools ?? [];
    const held = this.held(server)?.tools ?? [];
    return held.map(({ name: tool, why }) => {
      const name = edits.find((edit) => edit.tool === tool)?.name ?? tool;
      return { name, jsName: toIdentifier(name), why };
    });
  }

  /** The held tool that agents would call by this name, or by the name in code. */
  heldCalled(server: string, name: string): HeldTool | undefined {
    return this.heldTools(server).find((held) => held.name === name || held.jsName === name);
  }

  /** The own names of the server's tools, as far as they are known. */
  toolNames(server: string): string[] {
    const edits = this.config.servers.get(server)?.edits;
    return this.find(server)?.tools.flatMap((tool) => ownNameOf(edits, tool) ?? []) ?? [];
  }

  /** The name by which agents know a tool. `tool` is its own name. */
  shownName(server: string, tool: string): string {
    const edits = this.config.servers.get(server)?.edits;
    if (!edits) return tool;
    return this.find(server)?.tools.find((each) => ownNameOf(edits, each) === tool)?.name ?? tool;
  }

  /**
   * The same with the tools that the config denies, if this process has listed the server. Denied tools are never stored. For errors that
   * explain why a name cannot be called.
   */
  findWithDenied(server: string): RegistryServer | undefined {
    const found = this.shared.store.findWhole(server);
    return found && this.#isComplete(found) ? found : undefined;
  }

  /** The stored servers that are not outdated, in the order of the config, without denied tools. */
  get knownServers(): RegistryServer[] {
    return [...this.config.servers.keys()].flatMap((server) => this.find(server) ?? []);
  }

  /** All stored entries of the configured servers, including outdated ones, without denied tools. */
  get visibleServers(): RegistryServer[] {
    return this.index.servers.filter(({ name }) => this.config.servers.has(name));
  }

  /** Characters of the definitions of all known tools. */
  get definitionChars(): number {
    return this.knownServers.reduce((sum, server) => {
      const chars = this.#chars.get(server) ?? definitionChars(server.tools);
      this.#chars.set(server, chars);
      return sum + chars;
    }, 0);
  }

  /** A server is also outdated if the config denies more than when its files were written. */
  freshness(server: string): Freshness {
    const found = this.shared.store.find(server);
    if (!found) return "unknown";
    if (!this.#isCurrent(found)) return "outdated";
    return this.hasListed(server) ? "listed" : "stored";
  }

  /** Configured servers that are not stored or outdated, without closed ones. */
  missingServers(): string[] {
    return this.openServers().filter((server) => this.isMissing(server));
  }

  /** Configured servers that may be started, in the order of the config. */
  openServers(): string[] {
    return [...this.config.servers.keys()].filter((server) => !this.isClosed(server));
  }

  /** Whether the config denies everything of the server. Such a server is never started. */
  isClosed(server: string): boolean {
    return isClosed(this.config.servers.get(server));
  }

  /** Call this after servers of the config were added, removed or changed. */
  configChanged(): void {
    this.#fingerprints.clear();
    this.#completeness = new WeakMap();
    this.shared.store.hideDenied();
    this.#nameServers();
  }

  /** Forgets the stored servers that the config no longer has, and returns them. Their files stay. */
  forgetRemoved(): RegistryServer[] {
    const removed = this.index.servers.filter(({ name }) => !this.config.servers.has(name));
    if (removed.length > 0) this.shared.store.forget(new Set(removed.map(({ name }) => name)));
    return removed;
  }

  #nameServers(): void {
    this.#names = assignNames([...this.config.servers.keys()], sandboxGlobals).names;
  }

  /** Whether the server must be asked before its files are up to date. */
  protected isMissing(server: string): boolean {
    const freshness = this.freshness(server);
    return freshness === "unknown" || freshness === "outdated";
  }

  /** Whether tools of an outdated server are stored with other edits than the config's: they would have wrong names, or may have been left out. */
  protected hasOtherEdits(server: string): boolean {
    const edits = this.config.servers.get(server)?.edits?.tools ?? [];
    const stored = this.shared.store.find(server)?.tools.flatMap(({ edit }) => edit ?? []) ?? [];
    return new Set(edits.map(({ mark }) => mark)).symmetricDifference(new Set(stored)).size > 0;
  }

  /** Whether all tools that the config allows are stored. */
  #isComplete(server: RegistryServer): boolean {
    if (this.#isCurrent(server)) return true;
    const config = this.config.servers.get(server.name);
    const known = this.#completeness.get(server);
    const isComplete = known ?? (!!config && deniesMoreOnly(server, config, this.jsNameOf(server.name)));
    this.#completeness.set(server, isComplete);
    return isComplete;
  }

  #isCurrent({ name, fingerprint, held }: RegistryServer): boolean {
    const config = this.config.servers.get(name);
    if (!config) return false;
    let current = this.#fingerprints.get(name);
    if (current === undefined) {
      current = fingerprintOf(config, this.jsNameOf(name), rulesOf(config));
      this.#fingerprints.set(name, current);
    }
    return fingerprint === current && (held === undefined || !this.shared.definitions.isReviewed(config, held.mark));
  }
}

function newShared({ config, env, cwd, log }: Surroundings): SharedTools {
  // Shapes of the user's own results must not reach files of a project.
  const isOwn = (server: string) => config.servers.get(server)?.own !== undefined;
  const observer = new Observer({
    config,
    isOn: config.observe,
    servers: () => store.index.servers,
    twinsOf: (server) => twinsOf(server, config.servers).filter((twin) => isOwn(twin) === isOwn(server)),
    log,
  });
  const store = new IndexStore(config, (server) => observer.apply(server));
  const definitions = new AcceptedDefinitions({
    env,
    cwd,
    person: config.person?.id,
    log,
    known: () => store.index.servers,
  });
  return { store, observer, definitions };
}
