/** The labels of tools: the config decides, then the server catalog, then the rules about what a server says of its tools. */
import { exactness, matches } from "../../config/pattern.ts";
import { labels as allLabels, type Label, type LabelLine, type ServerPolicy } from "../../config/policy.ts";
import { type LabelledDefinition, type LabelReason, labelsByRules, statedLabels } from "./label-rules.ts";

/** The labels of a server's tools, by pattern. */
export type LabelPatterns = Readonly<Record<string, readonly Label[]>>;

/** A tool as its server was last listed, with its labels and those that it has lost unseen. */
export type StatingTool = LabelledDefinition & { edit?: string | undefined; labels?: readonly Label[] | undefined };

type LabelledServer = { policy?: ServerPolicy | undefined; definitions?: { mode: string } | undefined };

export interface ToolLabelsOptions<Server extends LabelledServer> {
  servers: ReadonlyMap<string, Server>;
  /** What the server catalog says of a server. */
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
  /** What the catalog says. A changed entry is another object. */
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

  /** Whether the config or the server catalog says that a tool is private. The rules may only think so. */
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
   * Whether data of other servers in a call of the tool would be given to a stranger: nobody has said anything of the server, and it is
   * not one that keeps private data of the user and is told to add some. `tool` is undefined for requests of another kind.
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
   * The labels of everything that a server has: of its resources and prompts too. A label of one tool counts for all of it, but where a tool
   * sends its arguments says nothing about a resource: `public` counts if the config says so, if the catalog says so of all tools, or if the
   * rules found a tool that reaches any address.
   */
  ofAll(server: string): ReadonlySet<Label> {
    const entry = this.#options.servers.get(server);
    if (!entry) return none;
    const { labels = [], addedLabels = [] } = entry.policy ?? {};
    const isWhole = labels.some((line) => line.labels.some(({ pattern }) => pattern === "*"));
    const configured = [...labels, ...addedLabels].flatMap((line) => line.labels.flatMap((each) => each.labels));
    const catalog = isWhole ? [] : Object.entries(this.#catalog.get(entry) ?? {});
    const ofCatalog = catalog.flatMap(([pattern, each]) => (pattern === "*" ? each : withoutPublic(each)));
    // A tool that the server has taken back counts, too.
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

/** The labels of the most exact pattern of the first line that has one for the tool. */
function mostExact(lines: readonly LabelLine[], tool: string): Given | undefined {
  for (const { labels, line } of lines) {
    const [found] = labels
      .filter(({ pattern }) => matches(pattern, tool))
      .sort((a, b) => exactness(b.pattern) - exactness(a.pattern));
    if (found) return { labels: found.labels, why: `${line} says so` };
  }
  return undefined;
}

/** A server cannot take a label back by listing a tool without it. With `lock`, the list has it until a person has accepted that it is gone. */
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
