/**
 * The limits of everything that is made from tools: lists, signatures, generated files, searches and observed results. Tools come from
 * servers, which may send anything.
 */

import { kilobyte, megabyte } from "../base/units.ts";

// Listing servers

/** How long anybody waits for the first answer of a server, from the moment it was asked. */
export const firstAnswerMs = 10_000;

/** Names of servers in a hint. */
export const maxHintedNames = 20;

// Writing the registry

/** Files of fewer tools are written on the main thread, which takes a few milliseconds. */
export const minToolsOffThread = 500;

/** A larger index is written in a worker. */
export const minIndexBytesOffThread = 500_000;

/** Time for a worker to write the index. */
export const indexWriteMs = 60_000;

/** With more tools, the files of a server are written in a worker. */
export const maxFilesInline = 100;

/** With more values in their schemas as well. */
export const maxSchemaValuesInline = 5_000;

/** Time for a worker to write the files of a server. Enough for 5,000 tools on a slow disk. */
export const filesWriteMs = 120_000;

/** Time for a worker to write the files of one server again, after the shapes of results have changed. */
export const filesRewriteMs = 60_000;

/** Parsed schemas that a worker keeps. Beyond it, all are dropped. */
export const maxKeptSchemas = 200;

// Observing results

/** Results that wait to be examined. Others are not examined. */
export const maxWaitingResults = 16;

/** The same for one tool. */
export const maxWaitingOfTool = 4;

/** After this many results of a tool without news, only some of its longer results are examined. */
export const settledAfterResults = 8;

/** A result with fewer characters is always examined, which takes less than a tenth of a millisecond. */
export const alwaysExaminedChars = 8_192;

/** One of this many. */
export const settledOneOf = 32;

/**
 * Longer JSON is examined in a worker: parsing it takes more than 2 ms. Of JSON beyond `maxObservedTextChars` only the beginning is parsed,
 * on this thread, because sending it to a worker would take longer.
 */
export const maxObservedInlineChars = 131_072;

/** Time for a worker to examine one result. */
export const observingMs = 10_000;

/** Time that the answer to a program waits for large results of its calls to be examined. */
export const observingOutcomeMs = 1_000;

/** Changes of one tool's shape that are remembered for answers. A shape rarely changes more than a few times. */
export const maxChangesOfTool = 20;

/** Delay before writing, so that results of one moment are written together. */
export const observedWriteAfterMs = 1_000;

/** Wait for another process that writes observed shapes. */
export const observedLockWaitMs = 5_000;

/** Of longer JSON only the beginning is parsed. */
export const maxObservedTextChars = 4_000_000;

/** Characters of this beginning. */
export const maxObservedPartChars = 200_000;

/** Levels of a value that are looked at. */
export const maxObservedDepth = 6;

/** Characters of a text that are looked at for its form. */
export const maxFormChars = 20_000;

/** Lines of a text that are looked at for its form. */
export const maxFormLines = 200;

/** Columns or marks of a form. */
export const maxFormNames = 12;

/** Levels of a declared type that are searched for places that it leaves open. */
export const maxVagueDepth = 8;

/** Values that are looked at, in all. */
export const maxObservedValues = 20_000;

/** Items of an outer list: enough to meet the rows that lack a value. */
export const maxObservedItems = 1_000;

/** Items of a list inside of another list, and of an outer list of large items. */
export const maxInnerItems = 60;

/** Keys of one object. */
export const maxObservedKeys = 200;

/** Texts in the arguments of a call that are compared with the keys of its result. */
export const maxGivenTexts = 500;

/** Characters of one of these texts. Keys are not longer. */
export const maxGivenTextChars = 1_000;

/** A longer key is data and no name of a field. */
export const maxFieldNameChars = 40;

/** A key with more words is data and no name of a field. */
export const maxFieldNameWords = 7;

/** A value with more types, besides null, is unknown. */
export const maxShapeKinds = 3;

/** Fields of an object. */
export const maxShapeFields = 64;

/** An object with this many similar fields is a map of objects. */
export const minMapThings = 4;

/** The same for maps of strings and numbers. */
export const minMapValues = 16;

/** The same for maps of numbers. No name may have several words, as field names often do. */
export const minMapNumbers = 8;

/** The same for objects without required fields. */
export const minMapOptional = 8;

/** The same if no two objects had a field in common. */
export const minMapDistinct = 4;

/** Characters of the JSON of a shape, for one tool. */
export const maxShapeChars = 4_000;

// Reading schemas

/** Levels of a schema. Deeper ones are `unknown`. */
export const maxSchemaDepth = 64;

/** Schemas around a part that are remembered for the defaults of arguments: the nearest ones. */
export const maxSurroundingSchemas = 32;

/**
 * Nodes of one type, in all attempts, because small schemas can describe infinitely large types. Real schemas take some hundreds; the
 * maximum takes about 10 ms.
 */
export const maxTypeNodes = 10_000;

/** Values that are listed in a description. A longer list is rather one of examples. */
export const maxListedValues = 20;

/** Levels of an example, as many as of written types, so that it matches its type. */
export const maxSampleDepth = 6;

/** Levels of a made-up result. Deeper objects and lists are empty. */
export const maxMadeUpDepth = 12;

/** Values of a made-up result, because small schemas can describe infinitely large values. */
export const maxMadeUpParts = 2_000;

/** Items of a made-up list, and schemas of one made-up value. */
export const maxMadeUpItems = 16;

/** Characters of a made-up text. */
export const maxMadeUpChars = 1_000;

// Writing types and signatures

/** Characters of one declaration. A longer type is written with less depth. */
export const maxDeclarationChars = 20_000;

/** Characters of a description in a comment. */
export const maxDocDescriptionChars = 400;

/** Characters of a default, format or pattern in a comment. */
export const maxDocValueChars = 60;

/** Characters of a type in a signature. A longer type is written with less depth. */
export const maxOneLineTypeChars = 3_000;

/** Values of an enumeration in a signature. */
export const maxEnumValues = 24;

/** Levels of references. */
export const maxReferenceDepth = 64;

/** Characters of a format or default in the comment of a field in a signature. */
export const maxTypeNoteChars = 60;

/** If an observed type is longer, its deep parts are left out. */
export const maxObservedTypeChars = 400;

/** Only this much of a description is read for a signature. */
export const maxSignatureDescriptionChars = 4_000;

/** Values of an argument in a brief signature. With more, only the first one is shown. */
export const maxBriefValues = 6;

/** Fields of a result in a brief signature. An object with more is rarely a wrapper, so its first few are enough to tell what it is. */
export const maxBriefFields = 4;

/** These first few. */
export const firstBriefFields = 2;

/** Optional arguments in a brief signature, if there are at least two more. */
export const maxBriefOptional = 4;

/** Fields of an object where a brief signature has room for more. */
export const maxFields = 8;

/** A longer outline belongs to a union with many variants. */
export const maxOutlineChars = 120;

// Checking arguments

/** A check that takes longer is skipped, because the server checks its arguments too. */
export const argumentCheckMs = 2_000;

/** Values of a schema, for a check within a few milliseconds. Other checks run in a worker. */
export const maxQuickSchemaValues = 1_000;

/** Characters of the arguments for this. */
export const maxQuickArgumentChars = 65_536;

/** The product of the values of schema and arguments for this. */
export const maxQuickComparisons = 100_000;

/** Problems of the arguments that an error names. */
export const maxProblems = 5;

/** Characters of a problem. It has names and values of the server and the program. */
export const maxProblemChars = 1_000;

/** Levels of a schema that are prepared for the check. */
export const maxCheckedDepth = 64;

// Recognising servers and finding programs

/** The fewest tools by which a server is recognised: a few names may be the same by chance. */
export const minKnownTools = 4;

/** Folders above a program that are searched for what it is. */
export const maxFolderLevels = 6;

/** Larger files are not read for this. */
export const maxManifestBytes = 256 * kilobyte;

/** Launchers that package managers write are shorter. */
export const maxLauncherBytes = 8 * kilobyte;

// Searching: what is read

/** Only this much of a query is read. */
export const maxQueryChars = 4_000;

/** Concepts of a query. Further words are not looked up. */
export const maxConcepts = 60;

/** Clauses of a query. The rest counts as one. */
export const maxClauses = 20;

/** Words of a phrase of the vocabulary, such as `out_of_office`. */
export const maxPhraseWords = 3;

/** Words in the gap of an idiom: `let the whole support team know`. */
export const maxIdiomGap = 4;

/** Only this much of queries and descriptions is read for filters and similar tools. */
export const maxSearchTextChars = 4_000;

/** Only this much of a description, and of all parameters together, is indexed. */
export const maxIndexedChars = 4_000;

/** Only this much of a description is read to see whether its tool is deprecated. */
export const maxDeprecationChars = 2_000;

/** Only this much of a query is read for names of services. */
export const maxServiceQueryChars = 1_000;

/** A longer query describes more than a call, and may name a service only in passing. */
export const maxServiceQueryWords = 12;

/** In a longer query, a product is one of several things that a task needs. On the recorded queries, ranking it first then loses. */
export const maxProductQueryWords = 15;

/** Only this much of a query is read for names of tools that are written as in a program. */
export const maxNameQueryChars = 2_000;

/** Shorter words are neither completed nor corrected. */
export const minSpellingLetters = 4;

/** Words that are found for one unknown word. */
export const maxSpellings = 8;

/** Longer runs of letters are not indexed. */
export const maxWordLetters = 40;

/** Terms whose postings are remembered. Beyond it, all are dropped. */
export const maxKnownTerms = 50_000;

/** Strengths from 1 down to 0 are kept in this many steps. More steps do not improve the results. */
export const strengthSteps = 16;

/** Tools after which making the index collects its garbage. */
export const collectedTools = 1_000;

/** With fewer tools, making the index is faster than reading it. */
export const minPreparedTools = 500;

/** With longer descriptions of all tools together, the index is made in a worker. These are indexed within a few milliseconds. */
export const maxDescriptionCharsInline = 100_000;

/** Time for a worker to prepare the index. Enough for 100,000 tools on a slow machine. */
export const indexPrepareMs = 60_000;

/** Files of the workspace that are read for one search. */
export const maxSkillFiles = 500;

/** Bytes of one of them. */
export const maxSkillFileBytes = 256 * kilobyte;

/** Bytes that one search reads. The next search reads the rest. */
export const maxSkillBytesAtOnce = 8 * megabyte;

// Searching: weights and shares

/** A term with this weight has half of the full strength. Repetitions add little. */
export const termSaturation = 1;

/** The share of an alternative in a query of a few words. */
export const synonymShare = 0.6;

/** A longer query has more words that match by themselves: each word after the first few lowers the share of alternatives. */
export const synonymLoss = 0.02;

/** The first few words for this. */
export const fewQueryWords = 4;

/** The weight of a topic that a query names. */
export const topicWeight = 1.2;

/** The share of a similar word, for a word that no tool has. */
export const nearShare = 0.6;

/** The weight of two words that are written as one. */
export const joinedWeight = 0.8;

/** The weight of two words that are consecutive in a tool's name too. */
export const pairWeight = 0.3;

/** The share of a part of a compound word. */
export const partShare = 0.55;

/** The share of a weak word's weight. */
export const weakShare = 0.6;

/** Each later word counts less by this share. */
export const laterLoss = 0.02;

/** With few tools, counts say little. The rarity of a word assumes this many more tools without it. */
export const unseenTools = 10;

/** The share of a word's rarity among servers, beside that among tools: a server with many tools repeats its words. */
export const serverRarity = 0.6;

/** With this many servers, that share is half as large. */
export const fewServers = 5;

/** The share that a second word for the same concept adds. */
export const furtherShare = 0.5;

/** The bonus for a tool whose whole name is in the query. */
export const nameBonus = 0.5;

/** The loss of a tool with another kind of act, such as delete instead of read. */
export const otherActLoss = 0.2;

/** The share of the other tools' scores of the same server. */
export const serverShare = 0.15;

/** The share of the best clause, if there are several. */
export const clauseShare = 0.1;

/**
 * A match is left out if its score is below this share of the best score. On the recorded queries that were used to choose the shares, a
 * search for 20 tools returns 6 to 14 and loses one right tool in forty; a search for 5 loses none.
 */
export const minShareOfFirst = 0.3;

/** The same for matches after the first few. */
export const minShareOfLater = 0.45;

/** These first few. */
export const firstMatches = 5;

/** Tools that read come first for a request to read, unless they match much worse than the best tool that writes. */
export const minShareOfReader = 0.6;

/** The share of its score that a tool that writes keeps for a request to read. */
export const writerShare = 0.9;

/** The share of its score that a deprecated tool keeps, if its successor is not known. */
export const deprecatedShare = 0.8;

// Searching: answers

/** Servers listed for the same tool. */
export const maxAlsoServers = 5;

/** A longer call has its required arguments alone. */
export const maxAnswerCallChars = 200;

/** A longer signature is shown as a brief call with the names of the result's fields. */
export const maxCompanionChars = 200;

/** With so few tools in all, a search that finds none names all of them: the agent chooses better than words do. */
export const maxListedIds = 16;

/** Names that are suggested for a name that no tool has. */
export const maxNearIds = 3;

/** Shorter types are not worth a name. */
export const minNamedTypeChars = 80;

/** Types of one answer that get a name, so that the work is in proportion to the length of the signatures. */
export const maxNamedTypes = 20;

/** Causes why servers are down that are explained. */
export const maxDownCauses = 10;

/** Servers that are named for one of them. */
export const maxDownServers = 20;

// Accepted definitions

/** Share of the words of a text that may be misspelt in another way without a change of meaning. One word always may. */
export const maxMisspeltShare = 0.02;

/** Changes of one tool that are named. */
export const maxNamedChanges = 10;

/** Characters of a name that a server has chosen, in a reason. */
export const maxShownNameChars = 80;

/** Size of a lock file. One with 100,000 tools is smaller. */
export const maxLockFileBytes = 16 * megabyte;

/** Servers in a lock file. */
export const maxLockedServers = 10_000;

/** Tools of one server in a lock file. A list of tools has fewer. */
export const maxLockedTools = 20_000;

/** Vanished tools with the same description or the same arguments that a new tool is compared with. */
export const maxFormerTools = 10;

/** Characters at the beginning of a description by which such tools are found. Reading all of a long list would take long. */
export const maxKeyChars = 500;

/**
 * Characters of the accepted definitions of tools that a server no longer lists. Beyond it, the texts that were accepted last are forgotten. Their
 * fingerprints stay.
 */
export const maxVanishedChars = 500_000;

/** Accepted tools of one server, with those that it no longer lists. Beyond it, new tools are held, and nothing is forgotten. A list has fewer. */
export const maxAcceptedTools = 10_000;

/** Characters of the names of these tools. The names in a list have fewer. */
export const maxAcceptedNameChars = megabyte;

/** Letters of the longer of two names that are compared letter by letter. Of shorter names, one letter makes another word. */
export const minComparedNameChars = 4;

/** Longer names are not compared letter by letter. Few agents accept them. */
export const maxComparedNameChars = 64;

/** Comparisons of names in one list. Lists of honest servers need some hundreds. */
export const maxNameComparisons = 100_000;
