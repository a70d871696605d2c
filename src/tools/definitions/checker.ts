/** Compares each list of tools with the definitions that were accepted, and remembers new ones. Tools with changed definitions are held. */
import { counted } from "../../base/counted.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { eventLoopTurn, hasTurnTime } from "../../base/event-loop.ts";
import { withLock } from "../../base/lock.ts";
import type { Log } from "../../base/log.ts";
import { oneLine } from "../../base/visible-text.ts";
import { isInView } from "../../config/doors.ts";
import type { Environment } from "../../config/environment.ts";
import type { ServerConfig } from "../../config/load.ts";
import { definitionsLock } from "../../config/locations.ts";
import type { Label } from "../../config/policy.ts";
import { statedLabels } from "../../policy/flow/label-rules.ts";
import type { ListedTool } from "../../servers/result.ts";
import { maxHintedNames, maxShownNameChars } from "../limits.ts";
import type { HeldTools } from "../model.ts";
import { type NamedDefinition, namedDefinition } from "./definition.ts";
import { type Judgement, judged, type Listed } from "./judge.ts";
import { type LockFile, readLockFile, writeLockFile } from "./lock-file.ts";
import { skeletonOf } from "./look-alike.ts";
import { acceptedMark, type DefinitionsPlace, placeOf } from "./place.ts";
import { readRecord, type ServerRecord, writeRecord } from "./record.ts";
import { suspicionsOf } from "./suspicious.ts";

export interface CheckerOptions {
  env: Environment;
  cwd: string;
  person: string | undefined;
  log: Log;
  /** The stored servers and their tools. */
  known: () => readonly { name: string; tools: readonly { name: string }[] }[];
}

export interface CheckOptions {
  /** The server's own version. */
  version: string | undefined;
  /** Nothing is stored. */
  isDry: boolean;
}

export interface Checked {
  /** The tools that are held. Undefined if there are none. */
  held: HeldTools | undefined;
  /** The labels that the rules gave tools since they were accepted, by their own names. */
  labels: ReadonlyMap<string, readonly Label[]>;
}

export class DefinitionChecker {
  readonly #options: CheckerOptions;
  readonly #skeletons = new Map<string, string>();
  /** Records that could not be written, by their files. */
  readonly #unstored = new Map<string, ServerRecord>();
  /** What was logged, so that each line is logged once. */
  readonly #logged = new Set<string>();

  constructor(options: CheckerOptions) {
    this.#options = options;
  }

  /** Compares a list. Undefined if definitions of the server are not compared. Throws CONFIG_INVALID for a broken lock file, VERSION_TOO_OLD and FILE_NOT_WRITABLE. */
  async check(
    server: ServerConfig,
    tools: readonly ListedTool[],
    { version, isDry }: CheckOptions,
  ): Promise<Checked | undefined> {
    const place = placeOf(server, this.#options);
    if (!place) return undefined;
    const listed: Listed = {
      tools: await definitionsOf(tools, place),
      entry: place.entry,
      version,
      isInView: (tool) => isInView(server.view, tool),
      others: this.#similar(server.name),
    };
    const first = await judgedAt(place, listed, this.#unstored.get(place.record));
    const judgement = first.isNews && !isDry ? await this.#store(place, listed, first) : first;
    await this.#tell(place.server, judgement);
    const { held, record } = judgement;
    const labels = new Map(record.accepted.values().map((tool) => [tool.name, tool.labels] as const));
    if (held.size === 0 || server.definitions?.mode === "warn") return { held: undefined, labels };
    const reasons = [...held.values()].map(({ name, why }) => ({ name, why: why.join("; ") }));
    return { held: { mark: acceptedMark(place), tools: reasons }, labels };
  }

  /** If nothing can be written, this process remembers the definitions until it ends. Throws CONFIG_INVALID and VERSION_TOO_OLD. */
  async #store(place: DefinitionsPlace, listed: Listed, judgement: StoredJudgement): Promise<StoredJudgement> {
    const lock = definitionsLock(this.#options.env);
    try {
      const stored = await withLock(lock, "the accepted definitions", () => store(place, listed));
      this.#unstored.delete(place.record);
      return stored;
    } catch (error) {
      if (!(error instanceof ClaudikinsError && error.code === "FILE_NOT_WRITABLE")) throw error;
      this.#once(`Accepted definitions are forgotten when this process ends: ${error.message}`);
      this.#unstored.set(place.record, judgement.record);
      return judgement;
    }
  }

  /** The tools of other servers whose names could be confused with names of this server. Most configs have none. */
  #similar(server: string): Map<string, string> {
    const own = this.#skeleton(server);
    const others = this.#options.known().filter(({ name }) => {
      const other = this.#skeleton(name);
      return name !== server && (other === own || other.startsWith(`${own}.`) || own.startsWith(`${other}.`));
    });
    const ids = others.flatMap(({ name, tools }) => tools.map((tool) => `${name}.${tool.name}`));
    return new Map(ids.map((id) => [skeletonOf(id), id]));
  }

  #skeleton(server: string): string {
    const skeleton = this.#skeletons.get(server) ?? skeletonOf(server);
    this.#skeletons.set(server, skeleton);
    return skeleton;
  }

  async #tell(server: string, { held, added, isNews }: StoredJudgement): Promise<void> {
    const { log } = this.#options;
    const names = (tools: Iterable<{ name: string }>) =>
      Array.from(tools, ({ name }) => oneLine(name, maxShownNameChars))
        .slice(0, maxHintedNames)
        .join(", ");
    if (held.size > 0) {
      const tools = counted(held.size, "tool");
      this.#once(
        `${server}: ${tools} changed after you accepted them: ${names(held.values())}. To see how: claudikins review ${server}`,
      );
    }
    if (!isNews) return;
    if (added.length > 0) log.info(`${server}: new tools: ${names(added)}`);
    for (const { name, definition } of [...added, ...held.values()]) {
      if (!hasTurnTime()) await eventLoopTurn();
      for (const each of suspicionsOf(definition)) this.#once(`${server}.${oneLine(name, maxShownNameChars)} ${each}`);
    }
  }

  #once(line: string): void {
    if (this.#logged.has(line)) return;
    this.#logged.add(line);
    this.#options.log.warn(line);
  }
}

/** Each definition takes up to 0.1 ms, mostly for its labels, so the labels are kept with it. */
async function definitionsOf(tools: readonly ListedTool[], { folders }: DefinitionsPlace): Promise<NamedDefinition[]> {
  const definitions: NamedDefinition[] = [];
  for (const tool of tools) {
    if (!hasTurnTime()) await eventLoopTurn();
    const named = namedDefinition(tool, folders);
    statedLabels(named.name, named.definition);
    definitions.push(named);
  }
  return definitions;
}

interface StoredJudgement extends Judgement {
  /** Whether a part of it is not stored yet. */
  isNews: boolean;
  /** The lock file as it is. */
  lock: LockFile | undefined;
}

/** Compares the list with what is stored now. Each step of a long list takes some milliseconds. */
async function judgedAt(place: DefinitionsPlace, listed: Listed, unstored?: ServerRecord): Promise<StoredJudgement> {
  await eventLoopTurn();
  const before = unstored ?? readRecord(place.record);
  const lock = readLockFile(place.lockFile);
  const locked = lock?.get(place.server);
  await eventLoopTurn();
  const judgement = judged(place.server, listed, before, locked);
  await eventLoopTurn();
  const isNews =
    !before || !Bun.deepEquals(before, judgement.record) || (lock !== undefined && isUnlocked(judgement, locked));
  return { ...judgement, isNews, lock };
}

function isUnlocked({ added, held }: Judgement, locked: { tools: ReadonlyMap<string, string> } | undefined): boolean {
  return !locked || added.some(({ name }) => !held.has(name) && !locked.tools.has(name));
}

/** Another process may have stored something since, so the list is compared again. */
async function store(place: DefinitionsPlace, listed: Listed): Promise<StoredJudgement> {
  const judgement = await judgedAt(place, listed);
  const { record, held, added, lock } = judgement;
  writeRecord(place.record, record);
  if (!lock) return judgement;
  const locked = lock.get(place.server) ?? { version: record.version, tools: new Map<string, string>() };
  const isNew = !lock.has(place.server);
  const passed = isNew ? [...record.accepted.values()] : added;
  for (const { name, fingerprint } of passed) {
    if (!held.has(name) && !locked.tools.has(name)) locked.tools.set(name, fingerprint);
  }
  lock.set(place.server, locked);
  writeLockFile(place.lockFile, lock);
  return judgement;
}
