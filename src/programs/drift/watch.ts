/** Says in the log which saved programs would break, as soon as a server has listed other tools. */
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { oneLine } from "../../base/visible-text.ts";
import { type RegistryServer, toolId } from "../../tools/model.ts";
import type { ToolsAround } from "./current.ts";
import { driftOf, driftText, hasPrograms, programText } from "./drift.ts";
import { reasonText } from "./reasons.ts";

/** Programs that one line names. */
const maxNamedPrograms = 5;

/** Characters of a line of the log. */
const maxLineChars = 1_000;

export class DriftWatch implements Disposable {
  readonly #around: ToolsAround;
  readonly #log: Log;
  readonly #closing = new AbortController();
  /** The tools that have changed or are gone and are not judged yet, by their servers. */
  readonly #changed = new Map<string, Set<string>>();
  #judging: Promise<void> | undefined;
  /** The last line, which is not repeated when a server lists twice. Empty if nothing is broken now. */
  #told = "";

  constructor(around: ToolsAround, log: Log) {
    this.#around = around;
    this.#log = log;
  }

  /** Judges the programs of a server that was listed, if its tools have changed. */
  listed(server: string, before: RegistryServer): void {
    const now = this.#around.catalog.find(server);
    if (!now || !hasPrograms(this.#around)) return;
    const changed = changedTools(before, now);
    if (changed.length === 0) return;
    const known = this.#changed.get(server) ?? new Set();
    this.#changed.set(server, known);
    for (const name of changed) known.add(toolId(server, name));
    this.#judging ??= this.#judge().finally(() => {
      this.#judging = undefined;
    });
  }

  async #judge(): Promise<void> {
    while (this.#changed.size > 0 && !this.#closing.signal.aborted) {
      const servers = [...this.#changed.keys()];
      const tools = new Set([...this.#changed.values()].flatMap((names) => [...names]));
      this.#changed.clear();
      try {
        const drift = await driftOf(this.#around, { servers, tools, signal: this.#closing.signal });
        if (drift.broken.length > 0) this.#tell(servers, drift);
        else this.#told = "";
      } catch (error) {
        if (!this.#closing.signal.aborted) this.#log.debug(`saved programs were not checked: ${messageOf(error)}`);
      }
    }
  }

  #tell(servers: readonly string[], drift: Awaited<ReturnType<typeof driftOf>>): void {
    const named = drift.broken.slice(0, maxNamedPrograms).map((each) => {
      const [first] = each.reasons;
      return `${programText(each)}, because ${first ? reasonText(first) : ""}`;
    });
    const line = `${servers.join(", ")} changed: ${driftText(drift)}: ${named.join("; ")}`;
    if (line === this.#told) return;
    this.#told = line;
    this.#log.warn(`${oneLine(line, maxLineChars)}. To see all: claudikins programs check --all`);
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
  }
}

/** The names of tools that programs see in another way, or no longer. Texts and new tools do not matter to them. */
function changedTools(before: RegistryServer, now: RegistryServer): string[] {
  const [then, current] = [seenParts(before), seenParts(now)];
  return [...then].flatMap(([name, seen]) => (Bun.deepEquals(seen, current.get(name)) ? [] : [name]));
}

/** By the names of the tools. Of a held tool, the new definition counts. */
function seenParts({ tools, held }: RegistryServer): Map<string, unknown> {
  const seen = tools.map(({ name, inputSchema, outputSchema }) => [name, { inputSchema, outputSchema }] as const);
  return new Map<string, unknown>([...seen, ...(held?.tools ?? []).map((each) => [each.name, each] as const)]);
}
