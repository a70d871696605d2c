/** The labels of tools: the config decides, then the server catalog, then what the server says of a tool. */
import { exactness, matches } from "../../config/pattern.ts";
import type { Label, LabelLine, ServerPolicy } from "../../config/policy.ts";
import { effectOf } from "../decision.ts";

/** The labels of a server's tools, by pattern. */
export type LabelPatterns = Readonly<Record<string, readonly Label[]>>;

/** The annotations of a tool, as its server was last listed. */
export type AnnotationsOf = (server: string, tool: string) => Record<string, unknown> | undefined;

export interface ToolLabelsOptions<Server extends { policy?: ServerPolicy | undefined }> {
  servers: ReadonlyMap<string, Server>;
  /** What the server catalog says of a server. */
  fromCatalog: ((server: Server) => Promise<LabelPatterns | undefined>) | undefined;
  annotationsOf: AnnotationsOf;
  /** The own names of a server's tools, as it was last listed. */
  toolsOf: (server: string) => readonly string[];
}

interface Found {
  annotations: Record<string, unknown> | undefined;
  labels: ReadonlySet<Label>;
}

const none: ReadonlySet<Label> = new Set();

export class ToolLabels<Server extends { policy?: ServerPolicy | undefined }> {
  readonly #options: ToolLabelsOptions<Server>;
  /** What the catalog says. A changed entry is another object. */
  readonly #catalog = new WeakMap<Server, LabelPatterns>();
  /** Labels that were found, with the annotations that they were found for. */
  readonly #known = new WeakMap<Server, Map<string, Found>>();

  constructor(options: ToolLabelsOptions<Server>) {
    this.#options = options;
  }

  /** Reads what the catalog says of a server, before its labels are asked for. Undefined if that is known. */
  load(server: string): Promise<void> | undefined {
    const entry = this.#options.servers.get(server);
    return !entry || this.#catalog.has(entry) ? undefined : this.#load(entry);
  }

  async #load(entry: Server): Promise<void> {
    this.#catalog.set(entry, (await this.#options.fromCatalog?.(entry)) ?? {});
  }

  of(server: string, tool: string): ReadonlySet<Label> {
    const entry = this.#options.servers.get(server);
    if (!entry) return none;
    const annotations = this.#options.annotationsOf(server, tool);
    const known = this.#known.getOrInsertComputed(entry, () => new Map());
    const found = known.get(tool);
    if (found && found.annotations === annotations) return found.labels;
    const labels = this.#labelsOf(entry, tool, annotations);
    if (this.#catalog.has(entry)) known.set(tool, { annotations, labels });
    return labels;
  }

  #labelsOf(entry: Server, tool: string, annotations: Found["annotations"]): ReadonlySet<Label> {
    const { labels = [], addedLabels = [] } = entry.policy ?? {};
    const own =
      mostExact(labels, tool) ?? mostExact([lineOf(this.#catalog.get(entry) ?? {})], tool) ?? labelsStated(annotations);
    const added = addedLabels.flatMap((line) => mostExact([line], tool) ?? []);
    return new Set([...own, ...added]);
  }

  /** The labels of everything that a server has: of its resources and prompts too. An annotation of one tool counts for all of it. */
  ofAll(server: string): ReadonlySet<Label> {
    const entry = this.#options.servers.get(server);
    if (!entry) return none;
    const { labels = [], addedLabels = [] } = entry.policy ?? {};
    const isWhole = labels.some((line) => line.labels.some(({ pattern }) => pattern === "*"));
    const lines = [...labels, ...(isWhole ? [] : [lineOf(this.#catalog.get(entry) ?? {})]), ...addedLabels];
    const configured = lines.flatMap((line) => line.labels.flatMap((each) => each.labels));
    const ofTools = this.#options.toolsOf(server).flatMap((tool) => [...this.of(server, tool)]);
    return new Set([...configured, ...ofTools]);
  }
}

function lineOf(patterns: LabelPatterns): LabelLine {
  return { labels: Object.entries(patterns).map(([pattern, labels]) => ({ pattern, labels })) };
}

/** The labels of the most exact pattern of the first line that has one for the tool. */
function mostExact(lines: readonly LabelLine[], tool: string): readonly Label[] | undefined {
  for (const { labels } of lines) {
    const [found] = labels
      .filter(({ pattern }) => matches(pattern, tool))
      .sort((a, b) => exactness(b.pattern) - exactness(a.pattern));
    if (found) return found.labels;
  }
  return undefined;
}

/** A tool that says that it deals with an open world reads what strangers wrote, or writes where others can see it. */
function labelsStated(annotations: Record<string, unknown> | undefined): readonly Label[] {
  if (annotations?.["openWorldHint"] !== true) return [];
  return effectOf(annotations) === "reads" ? ["untrusted"] : ["public"];
}
