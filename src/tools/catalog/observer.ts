/** Learns the shapes of results from calls, after each call is answered and with bounded work. */
import { join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { hasExact, mayHaveExact } from "../../base/exact-json.ts";
import { prepareForOthers, removeFile, stampOf } from "../../base/files.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { LargeJson } from "../../base/large-json.ts";
import { withLock } from "../../base/lock.ts";
import type { Log } from "../../base/log.ts";
import { atMost } from "../../base/time-limit.ts";
import { Watched } from "../../base/watched.ts";
import { resultContent, type ToolResult } from "../../servers/result.ts";
import { maxObservedTextChars, minToolsOffThread } from "../limits.ts";
import type { RegistryServer, RegistryTool } from "../model.ts";
import {
  givenBy,
  givenWords,
  isOfShape,
  type Observed,
  type SeenContent,
  shapeOf,
  shapeOfText,
} from "../observed/observe.ts";
import { isText, isVague } from "../observed/result-schema.ts";
import {
  type AllObserved,
  addObserved,
  applyObserved,
  isKnownShape,
  knownShapeOf,
  type LearnedShape,
  observedFileName,
  observedLockName,
  readObserved,
  writeObserved,
} from "../observed/store.ts";
import { rewriteTools } from "../registry/store.ts";
import { runJob, runJobInTime } from "../work/run.ts";
import type { Registries } from "./registries.ts";
import { registriesOf, registryOf } from "./registries.ts";

/** Time for a worker to write the files of one server again, after the shapes of results have changed. */
const filesRewriteMs = 60_000;

/** Results that wait to be examined. Others are not examined. */
const maxWaitingResults = 16;

/** The same limit for one tool. */
const maxWaitingOfTool = 4;

/** After this many results of a tool without a new shape, only some of its longer results are examined. */
const settledAfterResults = 8;

/** A result with fewer characters is always examined, which takes less than a tenth of a millisecond. */
const alwaysExaminedChars = 8_192;

/** One of this many longer results is examined. */
const settledOneOf = 32;

/**
 * Longer JSON is examined in a worker: parsing it takes more than 2 ms. Of JSON beyond `maxObservedTextChars` only the beginning is parsed,
 * on this thread, because sending it to a worker would take longer.
 */
const maxObservedInlineChars = 131_072;

/** Time for a worker to examine one result. */
const observingMs = 10_000;

/** Time that the answer to a program waits for large results of its calls to be examined. */
const observingOutcomeMs = 1_000;

/** Changes of one tool's shape that are remembered for answers. A shape rarely changes more than a few times. */
const maxChangesOfTool = 20;

/** Delay before writing, so that results that arrive together are written together. */
const observedWriteAfterMs = 1_000;

/** Wait for another process that writes observed shapes. */
const observedLockWaitMs = 5_000;

interface SeenResult {
  server: RegistryServer;
  tool: RegistryTool;
  args: unknown;
  result: ToolResult;
}

/** How often a tool was called, and how many of its examined results in a row had a known shape. */
interface ToolCount {
  calls: number;
  unchanged: number;
}

interface WaitingResult extends SeenResult {
  count: ToolCount;
}

/** A tool whose result type is new or has changed. */
export interface LearnedType {
  server: string;
  tool: RegistryTool;
  /** The observed shape before. Undefined if there was none. */
  before: JsonObject | undefined;
}

/** A change of an observed shape: its time in milliseconds since 1970, and the shape before. */
interface ShapeChange {
  at: number;
  before: JsonObject | undefined;
}

interface ObserverOptions {
  config: Registries;
  isOn: boolean;
  servers: () => readonly RegistryServer[];
  /** The names of the other entries of the same server. */
  twinsOf: (server: string) => readonly string[];
  log: Log;
}

export class Observer {
  readonly #config: Registries;
  /** Returns the servers as they are stored now. */
  readonly #servers: () => readonly RegistryServer[];
  readonly #twinsOf: ObserverOptions["twinsOf"];
  readonly #log: Log;
  readonly #isOn: boolean;
  #all: AllObserved | undefined;
  /** The files that `#all` was read from. */
  readonly #files: Watched;
  #waiting: WaitingResult[] = [];
  /** Large results that a worker examines now. */
  readonly #looking = new Set<Promise<void>>();
  /** By server and tool. */
  readonly #counts = new Map<string, Map<string, ToolCount>>();
  #learned: LearnedShape[] = [];
  /** The latest changes of each tool's shape, oldest first. */
  readonly #changes = new Map<ToolCount, { server: string; tool: string; changes: ShapeChange[] }>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: ObserverOptions) {
    this.#config = options.config;
    this.#twinsOf = options.twinsOf;
    this.#isOn = options.isOn;
    this.#servers = options.servers;
    this.#log = options.log;
    this.#files = new Watched(() =>
      registriesOf(options.config)
        .map((folder) => stampOf(join(folder, observedFileName)))
        .join("\n"),
    );
  }

  /** Notes a result. It is examined after the call is answered, so the call is not slower. */
  see(seen: SeenResult): void {
    const { server, tool, result } = seen;
    if (!this.#isOn || result["isError"] === true) return;
    const counts = this.#counts.getOrInsertComputed(server.name, () => new Map());
    const count = counts.getOrInsertComputed(tool.name, () => ({ calls: 0, unchanged: 0 }));
    count.calls += 1;
    const isSettled = count.unchanged >= settledAfterResults && count.calls % settledOneOf !== 0;
    if (isSettled && charsOf(result) > alwaysExaminedChars) return;
    const waiting = this.#waiting;
    if (
      waiting.length >= maxWaitingResults ||
      waiting.filter((each) => each.count === count).length >= maxWaitingOfTool
    )
      return;
    if (waiting.length === 0) setTimeout(() => this.#look());
    waiting.push({ ...seen, count });
  }

  /** Like `settle`, and waits for large results as well. */
  async settleAll(): Promise<void> {
    if (!this.#isOn) return;
    this.#look();
    await Promise.all(this.#looking);
    this.settle();
  }

  /** Examines all waiting results except large ones, and reads the shapes that other processes have stored. */
  settle(): void {
    if (!this.#isOn) return;
    this.#look();
    if (this.#all && !this.#files.hasChanged()) return;
    this.#read();
    for (const server of this.#servers()) this.apply(server);
  }

  /**
   * The tools whose shape has changed after `time`, in milliseconds since 1970. Waits a short time for large results. A change in the very
   * millisecond `time` belongs to an earlier program: the results of a program are examined more than a millisecond after its start.
   */
  async learnedSince(time: number): Promise<LearnedType[]> {
    await atMost(observingOutcomeMs, this.settleAll());
    return [...this.#changes.values()].flatMap(({ server: name, tool: toolName, changes }) => {
      const first = changes.find(({ at }) => at > time);
      const tool = this.#toolOf(name, toolName)?.tool;
      return first && tool?.observed ? [{ server: name, tool, before: first.before }] : [];
    });
  }

  /** Adds the observed shapes to the tools of a server. Does nothing if observing is off. */
  apply(server: RegistryServer): void {
    applyObserved(server, this.#isOn ? (this.#all ?? this.#read()) : new Map(), this.#twinsOf(server.name));
  }

  /** If observing is off, removes what was stored before. Throws FILE_NOT_WRITABLE. */
  forgetWhenOff(): void {
    if (!this.#isOn) removeFile(join(this.#config.folders.registry, observedFileName));
  }

  /** Writes the learned shapes. Never rejects, because the calls have already been answered. */
  async flush(): Promise<void> {
    this.#look();
    await Promise.all(this.#looking);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    await this.#writing;
  }

  #look(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const seen of waiting) {
      const content = contentOf(seen.result);
      const { text, value } = content;
      // A complete declared type can only be wrong about numbers that programs receive as texts.
      const { outputSchema } = seen.tool;
      const isWhole = outputSchema !== undefined && !isVague(outputSchema) && !isText(outputSchema);
      if (isWhole && !(text === undefined ? hasExact(value) : mayHaveExact(text))) continue;
      const known = knownShapeOf(seen, this.#all ?? this.#read());
      if (known && (text?.length ?? 0) <= maxObservedInlineChars && isOfShape(content, known)) {
        seen.count.unchanged += 1;
        continue;
      }
      const given = givenWords(seen.args, seen.tool);
      if (text === undefined) this.#learn(seen, { shape: shapeOf(value, givenBy(given)), part: false });
      else if (text.length <= maxObservedInlineChars || text.length > maxObservedTextChars)
        this.#learn(seen, shapeOfText(text, givenBy(given)));
      else {
        const looking = runJobInTime({ work: "shape", text, given }, observingMs)
          .then((observed) => this.#learn(seen, observed))
          .catch(() => {})
          .finally(() => this.#looking.delete(looking));
        this.#looking.add(looking);
      }
    }
  }

  #learn({ count, server, tool }: WaitingResult, observed: Observed | undefined): void {
    if (!observed) return;
    const all = this.#all ?? this.#read();
    if (isKnownShape({ ...observed, server, tool }, all)) {
      count.unchanged += 1;
      return;
    }
    const before = this.#toolOf(server.name, tool.name)?.tool.observed;
    addObserved({ ...observed, server, tool }, all);
    this.#applyTo(server.name);
    const isNew = JSON.stringify(before) !== JSON.stringify(this.#toolOf(server.name, tool.name)?.tool.observed);
    count.unchanged = isNew ? 0 : count.unchanged + 1;
    if (!isNew) return;
    const known = this.#changes.get(count)?.changes.slice(1 - maxChangesOfTool) ?? [];
    const changes = [...known, { at: Date.now(), before }];
    this.#changes.set(count, { server: server.name, tool: tool.name, changes });
    this.#learned.push({ ...observed, server, tool });
    this.#timer ??= setTimeout(() => void this.flush(), observedWriteAfterMs);
    this.#timer.unref();
  }

  /** Finds the tool again: the server may have been listed since the call. */
  #applyTo(name: string): void {
    for (const server of this.#servers()) if (server.name === name) this.apply(server);
  }

  async #write(): Promise<void> {
    const learned = this.#learned;
    this.#learned = [];
    for (const [folder, each] of Map.groupBy(learned, ({ server }) => registryOf(this.#config, server.name))) {
      await this.#writeTo(folder, each);
    }
  }

  async #writeTo(folder: string, learned: readonly LearnedShape[]): Promise<void> {
    try {
      const lock = join(folder, observedLockName);
      prepareForOthers(lock);
      await withLock(
        lock,
        "the observed results",
        () => {
          const all = readObserved(folder);
          for (const each of learned) addObserved(each, all);
          writeObserved(folder, all);
        },
        observedLockWaitMs,
      );
      this.#read();
      for (const [name, each] of Map.groupBy(learned, ({ server }) => server.name)) {
        await this.#rewrite(name, new Set(each.map(({ tool }) => tool.name)));
      }
    } catch (error) {
      this.#log.debug(`Cannot write the observed results: ${messageOf(error)}`);
    }
  }

  /** The types of a server with many tools are one large file, so it is written in a worker. */
  async #rewrite(serverName: string, toolNames: ReadonlySet<string>): Promise<void> {
    this.#applyTo(serverName);
    const server = this.#servers().find(({ name }) => name === serverName);
    if (!server) return;
    const folder = registryOf(this.#config, serverName);
    const changed = { ...server, tools: server.tools.filter(({ name }) => toolNames.has(name)) };
    const names = server.tools.map(({ name }) => name);
    if (names.length < minToolsOffThread) rewriteTools(folder, changed, names);
    else await runJob({ work: "tools", folder, server: JSON.stringify(changed), names }, filesRewriteMs);
  }

  #toolOf(serverName: string, toolName: string): { server: RegistryServer; tool: RegistryTool } | undefined {
    const server = this.#servers().find(({ name }) => name === serverName);
    const tool = server?.tools.find(({ name }) => name === toolName);
    return server && tool ? { server, tool } : undefined;
  }

  #read(): AllObserved {
    this.#files.hasChanged();
    this.#all = new Map(
      registriesOf(this.#config).flatMap((folder) =>
        [...readObserved(folder)].filter(([server]) => registryOf(this.#config, server) === folder),
      ),
    );
    // Not written yet.
    for (const each of this.#learned) addObserved(each, this.#all);
    return this.#all;
  }
}

/** Characters of the texts of a result. Structured content is not counted, because the texts contain the same data. */
function charsOf({ content }: ToolResult): number {
  if (!Array.isArray(content)) return Number.POSITIVE_INFINITY;
  return content.reduce((sum, { text }) => sum + (typeof text === "string" ? text.length : 0), 0);
}

/** The text or JSON of a result, or its value if that is already parsed. */
function contentOf(result: ToolResult): SeenContent {
  const content = resultContent(result);
  if ("text" in content) return { text: content.text };
  const value = "blocks" in content ? content.blocks : content.structured;
  return value instanceof LargeJson ? { text: value.json } : { value };
}
