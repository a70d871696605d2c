/** Splits text into words and finds their stems. Identifiers are split and accents removed; scripts without spaces become pairs of letters. */
import { stemmer } from "stemmer";

/** Longer runs of letters are not indexed. */
const maxWordLetters = 40;

/** The words of a text in order and in lower case, not stemmed: `createIssue` is `create`, `issue`. */
export function wordsOf(text: string): string[] {
  const lower = spacedLower(text);
  if (onlyAscii.test(lower)) return (lower.match(/[a-z\d]+/g) ?? []).filter((word) => word.length <= maxWordLetters);
  const folded = lower
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .normalize("NFC");
  return (folded.match(/[a-z\d]+|[\p{L}\p{N}]+/gu) ?? []).flatMap((run) => {
    if (run.length > maxWordLetters) return [];
    return unspaced.test(run) ? pairsOf(run) : [run];
  });
}

/** Words with capitals inside, such as the names of products: `GitHub`. */
const compound = /\b[A-Za-z][a-z\d]+(?:[A-Z][a-z\d]*)+\b/g;

/** The text, in which words that are known as one word are in lower case, so that they are not split. */
export function withKnownCompounds(text: string, isKnown: (stem: string) => boolean): string {
  return text.replace(compound, (word) => (isKnown(stemOf(word.toLowerCase())) ? word.toLowerCase() : word));
}

const onlyAscii = /^[\0-\x7f]*$/;

const stems = new Map<string, string>();

/** The stem of a word. It is not always a word itself. */
export function stemOf(word: string): string {
  let stem = stems.get(word);
  if (stem === undefined) {
    stem = /^[a-z]+$/.test(word) ? stemOfForm(irregular.get(word) ?? word) : word;
    if (stems.size >= 100_000) stems.clear();
    stems.set(word, stem);
  }
  return stem;
}

function stemOfForm(word: string): string {
  const singular = word.replace(/ies$/, "y").replace(/([^s])s$/, "$1");
  return apart.has(word) ? word : apart.has(singular) ? singular : stemmer(american(word));
}

/** Words that the stemmer takes for forms of a word with another meaning: `news` for `new`, `customer` for `custom`. */
const apart: ReadonlySet<string> = new Set(
  `news rating setting listing building meaning recording shipping university universe universal organ
  organic general generic business important importance author past experience community animal physical executive objective
  customer marketing direction computer production`.split(/\s+/),
);

/** Forms that the stemmer cannot reduce, each with its base form. */
const irregular: ReadonlyMap<string, string> = new Map(
  `sent:send bought:buy paid:pay wrote:write written:write made:make built:build kept:keep sold:sell spent:spend found:find ran:run
  took:take taken:take gave:give given:give spoke:speak spoken:speak drew:draw drawn:draw chose:choose chosen:choose broke:break
  broken:break hidden:hide met:meet lost:lose held:hold taught:teach thought:think brought:bring began:begin begun:begin shown:show
  seen:see said:say told:tell heard:hear won:win fell:fall flew:fly drove:drive driven:drive ate:eat eaten:eat slept:sleep
  people:person children:child men:man women:woman indices:index matrices:matrix vertices:vertex businesses:business
  analyses:analysis hypotheses:hypothesis`
    .split(/\s+/)
    .map((entry) => entry.split(":") as [string, string]),
);

/** The stems of a table's entry: `sign_in` gives two, separated by a space. */
export function stemsOfEntry(entry: string): string {
  return entry.split("_").map(stemOf).join(" ");
}

/** Scripts without spaces between words. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;

function pairsOf(run: string): string[] {
  const letters = [...run];
  if (letters.length < 3) return [run];
  return letters.slice(1).map((letter, index) => `${letters[index]}${letter}`);
}

/** In lower case, with spaces between the words of identifiers, and without endings such as 's. */
function spacedLower(text: string): string {
  const spaced = /[a-z\d][A-Z]|[A-Z]{2}[a-z]/.test(text)
    ? text.replace(/([a-z\d])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, "$1$2 ")
    : text;
  const lower = spaced.toLowerCase();
  return /['’]/.test(lower) ? lower.replace(/(\w)['’](?:s|re|ve|ll|d|m|t)\b/g, "$1") : lower;
}

/** Turns British spelling into American, which most tools use. */
function american(word: string): string {
  if (word.length < 5) return word;
  return word
    .replace(/(...)is(e[drs]?|ing|ations?)$/, (all, before, end) => (word.length > 7 ? `${before}iz${end}` : all))
    .replace(/(col|fav|behavi|lab|neighb)our/, "$1or")
    .replace(/(cent|met|theat)re(s?)$/, "$1er$2")
    .replace(/(catal|dial)ogue/, "$1og")
    .replace(/ys(?:e[drs]?|ing|[ei]s)$/, "yze");
}

/** Words that say nothing about the tool that is meant. They are searched only if a query has no other words, and indexed only in names. */
export const commonWords: ReadonlySet<string> = new Set(
  `a an and are as at be been being by can could did do does doing done for from get got had has have he her here him his
  how i if in into is it its just let like make may me might more most my need no not of on one only or other our out over
  please she should so some such than that the their them then there these they this those to too up us use used using very
  want was we were what when where which while who whom why will with would you your also any about after all am because
  before between both but during each few further off once own same through under until above again against below down
  help know tell give show look looking look find wish able going im ive ill lets thank thanks hi hello hey kindly tool
  tools information info
  related relating regarding concerning based following specific specifically various several currently provide assist
  something anything everything someone really actually possible available including include`.split(/\s+/),
);

/** Words that many requests have and that rarely decide between tools. They count less. */
export const weakWords: ReadonlySet<string> = new Set(
  `create make add generate use run start keep set try work learn discover explore identify determine ensure understand manage handle
  process perform prepare need plan access current latest recent new best top good great better popular full complete detailed detail
  specific similar different multiple comprehensive professional perfect real personal favorite interesting effective quality high low
  big small large simple easy quick easily quickly main key important relevant related common basic own exact accurate additional extra
  possible certain particular entire whole total first second next last now day way thing type kind number name people person example
  two three list find check display view recommend suggest suggestion advise advice`.split(/\s+/),
);
