/** Decides which tools of a list pass and which are held, by comparing them with the definitions that were accepted. */
import { megabyte } from "../../base/units.ts";
import { definitionChanges } from "./changes.ts";
import { type AcceptedDefinition, acceptedNow, fingerprintOf, type NamedDefinition } from "./definition.ts";
import type { LockedServer } from "./lock-file.ts";
import { type LikeName, likeNames, skeletonOf } from "./look-alike.ts";
import type { HeldDefinition, ServerRecord } from "./record.ts";
import { saysTheSame } from "./text-change.ts";

/** Vanished tools with the same description or the same arguments that a new tool is compared with. */
const maxFormerTools = 10;

/**
 * Characters at the beginning of a description by which such tools are found. Comparing whole descriptions of a long list would be slow.
 */
const maxKeyChars = 500;

/**
 * Characters of the accepted definitions of tools that a server no longer lists. Beyond it, the texts that were accepted last are forgotten. Their
 * fingerprints stay.
 */
const maxVanishedChars = 500_000;

/**
 * Accepted tools of one server, including tools that it no longer lists. Beyond this number, new tools are held and none is forgotten.
 * Lists of tools are shorter.
 */
const maxAcceptedTools = 10_000;

/** Characters of the names of these tools. The names in a list have fewer. */
const maxAcceptedNameChars = megabyte;

export interface Listed {
  /** In the order of the list. A name may be there twice. */
  tools: readonly NamedDefinition[];
  entry: string;
  version: string | undefined;
  /** Whether the tool can be in the list. A door may hide some tools. */
  isInView: (tool: string) => boolean;
  /** The tools of other servers with which a name could be confused, by the skeleton of `server.tool`. */
  others: ReadonlyMap<string, string>;
}

export interface Judgement {
  /** The updated record. */
  record: ServerRecord;
  /** The held tools of the list, by name. */
  held: Map<string, HeldDefinition>;
  /** Tools that are new and pass. */
  added: NamedDefinition[];
}

/** `locked` is what the lock file has for the server. A tool passes if both the lock file and the record accept it, as far as they know it. */
export function judged(
  server: string,
  whole: Listed,
  before: ServerRecord | undefined,
  locked: LockedServer | undefined,
): Judgement {
  const { entry, version } = whole;
  const { tools, twice } = eachOnce(whole.tools);
  const listed: Listed = { ...whole, tools };
  const isFirst = !before && !locked;
  const record: ServerRecord = {
    server,
    entry: before?.entry ?? entry,
    version: before ? before.version : version,
    accepted: new Map(before?.accepted),
    held: new Map([...(before?.held ?? [])].filter(([name]) => !listed.isInView(name))),
    ...(before?.isLost ? { isLost: true } : {}),
  };
  const held = new Map<string, HeldDefinition>();
  const added: NamedDefinition[] = [];
  const seen = new Map(listed.tools.map((tool) => [tool.name, tool]));
  // No tool of a first list can be taken for an accepted one.
  const scene = { ...sceneOf(server, listed, seen, record, locked), twice: isFirst ? new Set<string>() : twice };
  for (const tool of listed.tools) {
    const { why, former } = findings(tool, scene);
    if (why.length > 0) held.set(tool.name, { ...tool, why, ...(former === undefined ? {} : { former }) });
  }
  for (const tool of seen.values()) {
    if (held.has(tool.name)) continue;
    const known = record.accepted.get(tool.name);
    const expected = locked?.tools.get(tool.name) ?? known?.fingerprint;
    if (expected === undefined && !isFirst) added.push(tool);
    // A harmless rewording does not replace the accepted text, so the next change is compared with the accepted text again.
    const now = acceptedNow(tool);
    const isAccepted = !known || expected === tool.fingerprint;
    const replaced = known?.replaced === undefined ? {} : { replaced: known.replaced };
    record.accepted.set(tool.name, isAccepted ? { ...now, ...replaced } : { ...known, labels: now.labels });
  }
  for (const [name, each] of held) record.held.set(name, each);
  forgetTexts(record.accepted, scene.vanished);
  if (record.held.size > 0) record.heldFrom = { entry, version };
  if (held.size === 0 && record.held.size === 0) Object.assign(record, { entry, version });
  return { record, held, added };
}

/** One tool of each name. If a name has several definitions, the fingerprint covers all of them. */
function eachOnce(tools: readonly NamedDefinition[]): { tools: NamedDefinition[]; twice: ReadonlySet<string> } {
  const all = Map.groupBy(tools, ({ name }) => name);
  const twice = new Set<string>();
  const once = [...all.values()].map((same) => {
    const fingerprints = new Set(same.map(({ fingerprint }) => fingerprint));
    const last = same.at(-1)!;
    if (fingerprints.size === 1) return last;
    twice.add(last.name);
    const labels = [...new Set(same.flatMap((tool) => acceptedNow(tool).labels))];
    return { ...last, fingerprint: fingerprintOf([...fingerprints].sort()), labels };
  });
  return { tools: once, twice };
}

/** The latest accepted texts are dropped first, so that new tools cannot push out older ones. */
function forgetTexts(accepted: Map<string, AcceptedDefinition>, vanished: readonly AcceptedDefinition[]): void {
  let chars = 0;
  for (const { name, fingerprint, definition, labels } of vanished) {
    chars += definition ? JSON.stringify(definition).length : 0;
    if (definition && chars > maxVanishedChars) accepted.set(name, { name, fingerprint, labels });
  }
}

interface Scene {
  seen: ReadonlyMap<string, NamedDefinition>;
  record: ServerRecord;
  locked: LockedServer | undefined;
  /** Accepted tools by their fingerprint. */
  byFingerprint: ReadonlyMap<string, string>;
  /** Accepted tools that the server no longer lists. */
  vanished: readonly AcceptedDefinition[];
  formerly: FormerTools;
  /** The first tool with each skeleton: accepted tools come first, and of new ones those in plain letters. */
  bySkeleton: ReadonlyMap<string, string>;
  server: string;
  others: ReadonlyMap<string, string>;
  twice: ReadonlySet<string>;
  /** The accepted names that new ones could be taken for. */
  like: ReadonlyMap<string, LikeName>;
  /** How many tools may still be accepted without a person, and how many characters their names may have. */
  room: { tools: number; chars: number };
}

function sceneOf(
  server: string,
  { isInView, others }: Omit<Listed, "tools">,
  seen: ReadonlyMap<string, NamedDefinition>,
  record: ServerRecord,
  locked: LockedServer | undefined,
): Omit<Scene, "twice"> {
  const accepted = [...record.accepted.values()];
  const vanished = accepted.filter(({ name }) => !seen.has(name) && isInView(name));
  const names = new Set([...record.accepted.keys(), ...(locked?.tools.keys() ?? [])]);
  const fresh = [...seen.keys()].filter((name) => !names.has(name));
  const chars = names.values().reduce((sum, name) => sum + name.length, 0);
  const room = { tools: maxAcceptedTools - names.size, chars: maxAcceptedNameChars - chars };
  const isPlain = ({ name }: NamedDefinition) => /^[\x20-\x7e]*$/.test(name);
  const isAccepted = ({ name }: NamedDefinition) => names.has(name);
  const ranked = [...seen.values()].sort((a, b) => rank(a) - rank(b));
  function rank(tool: NamedDefinition): number {
    return isAccepted(tool) ? 0 : isPlain(tool) ? 1 : 2;
  }
  const bySkeleton = new Map<string, string>();
  for (const { name } of ranked) {
    const skeleton = skeletonOf(name);
    if (!bySkeleton.has(skeleton)) bySkeleton.set(skeleton, name);
  }
  return {
    server,
    seen,
    record,
    locked,
    others,
    byFingerprint: new Map(accepted.map(({ fingerprint, name }) => [fingerprint, name])),
    vanished,
    formerly: new FormerTools(vanished),
    bySkeleton,
    like: room.tools > 0 && room.chars > 0 ? likeNames(fresh, names) : new Map(),
    room,
  };
}

/** Servers read their definitions when they start, and one that runs does not see another program. */
const asBefore = "it is as before the change that was accepted, so the server may still run its earlier program";

type Findings = Pick<HeldDefinition, "why" | "former">;

/** The reasons to hold a tool. Empty if it passes. */
function findings(tool: NamedDefinition, scene: Scene): Findings {
  const { name, fingerprint } = tool;
  const { record, locked, byFingerprint } = scene;
  const known = record.accepted.get(name);
  const inFile = locked?.tools.get(name);
  if (scene.twice.has(name) && (inFile ?? known?.fingerprint) !== fingerprint) {
    return { why: ["the server lists two tools of this name, with different definitions"] };
  }
  if (known === undefined && inFile === undefined) return findingsOfNew(tool, scene);
  const lost = known ? lostLabels(known, tool) : [];
  const isAccepted = known === undefined || known.fingerprint === fingerprint;
  if (isAccepted && (inFile === undefined || inFile === fingerprint)) return { why: lost };
  const other = byFingerprint.get(fingerprint);
  const moved = other !== undefined && other !== name ? [`it has the definition of "${other}" now`] : [];
  const isKnown =
    known !== undefined && (inFile === undefined || inFile === fingerprint || inFile === known.fingerprint);
  if (!isKnown) {
    return { why: [...moved, "it differs from the lock file, and the accepted text is not on this machine", ...lost] };
  }
  if (!known.definition)
    return { why: [...moved, "it differs from the accepted definition, whose text is no longer kept", ...lost] };
  const changes = definitionChanges(known.definition, tool.definition);
  // A way back that needs no person is no reason to hold the tool.
  if (known.replaced === fingerprint && changes.length > 0) return { why: [asBefore, ...lost] };
  return { why: [...moved, ...changes, ...lost] };
}

/** The reasons to hold a tool that has lost labels of its accepted definition. A label is a promise about the tool's data. */
function lostLabels({ labels }: AcceptedDefinition, tool: NamedDefinition): string[] {
  const { labels: stated } = acceptedNow(tool);
  return labels
    .filter((label) => !stated.includes(label))
    .map((label) => `its definition no longer says that it is ${label}`);
}

function findingsOfNew(tool: NamedDefinition, scene: Scene): Findings {
  const { name, definition } = tool;
  const { record, room } = scene;
  if (record.isLost) return { why: ["the record of accepted definitions is damaged, so it may have changed"] };
  const twin = scene.bySkeleton.get(skeletonOf(name));
  if (twin !== undefined && twin !== name) return { why: [`its name looks like "${twin}"`] };
  const other = scene.others.get(skeletonOf(`${scene.server}.${name}`));
  if (other !== undefined) return { why: [`its name looks like ${other}`] };
  const like = scene.like.get(name);
  const said = like && record.accepted.get(like.name)?.definition?.description;
  const isCopy = said !== undefined && said !== "" && saysTheSame(said, definition.description);
  if (like && (!like.isPlural || isCopy)) return { why: [`its name is nearly "${like.name}"`] };
  const former = scene.formerly.of(tool).find((each) => isRenamed(each, tool))?.name;
  if (former !== undefined) return { why: [`it is nearly "${former}", which the server no longer lists`], former };
  room.tools -= 1;
  room.chars -= name.length;
  if (room.tools >= 0 && room.chars >= 0) return { why: [] };
  return { why: ["the server has listed too many tools by now, and no new ones are accepted without a person"] };
}

/** Finds the vanished tools that a new one could be: those with the same description or the same arguments. */
class FormerTools {
  readonly #byKey = new Map<string, NamedDefinition[]>();

  constructor(vanished: readonly AcceptedDefinition[]) {
    for (const { name, fingerprint, definition } of vanished) {
      if (!definition) continue;
      const tool = { name, fingerprint, definition };
      for (const key of keysOf(tool))
        this.#byKey.set(key, [...(this.#byKey.get(key) ?? []), tool].slice(0, maxFormerTools));
    }
  }

  of(tool: NamedDefinition): NamedDefinition[] {
    return this.#byKey.size === 0 ? [] : keysOf(tool).flatMap((key) => this.#byKey.get(key) ?? []);
  }
}

/** Many tools have the same short texts and empty schemas. */
function keysOf({ definition: { description, inputSchema } }: NamedDefinition): string[] {
  const letters = description
    .slice(0, maxKeyChars)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "");
  const hasArguments = Object.keys(Object(inputSchema["properties"])).length > 0;
  return [
    ...(letters === "" ? [] : [`text ${letters}`]),
    ...(hasArguments ? [`schema ${JSON.stringify(inputSchema)}`] : []),
  ];
}

/** Whether a new tool has nearly the same texts as a vanished one, or fewer. Tools with hardly any text are not compared. */
function isRenamed({ definition: before }: NamedDefinition, { definition: now }: NamedDefinition): boolean {
  const says = before.description.length > 0 || Object.keys(Object(before.inputSchema["properties"])).length > 0;
  const { title: _, annotations: __, ...old } = before;
  const { title: ___, annotations: ____, ...rest } = now;
  const description = now.description === "" ? before.description : now.description;
  return says && definitionChanges(old, { ...rest, description }).length === 0;
}
