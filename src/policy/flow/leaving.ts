/**
 * Finds out whether a call would send private data to others, or anything to a place that a stranger has named. Values are recognised by
 * their words. A value that the program has computed counts as everything that the program has read.
 */
import type { FlowMode, Label } from "../../config/policy.ts";
import { exceededLimit } from "../argument-size.ts";
import { maxComparedChars, maxSoughtLetters, minPieceLetters, minWordLetters, pieceLetters } from "../limits.ts";
import { type DataLabel, type Found, type KnownText, serverOf } from "./known-texts.ts";
import { lettersOf, wordsIn } from "./letters.ts";
import { type DataRecord, linkedRecords, namesRecord } from "./records.ts";
import {
  fileName,
  isFile,
  isMessage,
  isPayee,
  isPerson,
  isPlace,
  piecesOf,
  type Value,
  valuesIn,
  windowsOf,
} from "./sent-values.ts";
import { ProgramReads, type SessionReads } from "./session-reads.ts";

/** Letters of the shortest address, channel or name that is looked for in texts of strangers. */
const minAddressLetters = 3;

/** Characters of the shortest code, such as base64, that counts as encoded data if nobody has shown it. */
const minEncodedChars = 24;

/** Numbers, such as counts, that a call to a chosen place may contain without counting as computed data. */
const maxSentNumbers = 3;

/** Letters of the shortest number, address or code that is data by itself. */
const minCodeLength = 8;

/** Changes between letters and digits in such a code. */
const minCodeLetters = 3;

/** Pieces of the arguments of a call that are compared. */
const maxComparedPieces = 1_000;

/** Why a person is asked before something leaves. */
export interface Leaving {
  /** The end of a sentence about the call. */
  why: string;
  /** The same without the data, for the agent. */
  told: string;
  /** The scope of the answer: the places that the data is sent to, and the sources of the data. */
  key: string;
  reads: SessionReads;
}

export interface LeavingCall {
  server: string;
  tool: string;
  /** Whether the owner of the server is a stranger: see tool-labels.ts. */
  isStrange: () => boolean;
  /** Whether the call may change something. */
  changes: () => boolean;
  /** The tool whose description has the letters. */
  describedIn: (letters: string) => string | undefined;
  args: object;
  labels: ReadonlySet<Label>;
  reads: SessionReads;
  mode: Exclude<FlowMode, "off">;
  /** Returns data that the tool's definition asks for besides its own. */
  asksFor: () => string | undefined;
}

/** Undefined if no person must be asked. */
export function leavingIn(call: LeavingCall): Leaving | undefined {
  const { labels, reads, mode, isStrange, changes } = call;
  const isPublic = labels.has("public");
  if (isOfTwoScripts(call.tool))
    return asked(call, plain("its name mixes letters of two scripts, and looks like another name"), []);
  // A tool that reads pages sends only their addresses, which are checked as data.
  const sends = isPublic && !labels.has("untrusted");
  // The usual call of a session without private data costs nothing here.
  const isChange = sends || changes();
  if (!isChange && !reads.hasRead("private")) return undefined;
  const values = valuesIn(call.args);
  const places = values.filter(({ key }) => isPlace(key));
  const pays = isChange && places.some(({ key }) => isPayee(key));
  const stranger = sends || pays ? firstOf(places, (place) => namedByStranger(place, call)) : undefined;
  if (stranger !== undefined) return asked(call, stranger, places);
  // A path beside a content says where the content goes. No file is read.
  const readsFiles = sends && !values.some(({ key }) => isMessage(key));
  const files = readsFiles ? values.filter(({ key }) => isFile(key)) : [];
  const file = firstOf(files, (each) => namedByStranger(fileName(each), call));
  if (file !== undefined) return asked(call, file, files);
  const isStrict = mode === "strict";
  const forwarded = isStrict && sends ? firstOf(values, (value) => proseIn(value, reads)) : undefined;
  if (forwarded !== undefined)
    return asked(call, plain(`it passes on text that strangers may have written (${forwarded})`), places, forwarded);
  if (!reads.hasRead("private")) return undefined;
  const asksFor = call.asksFor();
  if (asksFor === undefined && isStrange()) {
    const given = givenToStranger(call, values);
    if (given) return given;
  }
  if (asksFor === undefined && !(isPublic && (isStrict || reads.hasRead("untrusted")))) return undefined;
  const people = sends ? places.filter(({ key }) => isPerson(key)) : [];
  // A request for a page or a resource goes only to that address.
  const isChosen =
    !sends || (people.length > 0 && people.every((place) => isOwnField(place, reads) || isPlain(place, reads)));
  const sent = values.filter((value) => !people.includes(value));
  const data = privateIn(sent, call, { isChosen, about: [] });
  if (!data) return undefined;
  // Records are looked up only if a person would be asked.
  const about = sends && asksFor === undefined ? recordsFor(values, places, call) : [];
  if (about.length > 0 && !privateIn(sent, call, { isChosen: true, about })) return undefined;
  if (asksFor !== undefined) {
    const reason = { why: `${asksFor}, and ${data.why}`, told: `its definition asks for more, and ${data.told}` };
    return asked(call, reason, places, data.source);
  }
  if (people.length > 0 && people.every((place) => isOfSameServer(place, data, call))) return undefined;
  const strangers = reads.all.filter(({ label }) => label === "untrusted").map(({ source }) => source);
  const by = strangers.length === 0 ? "" : `, and strangers may have asked for it (${sourcesText(strangers)})`;
  const others = "others can see what it is given";
  const reason = { why: `${others}, ${data.why}${by}`, told: `${others}, ${data.told}${by}` };
  return asked(call, reason, places, data.source);
}

/**
 * The records that a call sends to the people that they are about: to the address of a customer, or as the answer to a ticket. A record
 * with free text, such as a mail, does not permit sending data to an address in it, because its author has written both.
 */
function recordsFor(values: readonly Value[], places: readonly Value[], { server, reads }: LeavingCall): DataRecord[] {
  const all = textsOf(reads, "private").flatMap((text) => text.records);
  const named = (place: Value): DataRecord[] =>
    isPerson(place.key)
      ? all.filter(({ fields, hasProse }) => !hasProse && fields.has(place.letters))
      : all.filter((record) => record.server === server && record.ids.has(place.letters));
  const targets = places.length > 0 ? places : values.filter(({ key }) => namesRecord(key));
  const found = targets.map((place) => (place.letters === "" ? [] : named(place)));
  return found.every((records) => records.length > 0) ? linkedRecords(found.flat(), all) : [];
}

/** Whether a name mixes scripts, such as a Cyrillic е in `send_mail`. */
function isOfTwoScripts(name: string): boolean {
  // Nearly every name is ASCII.
  if (!/[^\0-\x7f]/.test(name)) return false;
  return /\p{Script=Latin}/u.test(name) && /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]/u.test(name);
}

function firstOf<Item, Result>(items: readonly Item[], find: (item: Item) => Result | undefined): Result | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The source of a free text of a stranger that the value repeats at its beginning or its end. */
function proseIn({ letters }: Value, reads: SessionReads): string | undefined {
  if (letters.length < pieceLetters) return undefined;
  const ends = [letters.slice(0, pieceLetters), letters.slice(-pieceLetters)];
  const found = textsOf(reads, "untrusted").find((text) => ends.some((end) => text.wordsAround(end) !== undefined));
  return found?.origin.source;
}

/** The source of a stranger's text that the arguments hold, or may hold. Undefined if there is none. */
export function strangersTextIn(args: object, reads: SessionReads): string | undefined {
  const strangers = textsOf(reads, "untrusted");
  const isProgram = reads instanceof ProgramReads;
  for (const { letters } of valuesIn(args)) {
    if (letters.length < pieceLetters) continue;
    const found = strangers.find(
      (text) => text.has(letters.slice(0, pieceLetters)) || text.has(letters.slice(-pieceLetters)),
    );
    if (found) return found.origin.source;
    // The program may have computed it from anything that it has read.
    const own =
      isProgram && !reads.isWritten(letters) ? reads.own.find(({ label }) => label === "untrusted") : undefined;
    if (own) return own.source;
  }
  return undefined;
}

/**
 * Checks an answer of the agent's model to a server. It may contain anything that the model has seen. Data of the server itself does not
 * count.
 */
export function leavingInAnswer(server: string, reads: SessionReads): Leaving | undefined {
  const others = reads.all.filter(({ label, source }) => label === "private" && serverOf(source) !== server);
  if (others.length === 0) return undefined;
  const sources = sourcesText(others.map(({ source }) => source));
  const reason = plain(`the model would answer ${server}, and may tell it private data (${sources})`);
  return { ...reason, key: sources, reads };
}

/** Data of another server in a call of a server whose owner is a stranger. A single word or number does not count. */
function givenToStranger(call: LeavingCall, values: readonly Value[]): Leaving | undefined {
  const { server, reads } = call;
  const ofOthers = ({ origin }: KnownText) => serverOf(origin.source) !== server;
  const texts = textsOf(reads, "private").filter(ofOthers);
  const pieces = values.flatMap((value) => piecesOf(value)).slice(0, maxComparedPieces);
  for (const { letters, words } of pieces) {
    if (letters.length < pieceLetters && !(letters.length >= minCodeLength && /\d|@/.test(words))) continue;
    const found = texts.find((text) => text.has(letters));
    if (!found) continue;
    const { source } = found.origin;
    const told = `it would give ${server} private data of ${source}`;
    return asked(call, { why: `${told} ("${words}")`, told }, [], source);
  }
  return undefined;
}

type Reason = Pick<Leaving, "why" | "told">;

/** A reason that shows no data. */
const plain = (why: string): Reason => ({ why, told: why });

function asked({ reads }: LeavingCall, reason: Reason, places: readonly Value[], source = ""): Leaving {
  return { ...reason, key: [source, ...places.map(({ text }) => text)].join("\n"), reads };
}

interface PrivateData extends Reason {
  source: string;
}

function namedByStranger({ key, text, letters }: Value, { reads, describedIn }: LeavingCall): Reason | undefined {
  if (letters.length < minAddressLetters) return undefined;
  const tool = /[@\d]/.test(text) ? describedIn(letters.slice(0, maxSoughtLetters)) : undefined;
  if (tool !== undefined) {
    const from = "comes from the description of";
    return { why: `its "${key}" (${text}) ${from} ${tool}`, told: `its "${key}" ${from} a tool` };
  }
  const known = textsOf(reads, "untrusted");
  if (known.some((each) => each.hasField(letters)) || textsOf(reads, "private").some((each) => each.hasField(letters)))
    return undefined;
  for (const each of known) {
    const words = each.wordsAround(letters);
    if (words === undefined) continue;
    const from = "comes from text that strangers may have written";
    const { source } = each.origin;
    return { why: `its "${key}" (${text}) ${from} (${source}: "${words}")`, told: `its "${key}" ${from} (${source})` };
  }
  return undefined;
}

/** Whether a place is a whole value of data that strangers cannot write, such as the address of a customer. */
function isOwnField({ letters }: Value, reads: SessionReads): boolean {
  const own = textsOf(reads, "private").filter(({ origin }) => !origin.labels.has("untrusted"));
  return own.some((each) => each.hasField(letters));
}

/** Whether the model has written a place and no stranger has named it, or it is a whole value, such as the sender of a mail. */
function isPlain({ letters }: Value, reads: SessionReads): boolean {
  const strangers = textsOf(reads, "untrusted");
  if (strangers.some((each) => each.hasField(letters))) return true;
  const isWritten = !(reads instanceof ProgramReads) || reads.isWritten(letters);
  return isWritten && !strangers.some((each) => each.has(letters));
}

/** Whether the place is an address in records of the server that the data comes from, such as a customer's. */
function isOfSameServer(place: Value, data: PrivateData, { server, reads }: LeavingCall): boolean {
  const sources = data.source.split(" ").map(serverOf);
  const known = textsOf(reads, "private").filter((text) => text.hasField(place.letters));
  return known.some(({ origin: { source, labels } }) => {
    if (!labels.has("untrusted")) return true;
    return serverOf(source) !== server && sources.every((each) => each === serverOf(source));
  });
}

/** Where a call sends its values. */
interface Target {
  /** Whether the program has not computed it. */
  isChosen: boolean;
  /** The records about the recipient. Empty if none are known. */
  about: readonly DataRecord[];
}

/** The private data that the values may hold. */
function privateIn(
  values: readonly Value[],
  { args, reads, server }: LeavingCall,
  { isChosen, about }: Target,
): PrivateData | undefined {
  const isMissing = reads.allTexts.some((texts) => texts.lacks("private"));
  if (exceededLimit(args) !== undefined)
    return unknown(reads, "it may hold private data, because its arguments are too large to be compared");
  // The model may have seen the same sentence before, as in a dry run.
  const isAbout = (value: Value) =>
    about.length > 0 && reads instanceof ProgramReads && otherWordsIn(value, reads, about).length === 0;
  const found = foundIn(
    values.filter((value) => !isAbout(value)),
    reads,
    server,
    about,
  );
  if (found === "too many")
    return unknown(reads, "it may hold private data, because its arguments are too many to be compared");
  if (found) {
    const { source, words } = found;
    const repeat = "its arguments repeat private data";
    return { source, why: `${repeat} (${source}: "${words}")`, told: `${repeat} (${source})` };
  }
  if (isMissing) return unknown(reads, "it may hold private data whose text is not known");
  // Even a constant can carry information, because the program may have chosen it, or whether to send it, by the data.
  if (reads instanceof ProgramReads && reads.ownLabels.has("private") && !(isChosen && isOwnText(values, reads, about)))
    return unknown(reads, "the call may depend on private data that the program has read or asked for");
  // A value that was read as it is, such as an id, does not count as a code.
  const isRead = (letters: string) => textsOf(reads, "private").some((text) => text.hasField(letters));
  const code = values.find(({ text, letters }) => !isRead(letters) && isEncoded(text, reads));
  return code && unknown(reads, `its "${code.key}" may be encoded private data`);
}

/** Numbers, and the words of dates. */
const numberOrDate =
  /^(?:\p{Sc}?\p{N}[\p{N}.%]{0,8}\p{Sc}?|(?:(?:jan|febr)uary|march|april|may|june|july|august|(?:septem|octo|novem|decem)ber|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)\.?)$/iu;

/** Whether all values are the program's own text, except a few numbers such as counts. */
function isOwnText(values: readonly Value[], reads: ProgramReads, about: Target["about"]): boolean {
  const others = values.flatMap((value) => otherWordsIn(value, reads, about));
  return others.length <= maxSentNumbers && others.every((word) => numberOrDate.test(word));
}

const isAnyOf = (records: readonly DataRecord[], letters: string) => records.some((record) => record.has(letters));

/** The words that are neither the program's own nor part of the recipient's record. */
function otherWordsIn({ text, letters }: Value, reads: ProgramReads, about: Target["about"]): string[] {
  const words = reads.isWritten(letters) ? [] : wordsIn(text);
  return words.filter((word) => {
    const each = lettersOf(word);
    if (each === "" || isAnyOf(about, each)) return false;
    return each.length < minWordLetters ? !reads.isNamed(word) : !reads.isWritten(each);
  });
}

function unknown(reads: SessionReads, why: string): PrivateData {
  const sources = reads.all.filter(({ label }) => label === "private").map(({ source }) => source);
  return { ...plain(`${why} (${sourcesText(sources)})`), source: sources.join(" ") };
}

/** A part of private data that the values repeat word for word. */
function foundIn(
  values: readonly Value[],
  reads: SessionReads,
  server: string,
  about: Target["about"],
): Found | "too many" | undefined {
  const isProgram = reads instanceof ProgramReads;
  const own = isProgram ? reads.texts.of("private") : [];
  const unseen = reads.allUnseen.flatMap((texts) => texts.of("private"));
  const seen = [...textsOf(reads, "private").filter((each) => !own.includes(each)), ...unseen];
  const pieces = values.flatMap((value) => piecesOf(value));
  const chars = [...own, ...seen].reduce((sum, { size }) => sum + size, 0);
  if (pieces.length > Math.min(maxComparedPieces, maxComparedChars / (chars + 1))) return "too many";
  for (const { key, text, letters } of values) {
    if (!isMessage(key) || letters.length >= minPieceLetters || letters.length < 2) continue;
    const found = [...own, ...seen].find((each) => each.hasInCode(letters));
    if (found) return { ...found.origin, words: text };
  }
  for (const { letters, words, isWord } of pieces) {
    if (isAnyOf(about, letters)) continue;
    const isWritten = isProgram && reads.isWritten(letters);
    const isIn = (text: KnownText) => {
      // The server knows the ids of its own data.
      if (letters.length < minCodeLength && serverOf(text.origin.source) === server) return false;
      return isWord ? text.hasField(letters) : holds(text, letters, words);
    };
    const found = (isWritten ? undefined : own.find(isIn)) ?? seen.find(isIn);
    if (found) return { ...found.origin, words };
  }
  if (own.length === 0 || !isProgram) return undefined;
  // The program may have joined parts of its results with its own words.
  for (const { text } of values) {
    for (const word of wordsIn(text)) {
      const letters = lettersOf(word);
      if (letters.length < minWordLetters || reads.isWritten(letters) || isAnyOf(about, letters)) continue;
      const found = own.find((each) => holds(each, letters, word));
      if (found) return { ...found.origin, words: word };
    }
  }
  return undefined;
}

function holds(text: KnownText, letters: string, words: string): boolean {
  return /^\d+$/.test(letters) ? text.hasNumber(words) : text.has(letters);
}

/** Whether a text looks encoded and has not been shown before, or decodes to private data. */
function isEncoded(text: string, reads: SessionReads): boolean {
  const seen = textsOf(reads, "private");
  for (const decoded of decodedForms(text)) {
    const letters = lettersOf(decoded);
    const pieces = letters.length <= pieceLetters ? [letters] : windowsOf(letters);
    if (pieces.some((piece) => piece.length >= minPieceLetters && seen.some((each) => each.has(piece)))) return true;
  }
  return codesIn(text).some((code) => {
    const letters = lettersOf(code);
    // Only the beginning of a longer one would be looked for.
    if (letters.length > maxSoughtLetters) return true;
    return !reads.allTexts.some(({ all }) => all.some((each) => each.has(letters)));
  });
}

/** Leaves out the outcomes of earlier runs of the same program. */
function textsOf(reads: SessionReads, label: DataLabel): KnownText[] {
  const all = reads.allTexts.flatMap((texts) => texts.of(label));
  const own = reads instanceof ProgramReads ? reads.shownBy : undefined;
  return own === undefined ? all : all.filter(({ origin }) => origin.shownBy !== own);
}

function sourcesText(sources: readonly string[]): string {
  const names = [...new Set(sources)];
  const shown = names.slice(0, 4);
  return [...shown, ...(names.length > shown.length ? [`and ${names.length - shown.length} more`] : [])].join(", ");
}

const code = new RegExp(`[A-Za-z0-9+/=_-]{${minEncodedChars},}`, "g");

/** The parts of a text that look like base64 or hex. */
export function codesIn(text: string): string[] {
  return (text.match(code) ?? []).filter(isMixed);
}

/** Whether digits and letters are mixed without order, as in base64 and hex. */
function isMixed(code: string): boolean {
  const changes = code.match(/[A-Z][a-z]*[0-9]|[0-9][a-z]*[A-Z]|[0-9][a-f]|[a-f][0-9]/g) ?? [];
  return changes.length >= minCodeLetters;
}

/** The texts that a text may encode: reversed, rotated or decoded. */
function decodedForms(text: string): string[] {
  const turned = [...text].reverse().join("");
  const rotated = text.replace(/[a-z]/gi, (letter) => {
    const base = letter <= "Z" ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
  });
  const tokens = text.match(/[A-Za-z0-9+/=_-]{8,}/g) ?? [];
  const bytes = tokens.flatMap((token) => [
    Buffer.from(token, "base64").toString("utf8"),
    ...(/^(?:[0-9a-f]{2})+$/i.test(token) ? [Buffer.from(token, "hex").toString("utf8")] : []),
  ]);
  return [turned, rotated, ...bytes];
}
