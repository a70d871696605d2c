/** The labels of tools. The config decides first, then the server catalog, then the rules about the server's own definitions. */
import { exactness, matches } from "../../config/pattern.ts";
import { labels as allLabels, type Label, type LabelLine, type ServerPolicy } from "../../config/policy.ts";
import { type LabelledDefinition, type LabelReason, labelsByRules, statedLabels } from "./label-rules.ts";

/** The labels of a server's tools, by pattern. */
export type LabelPatterns = Readonly<Record<string, readonly Label[]>>;

/** A tool from the server's last list, with its labels, including lost labels that no person has reviewed. */
export type StatingTool = LabelledDefinition & { edit?: string | undefined; labels?: readonly Label[] | undefined };

type LabelledServer = { policy?: ServerPolicy | undefined; definitions?: { mode: string } | undefined };

export interface ToolLabelsOptions<Server extends LabelledServer> {
  servers: ReadonlyMap<string, Server>;
  /** Returns the labels of a server in the server catalog. */
  fromCatalog: ((server: Server) => Promise<LabelPatterns | undefined>) | undefined;
  /** The own names of a server's tools, as it was last listed. */
  toolsOf: (server: string) => readonly string[];
  /** Undefined if the server did not list the tool. */
  listed: (server: string, tool: string) => StatingTool | undefined;
}

interface Found {
  tool: StatingTool | undefined;
  /** The labels that the rules have given the tool, in this process. */
  stated: readonly Label[];
  labels: ReadonlySet<Label>;
  /** Whether the config or the server catalog says that the tool is private. */
  isSaidPrivate: boolean;
  /** Whether the catalog was asked. */
  isWhole: boolean;
}

const none: ReadonlySet<Label> = new Set();

export class ToolLabels<Server extends LabelledServer> {
  readonly #options: ToolLabelsOptions<Server>;
  /** The labels in the catalog. A changed entry is another object. */
  readonly #catalog = new WeakMap<Server, LabelPatterns>();
  /** Labels that were found, with the listed tools that they were found for. */
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
    return this.#find(server, tool)?.labels ?? none;
  }

  /** Whether the config or the server catalog says that a tool is private. The rules only guess. */
  isSaidPrivate(server: string, tool: string): boolean {
    return this.#find(server, tool)?.isSaidPrivate === true;
  }

  #find(server: string, tool: string): Found | undefined {
    const entry = this.#options.servers.get(server);
    if (!entry) return undefined;
    const listed = this.#options.listed(server, tool);
    const known = this.#known.getOrInsertComputed(entry, () => new Map());
    const before = known.get(tool);
    if (before?.isWhole && before.tool === listed) return before;
    const stated = statedNow(entry, tool, listed, before?.stated ?? []);
    const { own, added } = this.#given(entry, tool);
    const more = added.flatMap(({ labels }) => labels);
    const found: Found = {
      tool: listed,
      stated,
      labels: new Set([...(own?.labels ?? stated), ...more]),
      isSaidPrivate: [...(own?.labels ?? []), ...more].includes("private"),
      isWhole: this.#catalog.has(entry),
    };
    known.set(tool, found);
    return found;
  }

  /** What the config and the server catalog say about a tool. */
  #given(entry: Server, tool: string): { own: Given | undefined; added: Given[] } {
    const { labels = [], addedLabels = [] } = entry.policy ?? {};
    const own = mostExact(labels, tool) ?? mostExact([lineOf(this.#catalog.get(entry) ?? {})], tool);
    return { own, added: addedLabels.flatMap((line) => mostExact([line], tool) ?? []) };
  }

  /** The labels of a tool with their reasons, as ends of sentences about the tool. */
  async explain(server: string, tool: string): Promise<LabelReason[]> {
    await this.load(server);
    const entry = this.#options.servers.get(server);
    if (!entry) return [];
    const { own, added } = this.#given(entry, tool);
    const given = [...(own ? [own] : []), ...added];
    const listed = this.#options.listed(server, tool);
    // A reason would show the words of an edited tool that the config hides.
    const rules = listed?.edit === undefined ? labelsByRules(tool, listed ?? {}) : [];
    return allLabels
      .filter((label) => this.of(server, tool).has(label))
      .map((label) => {
        const why =
          given.find(({ labels }) => labels.includes(label))?.why ??
          rules.find((each) => each.label === label)?.why ??
          "what its server said about it";
        return { label, why };
      });
  }

  /**
   * Whether a call of the tool would give data of other servers to a stranger. This is so if neither the config nor the catalog describes
   * the server, unless the server keeps private data of the user and the tool adds to it. `tool` is undefined for requests of another kind.
   */
  isStrange(server: string, tool: string | undefined): boolean {
    const entry = this.#options.servers.get(server);
    if (!entry) return true;
    const { labels = [], addedLabels = [] } = entry.policy ?? {};
    if (labels.length + addedLabels.length > 0 || Object.keys(this.#catalog.get(entry) ?? {}).length > 0) return false;
    if (tool === undefined || !storesByName(tool)) return true;
    const isKept = (other: string) => other !== tool && !storesByName(other) && this.of(server, other).has("private");
    return !this.#options.toolsOf(server).some(isKept);
  }

  /**
   * The labels of a whole server, including its resources and prompts. A label of one tool counts for the whole server. `public` is an
   * exception, because the place where a tool sends its arguments says nothing about a resource: it counts only if the config says so, if
   * the catalog says so for all tools, or if the rules found a tool that reaches any address.
   */
  ofAll(server: string): ReadonlySet<Label> {
    const entry = this.#options.servers.get(server);
    if (!entry) return none;
    const { labels = [], addedLabels = [] } = entry.policy ?? {};
    const isWhole = labels.some((line) => line.labels.some(({ pattern }) => pattern === "*"));
    const configured = [...labels, ...addedLabels].flatMap((line) => line.labels.flatMap((each) => each.labels));
    const catalog = isWhole ? [] : Object.entries(this.#catalog.get(entry) ?? {});
    const ofCatalog = catalog.flatMap(([pattern, each]) => (pattern === "*" ? each : withoutPublic(each)));
    // Removed tools of the server count too.
    const tools = new Set([...this.#options.toolsOf(server), ...(this.#known.get(entry)?.keys() ?? [])]);
    const ofTools = [...tools].flatMap((tool) => {
      const all = [...this.of(server, tool)];
      return this.#reaches(entry, server, tool) ? all : withoutPublic(all);
    });
    return new Set([...configured, ...ofCatalog, ...ofTools]);
  }

  /** A label that the tool has lost unseen counts, whatever its reason was. */
  #reaches(entry: Server, server: string, tool: string): boolean {
    if (this.#given(entry, tool).own) return false;
    const reasons = labelsByRules(tool, this.#options.listed(server, tool) ?? {});
    return reasons.find(({ label }) => label === "public")?.reaches ?? true;
  }
}

const storingVerbs =
  /^(?:add|append|book|copy|create|delete|edit|file|insert|log|mark|move|note|post|put|record|remember|remove|rename|reply|save|schedule|send|set|update|upsert|write)(?![a-z])/i;

/** Whether the name begins with a word for keeping or sending something. */
function storesByName(tool: string): boolean {
  return storingVerbs.test(tool);
}
const withoutPublic = (all: readonly Label[]) => all.filter((label) => label !== "public");

function lineOf(patterns: LabelPatterns): LabelLine {
  return {
    labels: Object.entries(patterns).map(([pattern, labels]) => ({ pattern, labels })),
    line: "the catalog of well-known servers",
  };
}

interface Given {
  labels: readonly Label[];
  why: string;
}

/** The labels of the most exact pattern, from the first line with a pattern for the tool. */
function mostExact(lines: readonly LabelLine[], tool: string): Given | undefined {
  for (const { labels, line } of lines) {
    const [found] = labels
      .filter(({ pattern }) => matches(pattern, tool))
      .sort((a, b) => exactness(b.pattern) - exactness(a.pattern));
    if (found) return { labels: found.labels, why: `${line} says so` };
  }
  return undefined;
}

/** A server cannot remove a label by listing a tool without it. With `lock`, the label stays until a person has accepted its loss. */
function statedNow(
  entry: LabelledServer,
  name: string,
  tool: StatingTool | undefined,
  before: readonly Label[],
): readonly Label[] {
  // A tool that is not listed has a name. What is stored may be older than the rules.
  const now = [...(tool?.labels ?? []), ...statedLabels(name, tool ?? {})];
  return [...new Set(tool && entry.definitions?.mode === "lock" ? now : [...before, ...now])];
}
