/** Says in the log which saved programs would break, as soon as a server has listed other tools. */
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { oneLine } from "../../base/visible-text.ts";
import type { RegistryServer, RegistryTool } from "../../tools/model.ts";
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
  /** Servers that have changed, and are not judged yet. */
  readonly #changed = new Set<string>();
  #judging: Promise<void> | undefined;

  constructor(around: ToolsAround, log: Log) {
    this.#around = around;
    this.#log = log;
  }

  /** Judges the programs of a server that was listed, if its tools have changed. */
  listed(server: string, before: RegistryServer): void {
    const now = this.#around.catalog.find(server);
    if (!now || !hasPrograms(this.#around) || hasSameTools(before, now)) return;
    this.#changed.add(server);
    this.#judging ??= this.#judge().finally(() => {
      this.#judging = undefined;
    });
  }

  async #judge(): Promise<void> {
    while (this.#changed.size > 0 && !this.#closing.signal.aborted) {
      const servers = [...this.#changed];
      this.#changed.clear();
      try {
        const drift = await driftOf(this.#around, { servers, signal: this.#closing.signal });
        if (drift.broken.length > 0) this.#tell(servers, drift);
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
    this.#log.warn(`${oneLine(line, maxLineChars)}. To see all: claudikins programs check --all`);
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
  }
}

/** Whether programs see the same tools. Texts do not matter to them. */
function hasSameTools(before: RegistryServer, now: RegistryServer): boolean {
  const seen = ({ tools, held }: RegistryServer) => [tools.map(seenPart), held?.tools ?? []];
  return Bun.deepEquals(seen(before), seen(now));
}

function seenPart({ name, inputSchema, outputSchema }: RegistryTool) {
  return { name, inputSchema, outputSchema };
}
