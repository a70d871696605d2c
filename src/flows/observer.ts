/** Learns what tools give from the results of calls: their shapes, after the call is answered, with bounded work. */
import { join } from "node:path";
import { LargeJson } from "../clients/decoding/large-json.ts";
import { resultContent, type ToolResult } from "../clients/result.ts";
import { messageOf } from "../errors.ts";
import { prepareForOthers, statsOf } from "../files.ts";
import { withLock } from "../lock.ts";
import type { Log } from "../log.ts";
import type { RegistryServer, RegistryTool } from "../registry/model.ts";
import { type IsGiven, type Observed, shapeOf, shapeOfText } from "../registry/observed/observe.ts";
import {
  type AllObserved,
  addObserved,
  applyObserved,
  forgetObserved,
  type Learned,
  observedFileName,
  observedLockName,
  readObserved,
  writeObserved,
} from "../registry/observed/store.ts";
import { rewriteTool } from "../registry/store.ts";

/** Results that wait to be looked at: in all, and of one tool. */
const maxWaiting = 16;
const maxOfTool = 4;

/** After so many results that said nothing new, only one of many is looked at. */
const settledAfter = 8;
const thenOneOf = 32;

/** Until what was learned is written, so that results of one moment are written together. */
const writeAfterMs = 1_000;
const lockWaitMs = 5_000;

interface Seen {
  server: RegistryServer;
  tool: RegistryTool;
  args: unknown;
  result: ToolResult;
}

export class Observer {
  readonly #folder: string;
  /** What is known of the servers now. */
  readonly #servers: () => readonly RegistryServer[];
  readonly #log: Log;
  readonly #isOn: boolean;
  #all: AllObserved | undefined;
  /** Of the file that `#all` was read from. */
  #stamp = "";
  #waiting: (Seen & { id: string })[] = [];
  readonly #counts = new Map<string, { calls: number; unchanged: number }>();
  #learned: Learned[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: { folder: string; isOn: boolean; servers: () => readonly RegistryServer[]; log: Log }) {
    this.#folder = options.folder;
    this.#isOn = options.isOn;
    this.#servers = options.servers;
    this.#log = options.log;
  }

  /** Costs the call nothing: the result is looked at when the call is answered. */
  see(seen: Seen): void {
    const { server, tool, result } = seen;
    if (!this.#isOn || tool.outputSchema || result["isError"] === true) return;
    const id = JSON.stringify([server.name, tool.name]);
    const count = this.#counts.get(id) ?? { calls: 0, unchanged: 0 };
    this.#counts.set(id, count);
    count.calls += 1;
    if (count.unchanged >= settledAfter && count.calls % thenOneOf !== 0) return;
    const waiting = this.#waiting;
    if (waiting.length >= maxWaiting || waiting.filter((each) => each.id === id).length >= maxOfTool) return;
    if (waiting.length === 0) setTimeout(() => this.#look());
    waiting.push({ ...seen, id });
  }

  /** Everything that was seen, here and by others, is known of the tools when this returns. */
  settle(): void {
    if (!this.#isOn) return;
    this.#look();
    if (this.#all && this.#stamp === this.#stampNow()) return;
    this.#read();
    for (const server of this.#servers()) this.apply(server);
  }

  /** Gives the tools of a server what was observed of them, and nothing where that is off. */
  apply(server: RegistryServer): void {
    applyObserved(server, this.#isOn ? (this.#all ?? this.#read()) : new Map());
  }

  /** Removes what was kept before it was turned off. Throws FILE_NOT_WRITABLE. */
  forgetWhenOff(): void {
    if (!this.#isOn) forgetObserved(this.#folder);
  }

  /** Resolves when what was learned is written. Never rejects: whoever called a tool has its answer. */
  async flush(): Promise<void> {
    this.#look();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    await this.#writing;
  }

  #look(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { id, ...seen } of waiting) {
      const observed = observedOf(seen);
      if (!observed) continue;
      const { server, tool } = seen;
      const count = this.#counts.get(id);
      const all = this.#all ?? this.#read();
      const before = shapeText(tool);
      addObserved({ ...observed, server, tool }, all);
      this.#applyTo(server.name);
      const isNew = before !== shapeText(tool);
      if (count) count.unchanged = isNew ? 0 : count.unchanged + 1;
      if (!isNew) continue;
      this.#learned.push({ ...observed, server, tool });
      this.#timer ??= setTimeout(() => void this.flush(), writeAfterMs);
      this.#timer.unref();
    }
  }

  /** The server may have been asked anew since its tool was called. */
  #applyTo(name: string): void {
    for (const server of this.#servers()) if (server.name === name) this.apply(server);
  }

  async #write(): Promise<void> {
    const learned = this.#learned;
    if (learned.length === 0) return;
    this.#learned = [];
    try {
      const lock = join(this.#folder, observedLockName);
      prepareForOthers(lock);
      await withLock(
        lock,
        "the observed results",
        () => {
          const all = this.#read();
          for (const each of learned) addObserved(each, all);
          writeObserved(this.#folder, all);
          this.#stamp = this.#stampNow();
        },
        lockWaitMs,
      );
      for (const { server, tool } of learned) this.#rewrite(server.name, tool.name);
    } catch (error) {
      this.#log.debug(`What was observed of results is not written: ${messageOf(error)}`);
    }
  }

  #rewrite(serverName: string, toolName: string): void {
    this.#applyTo(serverName);
    const server = this.#servers().find(({ name }) => name === serverName);
    const tool = server?.tools.find(({ name }) => name === toolName);
    if (server && tool) rewriteTool(this.#folder, server, tool);
  }

  #read(): AllObserved {
    this.#stamp = this.#stampNow();
    this.#all = readObserved(this.#folder);
    // What is not written yet.
    for (const each of this.#learned) addObserved(each, this.#all);
    return this.#all;
  }

  #stampNow(): string {
    const found = statsOf(join(this.#folder, observedFileName));
    return found ? `${found.mtimeMs} ${found.size} ${found.ino}` : "";
  }
}

function shapeText({ observed }: RegistryTool): string {
  return JSON.stringify(observed ?? null);
}

function observedOf({ tool, args, result }: Seen): Observed | undefined {
  const content = resultContent(result);
  const isGiven = givenBy(args, tool);
  if ("text" in content) return shapeOfText(content.text, isGiven);
  const value = "blocks" in content ? content.blocks : content.structured;
  if (value instanceof LargeJson) return shapeOfText(value.json, isGiven);
  return { shape: shapeOf(value, isGiven), part: false };
}

/** Texts of the arguments that are looked at, and how long they may be: keys are no longer. */
const maxTexts = 500;
const maxChars = 1_000;

/**
 * Whether a key of the result is one of the arguments' own values: `{ users: ["anna"] }` → `{ anna: … }`. What the tool's
 * own description or schema speaks of is a field.
 */
function givenBy(args: unknown, { description, inputSchema }: RegistryTool): IsGiven {
  let given: Set<string> | undefined;
  let ownWords: string | undefined;
  return (key) => {
    given ??= new Set(textsIn(args));
    const wanted = key.toLowerCase();
    if (!given.has(wanted)) return false;
    ownWords ??= `${description} ${JSON.stringify(inputSchema)}`.toLowerCase();
    return !ownWords.includes(wanted);
  };
}

function textsIn(args: unknown): string[] {
  const texts: string[] = [];
  const waiting: unknown[] = [args];
  for (let looked = 0; waiting.length > 0 && looked < maxTexts; looked++) {
    const value = waiting.shift();
    if (typeof value === "string") {
      if (value.length <= maxChars) texts.push(value, ...value.split(/\s*[,;]\s*/));
    } else if (typeof value === "object" && value !== null) waiting.push(...Object.values(value).slice(0, maxTexts));
  }
  return texts.map((text) => text.toLowerCase());
}
