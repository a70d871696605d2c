/**
 * The rules that label tools without labels in the config and in the server catalog. They read a tool's name, description, arguments and
 * annotations. An annotation can make a tool count as harmless only if its name and description say nothing else.
 */
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { type Label, labels } from "../../config/policy.ts";
import { effectOf } from "../decision.ts";
import { firstSentence, stemOf, stemsOf, wordsOf } from "./label-words.ts";

/** Arguments of a tool that the rules read. */
const maxRuleArguments = 100;

/** The parts of a definition that the rules read, beside the tool's own name. */
export interface LabelledDefinition {
  description?: string | undefined;
  inputSchema?: JsonObject | undefined;
  annotations?: Record<string, unknown> | undefined;
}

export interface LabelReason {
  label: Label;
  /** The end of a sentence about the tool. */
  why: string;
  /** Whether a public tool sends data to any address, or may do so. */
  reaches?: boolean;
}

/** The words of the rules. They are published in docs/flow.md, and a test compares the two. */
export const labelWords = {
  /** Verbs of tools that give something to others. */
  sends:
    "send post mail email publish tweet share comment reply notify message broadcast invite forward submit announce upload push sms pay transfer " +
    "donate deliver relay dispatch deploy navigate goto type",
  /** Verbs of tools that return what is there. */
  reads:
    "get list read search find describe show view lookup count fetch retrieve query select scan download export inspect browse check look peek " +
    "poll watch analyze aggregate explain extract scrape crawl discover whoami tree summarize recall open ask research",
  /** Verbs of tools that give something to a place. Others see it if the place is one of `seen`. */
  writes:
    "create add make new write put insert update edit patch append change merge generate schedule draft fill drop set register save handle",
  /** Verbs of tools that return little more than that something was done. */
  acts:
    "modify rename move copy delete remove clear reset close stop start launch pause resume restore cancel kill terminate abort install uninstall " +
    "upgrade enable disable toggle configure connect disconnect apply rebase assign mark lock unlock resize restart reload setup cleanup rollback " +
    "scale trigger finalize hide highlight emulate click press drag hover scroll tap wait",
  /** Places that others see. */
  seen:
    "issue comment review message mail email post tweet reply thread discussion gist repository repo pull invitation event link feedback " +
    "announcement notification ticket page site website wiki webhook dispute form field element dialog story payment transfer bug claim complaint",
  /** Things that strangers write. */
  foreign:
    "web page site website mail email inbox message thread comment issue ticket review post tweet feed news result article reply discussion " +
    "request log transcript snapshot screenshot html markdown console notification profile attachment dataset repository repo package paper " +
    "forum community event crawl scrape history",
  /** Things of the user that may contain text of strangers. */
  mixed:
    "file directory folder drive mail email inbox message thread memory note graph node entity observation record row sql value " +
    "document page block issue ticket customer contact lead deal opportunity engagement dispute attachment object calendar event output photo transcript log commit code crm",
  /** Things that are the user's own. */
  own:
    "account user profile invoice payment balance subscription price coupon order table schema collection index shard secret env environment key token credential " +
    "config configuration project organization team workspace queue worker deployment notebook cluster pod namespace resource group zone domain route " +
    "cron branch bucket channel storage usage dsn property association workflow block database tenant member employee patient location salary " +
    "bank card process transaction session migration function analytics advisor connection datasource source machine app application ledger replay policy binding",
  /** A tool about a browser or the web reads pages: its messages, keys and files are not the user's. */
  pages:
    "web website webpage browser html dom element tab console network heapsnapshot screenshot snapshot internet http",
  /** A tool about documentation reads what its vendor publishes. */
  manuals: "documentation docs doc manual reference guidance guide",
  /** Stores, whose rows strangers may have written. */
  stores: "database collection table index datasource schema",
  /** Arguments that are web addresses, or a part of a request to one. */
  addresses: "url uri link href website webhook endpoint headers useragent",
  /** Words before an address, as in `page_url`. Other addresses, such as `issue_url`, name a thing in the service. */
  addressOf:
    "web page target site website image source link base webhook callback request remote start seed feed rss repo git download media video audio " +
    "document proxy install redirect api is",
  /** Arguments that always name a recipient. */
  recipients: "recipient cc bcc attendee invitee phone",
  /** Verbs and objects of tools that run what they are given. */
  runs: "run execute exec evaluate eval invoke start interact",
  codes: "command script code javascript shell terminal bash process snippet program repl function cmd",
} as const;

type List = keyof typeof labelWords;

const lists = Object.keys(labelWords) as List[];

const bitOf = Object.fromEntries(lists.map((list, at) => [list, 1 << at])) as Record<List, number>;

/** The lists that have a stem, as bits, so that each word of a definition is looked up once. */
const listsOf = new Map<string, number>();
for (const list of lists) {
  for (const stem of stemsOf(labelWords[list])) listsOf.set(stem, (listsOf.get(stem) ?? 0) | bitOf[list]);
}

/** A text as words, with their stems and the lists that have them. */
interface Text {
  words: readonly string[];
  stems: readonly string[];
  lists: readonly number[];
}

function textOf(words: readonly string[]): Text {
  const stems = words.map(stemOf);
  return { words, stems, lists: stems.map((stem) => listsOf.get(stem) ?? 0) };
}

const isIn = (stem: string, list: List): boolean => ((listsOf.get(stem) ?? 0) & bitOf[list]) !== 0;

const maskOf = (...named: List[]): number => named.reduce((all, list) => all | bitOf[list], 0);

const known = new WeakMap<LabelledDefinition, { name: string; reasons: readonly LabelReason[] }>();

/** The labels that the rules give a tool, each with the first reason. Each definition is read once. */
export function labelsByRules(name: string, definition: LabelledDefinition): readonly LabelReason[] {
  const found = known.get(definition);
  if (found?.name === name) return found.reasons;
  const all = reasonsFor(read(name, definition));
  const reasons = labels.flatMap((label) => all.find((each) => each.label === label) ?? []);
  known.set(definition, { name, reasons });
  return reasons;
}

/** The same, without the reasons. */
export function statedLabels(name: string, definition: LabelledDefinition): Label[] {
  return labelsByRules(name, definition).map(({ label }) => label);
}

/** The kind of action of a tool. */
type Deed = "sends" | "writes" | "acts" | "reads";

interface Argument extends Text {
  name: string;
  schema: JsonObject;
}

/** The facts that the rules read from a definition. */
interface Reading {
  name: Text;
  said: Text;
  args: readonly Argument[];
  /** By its name, or else by its description. */
  deed: Deed | undefined;
  /** The verb in its name, if that is one that sends. */
  sends: string | undefined;
  /** The first verb of its description. */
  saidDeed: Deed | undefined;
  /** Whether it can be given data at all. */
  takesData: boolean;
  /** The argument with the code that the tool runs. */
  runs: string | undefined;
  /** The argument that is a web address. */
  address: string | undefined;
  isOfPages: boolean;
  isManual: boolean;
  annotations: Record<string, unknown> | undefined;
}

function read(written: string, { description = "", inputSchema, annotations }: LabelledDefinition): Reading {
  const name = textOf(wordsOf(written));
  const said = textOf(firstSentence(description));
  const args = argumentsOf(inputSchema);
  const inName = deedOf(name, { isName: true });
  const saidDeed = deedOf(startOf(said, 6))?.deed;
  const deed = inName?.deed ?? saidDeed;
  const runs = runsIn(name, startOf(said, 12), args);
  const address = args.find(isAddress)?.name;
  const required = inputSchema?.["required"];
  const needsAddress = address !== undefined && Array.isArray(required) && required.includes(address);
  const isAbout = (list: List) => wordIn([name, said], list) !== undefined;
  return {
    name,
    said,
    args,
    deed,
    sends: inName?.deed === "sends" ? inName.word : undefined,
    saidDeed,
    takesData: takesData(inputSchema, args),
    runs,
    address,
    isOfPages:
      isAbout("pages") || (runs !== undefined && said.stems.includes("pag")) || (needsAddress && deed !== "writes"),
    isManual: isAbout("manuals"),
    annotations,
  };
}

/** All reasons; the first one of each label is shown. */
function reasonsFor(reading: Reading): LabelReason[] {
  const all: LabelReason[] = [];
  const give = (label: Label, why: string | undefined, reaches?: boolean) => {
    if (why !== undefined) all.push({ label, why, ...(reaches === undefined ? {} : { reaches }) });
  };
  const reachesAny = reading.address !== undefined || openness(reading)?.isSaid === true;
  if (reading.takesData) for (const why of publicReasons(reading)) give("public", why, reachesAny);
  const { name, said, args, deed, saidDeed, runs, address, isOfPages, isManual } = reading;
  give("untrusted", runs && `it runs "${runs}"`);
  if (!isOfPages) give("private", runs && `it runs "${runs}"`);
  if (isOfPages || saidDeed === "reads" || !isDone(deed)) give("untrusted", address && addressWhy(address));
  const returns = deed === "reads" || deed === undefined || runs !== undefined || (deed === "sends" && isOfPages);
  const strange = nounIn([name, said], "foreign", "mixed");
  const given = args.filter(isName);
  const own =
    nounIn([name, said], "mixed", "own") ?? (deed === "reads" ? nounIn([name, said, ...given], "own") : undefined);
  if (returns && !isManual) {
    give("untrusted", strange && `it returns "${strange}"`);
    if (!isOfPages) {
      give("private", own && `it returns "${own}"`);
      const yours = said.words.find((word) => /^(?:your|my|authenticated)$/.test(word));
      give("private", yours && `its description says "${yours}"`);
      const store = searchesStore(reading, given);
      give("untrusted", store && `it searches "${store}"`);
      const path =
        deed === "reads" ? args.find((each) => /^(?:file)?_?paths?$|^directory$/i.test(each.name)) : undefined;
      for (const label of ["untrusted", "private"] as const)
        give(label, path && `its argument "${path.name}" is a path`);
    }
  }
  const hint = openness(reading);
  if (!hint) return all;
  const isKnown = strange !== undefined || own !== undefined || isManual;
  const effect = effectOf(reading.annotations);
  const isRead = deed === "reads" || (deed === undefined && effect === "reads");
  if (isRead && (hint.isSaid ? own === undefined || isManual : !isKnown)) give("untrusted", hint.why);
  if (!reading.takesData || effect === "reads" || (deed === "reads" && effect === "unstated")) return all;
  if (hint.isSaid ? deed !== "writes" || own === undefined : deed === undefined && !isKnown) {
    give("public", hint.why, hint.isSaid);
  }
  return all;
}

function publicReasons({ name, said, args, deed, sends, runs, address }: Reading): (string | undefined)[] {
  const recipient = recipientIn(args);
  return [
    runs && `it runs "${runs}"`,
    sends && `its name says "${sends}"`,
    deed === "writes" ? seenIn(name, said) : undefined,
    deed === "acts" ? undefined : sendsIn(said, deed),
    address && addressWhy(address),
    recipient && `its argument "${recipient}" says who gets it`,
  ];
}

const addressWhy = (argument: string) => `its argument "${argument}" is a web address`;

const isDone = (deed: Deed | undefined) => deed === "writes" || deed === "acts";

/** Whether the tool reaches an open world. A missing hint means yes, as in MCP. The tool's own words have precedence. */
function openness({ deed, annotations }: Reading): { isSaid: boolean; why: string } | undefined {
  const hint = annotations?.["openWorldHint"];
  if (hint === false || deed === "acts") return undefined;
  const isSaid = hint !== undefined && hint !== null;
  return {
    isSaid,
    why: isSaid
      ? "its annotations say that its world is open"
      : "nothing says what it deals with, or that its world is closed",
  };
}

const startOf = ({ words, stems, lists: all }: Text, count: number): Text => ({
  words: words.slice(0, count),
  stems: stems.slice(0, count),
  lists: all.slice(0, count),
});

/** The first verb counts, unless a later one says more: `start_search` reads, and `read_and_send` sends. */
function deedOf(text: Text, { isName = false } = {}): { deed: Deed; word: string } | undefined {
  const { words, lists: all } = text;
  let first: { deed: Deed; word: string } | undefined;
  for (const [at, mask] of all.entries()) {
    const word = words[at]!;
    // As in `file_issue`.
    if (isName && at === 0 && word === "file" && ((all[1] ?? 0) & bitOf.seen) !== 0) return { deed: "writes", word };
    if ((mask & verbs) === 0) continue;
    // In names, `scraping` and `posts` are nouns.
    if (isName && word.endsWith("ing")) continue;
    const deed = deeds.find((each) => (mask & bitOf[each]) !== 0)!;
    if (deed === "sends" && !mayBeVerb(text, at)) continue;
    const isJoined = deed === "sends" && /^(?:and|or|then)$/.test(words[at - 1] ?? "");
    const isStarted = deed === "reads" && first?.word === "start";
    const isPosted = deed === "reads" && first?.word === "post" && words[at - 1] === "post";
    if (!first || isJoined || isStarted || isPosted) first = { deed, word };
  }
  return first;
}

const deeds = ["sends", "reads", "writes", "acts"] as const;
const verbs = maskOf(...deeds);

/** Words that are verbs only, and need no article after them. */
const verbsOnly = stemsOf("send publish notify invite submit announce pay deliver navigate donate");

function mayBeVerb({ words, stems }: Text, at: number): boolean {
  const stem = stems[at]!;
  if (verbsOnly.has(stem)) return true;
  if (stem === "forward") return at + 1 < words.length;
  return !words[at]!.endsWith("s") || /^(?:an?|the|your|text|one|this)$/.test(words[at + 1] ?? "");
}

/** The first word of a description is more often a verb than a noun. */
function sendsIn(said: Text, deed: Deed | undefined): string | undefined {
  const count = deed === "reads" || deed === "writes" ? 1 : 4;
  const at = startOf(said, count).lists.findIndex(
    (mask, place) => (mask & bitOf.sends) !== 0 && mayBeVerb(said, place),
  );
  return at < 0 ? undefined : `its description says "${said.words[at]}"`;
}

function seenIn(name: Text, said: Text): string | undefined {
  const inName = wordIn([name], "seen");
  if (inName !== undefined) return `its name says that it writes "${inName}"`;
  const word = wordIn([said], "seen");
  return word === undefined || /^pages?$/.test(word) ? undefined : `its description says that it writes "${word}"`;
}

/** The last word on one of the lists, in the first text that has such a word. */
function wordIn(texts: readonly Text[], ...named: List[]): string | undefined {
  const wanted = maskOf(...named);
  for (const { words, lists: all } of texts) {
    const at = all.findLastIndex((mask) => (mask & wanted) !== 0);
    if (at >= 0) return words[at];
  }
  return undefined;
}

const nouns = maskOf("foreign", "mixed", "own");

/** Like `wordIn`, but a later text counts only if earlier texts do not say what the tool deals with. */
function nounIn(texts: readonly Text[], ...named: List[]): string | undefined {
  const first = texts.find((text) => text.lists.some((mask) => (mask & nouns) !== 0));
  return first && wordIn([first], ...named);
}

function searchesStore({ name, said }: Reading, given: readonly Text[]): string | undefined {
  const searches = [...name.words, ...said.words.slice(0, 6)].some((word) =>
    /^(?:quer|find|aggregat|select|export|search|execut)/.test(word),
  );
  return searches ? wordIn([name, said, ...given], "stores") : undefined;
}

function argumentsOf(schema: JsonObject | undefined): Argument[] {
  const properties = schema?.["properties"];
  if (!isObject(properties)) return [];
  return Object.entries(properties)
    .slice(0, maxRuleArguments)
    .map(([name, each]) => ({ name, ...textOf(wordsOf(name)), schema: isObject(each) ? each : {} }));
}

/** Whether the argument names one thing, such as `table` and `project_id`. */
const isName = ({ words }: Argument) =>
  words.length === 1 || (words.length === 2 && /^(?:id|name|slug|key)s?$/.test(words[1]!));

/** Whether the arguments can carry data. Numbers and choices cannot. */
function takesData(schema: JsonObject | undefined, args: readonly Argument[]): boolean {
  if (args.length === 0) return !isObject(schema?.["properties"]) && schema?.["additionalProperties"] !== false;
  return args.some(({ schema: { type, enum: choices } }) => {
    const isSmall = typeof type === "string" && /^(?:number|integer|boolean|null)$/.test(type);
    return !isSmall && choices === undefined;
  });
}

function isAddress({ stems: all, schema }: Argument): boolean {
  const [first = "", ...others] = all;
  const last = all.at(-1) ?? "";
  if (isIn(all.slice(-2).join(""), "addresses") || last === stemOf("headers")) return true;
  if (isIn(last, "addresses")) return others.length === 0 || isIn(first, "addressOf");
  const { format, description } = schema;
  return format === "uri" || /^(?:\S+ ){0,3}urls?\b/i.test(typeof description === "string" ? description : "");
}

/** The argument that names a recipient. A place counts only if there is also a text to send. */
function recipientIn(args: readonly Argument[]): string | undefined {
  const named = (pattern: RegExp) => args.find(({ name }) => pattern.test(name))?.name;
  const direct = args.find(({ stems: all }) => all.some((stem) => isIn(stem, "recipients")))?.name;
  const hasText = named(/^(?:body|text|message|content|subject)$/i) !== undefined;
  return direct ?? (hasText ? named(/^(?:to|room|(?:channel|chat|thread|user)(?:_?id)?|e?mail)$/i) : undefined);
}

function runsIn(name: Text, said: Text, args: readonly Argument[]): string | undefined {
  const arg = args.find(({ stems: all }) => {
    const last = all.at(-1) ?? "";
    return isIn(last, "codes") || last === "input" || last === "expression";
  });
  if (!arg) return undefined;
  for (const text of [name, said]) {
    if (wordIn([text], "runs") === undefined) continue;
    const code = wordIn([text], "codes");
    if (code !== undefined || (text === name && isIn(arg.stems.at(-1)!, "codes"))) return code ?? arg.name;
  }
  return undefined;
}
