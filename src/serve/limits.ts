/**
 * The limits of the MCP server that agents see: how much of a context it uses, how long it waits, and what an agent may send. Limits of
 * surfaces, answers and programs that a config sets are in config/defaults.ts.
 */

import { hourMs, megabyte } from "../base/units.ts";

// Instructions

/** Claude Code and other agents cut instructions at this length. */
export const maxInstructionsChars = 2_048;

/** The same in direct mode. It leaves room for the last line, with the number of the other servers. */
export const maxDirectInstructionsChars = 1_500;

/** Tokens of everything that an agent loads if there are one or two servers. */
export const surfaceTokensOfFew = 450;

/** The same for more servers, to which each server adds some. */
export const surfaceTokensOfMany = 600;

/** What a server whose tools agents call adds: the calls save searches. */
export const tokensOfUsedServer = 25;

/** What any other server adds: its name. */
export const tokensOfOtherServer = 5;

/** The most, unless the config allows more. */
export const maxSurfaceTokens = 1_000;

/** Tokens of one server's description, so that some are left for signatures. */
export const maxDescriptionTokens = 40;

/** A smaller share of the tokens is not worth a description. */
export const minDescriptionTokens = 4;

/** Characters of one name in the instructions. */
export const maxInstructionsNameChars = 64;

/** Characters of a call in the instructions. Longer calls are left to the search. */
export const maxEverydayCallChars = 400;

/** Tools that are considered for the instructions. More than fit into an ordinary surface. */
export const maxEverydayTools = 60;

/** Weight of a tool that the server catalog calls usual. All weigh the same, so the shortest calls come first. */
export const catalogToolWeight = 1;

/** Delay before servers that were never asked are listed. The agent's own first requests go first. */
export const learnAfterMs = 3_000;

// search_tools

/** Tools for one need, if the agent sets no limit. */
export const defaultSearchLimit = 5;

/** Tools for each of several needs, if the agent sets no limit. */
export const defaultSearchLimitOfSeveral = 3;

/** The highest limit that the agent may set. */
export const maxSearchLimit = 50;

/** Needs of one search. */
export const maxNeeds = 20;

/** Tools in a list of all tools of a server. */
export const maxListedTools = 200;

/** A list with more tools and more characters has no signatures unless the agent asks for them. */
export const maxToolsWithSignatures = 15;

/** The number of characters for this. */
export const maxSignatureListChars = 4_000;

/** Matches with a smaller share of the best one's score are seldom what the agent needs. */
export const minShareOfLikely = 0.8;

/** The share of an answer that likely tools may take. */
export const shareOfLikely = 0.8;

/** Tools of a need whose companions are shown: the best ones. Each companion is shown once, unless it is found itself. */
export const maxToolsWithCompanions = 2;

/** Servers in an answer without tools. */
export const maxServersOfEmptyAnswer = 30;

/** Servers that an error names. */
export const maxDownNames = 30;

// execute_code

/** Time after which a call is answered while its program continues. Most agents do not wait longer. */
export const usualAnswerMs = 50_000;

/** Time that a patient agent waits when it asks for an outcome again. */
export const patientResumeMs = 600_000;

/** Time in which a host asks again for the outcome of a program that has a question for it. */
export const hostReturnMs = 30_000;

/** Time for a program in the background to end at once. Otherwise its call is answered with its id. */
export const backgroundAnswerMs = 100;

/** Characters of the list of an execution's calls in an answer. */
export const maxCallsChars = 300;

/** Approvals that an answer names. */
export const maxNamedApprovals = 5;

/** Characters of the reason why a person is asked, which a rule of any length may be. */
export const maxWaitingWhyChars = 400;

/** Types of results in an answer. More would be more than a model needs to read at once. */
export const maxNewTypes = 5;

/** Characters of an agent's name, and of its version. */
export const maxAgentNameChars = 100;

/** Time between two notifications about progress: at most ten per second. */
export const progressGapMs = 100;

// Content of results

/** Share of the kept elements of a too long array that are its head. */
export const abridgedHeadShare = 0.7;

/** Share of the shown characters of a too long text that are its beginning. The rest is its end. */
export const textHeadShare = 0.7;

/** Share of an answer that the logs get if the value needs the rest. */
export const logShare = 0.3;

/** A longer value only goes into a file, which needs no line breaks. */
export const maxIndentedChars = 2_000_000;

/** Characters of a line of JSON. */
export const jsonLineChars = 200;

/** Levels of JSON that are broken into lines. Otherwise the indentation of deeply nested data would be longer than the data. */
export const maxBrokenLevels = 50;

/** Time for a worker to make content. Enough for 32 MB of data on a slow machine. */
export const contentMs = 20_000;

/** Characters of a skill's name, as the Agent Skills format allows. */
export const maxSkillNameChars = 64;

/** Characters of the description of a skill: agents load it for each skill before they read one. */
export const maxSkillSentenceChars = 200;

/** Characters of the names of a skill's exports in its description. */
export const maxSkillExportsChars = 200;

// stdio

/** Delay after the last answer before the SDK is loaded, so that the first call does not wait for it. */
export const sdkAfterMs = 50;

/** Longer lines are left to the SDK's server. */
export const maxFirstLineBytes = 65_536;

/** A longer line of a host is passed on as it is: the SDK's server ends the connection. */
export const maxHostLineBytes = 10 * megabyte;

// HTTP

/** Messages in one batch. */
export const maxBatch = 100;

/** Only one larger body is read in a turn of the event loop: it may have thousands of keys, which take some milliseconds. */
export const largeBodyBytes = 32_768;

/** Maximum bytes of a body outside a session, which can only be `initialize`. */
export const maxInitializeBytes = 65_536;

/** A client that is this far behind with its events is disconnected. The log keeps what it has not read. */
export const maxQueuedBytes = 4 * megabyte;

/** With this much unread, no more keep-alive is sent. */
export const keepAliveBelowBytes = 65_536;

/** A connection without traffic for this long is closed. Streams send keep-alives. */
export const httpIdleSeconds = 30;

/** Time for the last answers to be sent after everything has ended. */
export const lastAnswersMs = 2_000;

/** How often open requests without session are looked after, at least: often enough to end connections soon after their time. */
export const maxRequestTendMs = 15_000;

/**
 * Sessions and their streams are looked after at least twice in this time: often enough for proxies that close connections after half a
 * minute of silence.
 */
export const maxSessionTendMs = 15_000;

/** A client that never listens counts as connected for this time after a request. */
export const disconnectedAfterMs = 10_000;

/** The time after which a client that was refused for lack of room may try again. */
export const retryAfterSeconds = 30;

// Replicas

/** Difference of the clocks of two replicas, with the time that a request takes from one to the other. */
export const maxForwardSkewMs = 60_000;

/** Time between two attempts to reach a replica that does not answer. */
export const passAgainMs = 500;

/** How often it is looked whether a replica that has not answered yet is alive. */
export const replicaLookMs = 2_000;

/** Time for the others to notice that a replica is dead: longer than its lease in store/limits.ts. */
export const deadReplicaMs = 25_000;

/** Subscriptions of one session that are renewed when another replica takes it over. */
export const maxKeptSubscriptions = 200;

/** Characters of the URI of such a subscription. */
export const maxKeptUriChars = 2_000;

/** Numbers of streams that a session may use before another replica takes it over. */
export const streamsOfReplica = 1_000_000;

/** Characters that the id of an event has for the ids of requests. */
export const maxMarkChars = 200;

// Tokens

/** Tokens of all configs together, including expired ones. Each look at a changed file reads all of them. */
export const maxTokens = 1_000;

/** Characters of the name of a token. */
export const maxTokenNameChars = 64;

/** How often the file of tokens is looked at without requests. What an ended token began must end within a second. */
export const tokenLookMs = 250;

/** Time between two writes of the time when a token was used last. */
export const tokenUseGapMs = 60_000;

/** Time to wait for the lock of the file to write that time. The next look tries again. */
export const tokenUseLockMs = 1_000;

/** Time to write that time when the server ends, perhaps without its database. */
export const tokenUseEndMs = 1_500;

// Requests of revision 2026-07-28

/** Resources that one session subscribes to, or that the requests of one host listen to. Each costs its server a request. */
export const maxListenedResources = 1_000;

/** Tasks that one request can listen to. */
export const maxListenedTasks = 256;

/** A call that has no result after this time becomes a task. Before, it ends sooner without one. */
export const taskAfterMs = 5_000;

/** Questions that come within this time after the first one are asked together, so that the host makes one round trip for them. */
export const questionGatherMs = 100;

/** Names of questions that one request remembers. Further questions get random keys. */
export const maxQuestionNames = 1_000;

/** Time between keep-alives of a stream: proxies and the HTTP server close a silent connection. */
export const taskKeepAliveMs = 10_000;

/** The suggested time between two requests for the state of a task. */
export const taskPollMs = 1_000;

/** Requests of one host over stdio that run at the same time, and that wait for its answers. */
export const maxStdioRequests = 256;

// Direct mode

/** Entries of one page of a list. Many agents never ask for a second page, so a page is as large as a message may be. */
export const directPageSize = 1_000;

/** URIs in results that are remembered for each server, so that one server cannot displace another's. */
export const maxLinkedUris = 2_000;

/** URIs in lists that are remembered. */
export const maxListedUris = 50_000;

/** A longer URI is not remembered. */
export const maxUriChars = 8_192;

/** How long an agent waits for servers that must start. Later answers are announced as a change. */
export const listPatienceMs = 10_000;

/** Comparisons for the links of one result: a server chooses how many URIs it has, and another one how many templates. */
export const maxComparedUris = 20_000;

/** Characters of the name of a tool or prompt: every host takes names of this length. Longer ones are cut and marked. */
export const maxToolNameChars = 64;

/** Characters of the hash that tells such names apart, at least. */
export const nameMarkChars = 8;

/** Changes of lists within this time are announced together. Servers that are asked together answer at about the same time. */
export const listChangesMs = 50;

/** Notifications of one kind that wait to be written. */
export const maxUnsentNotices = 100;

// People

/** Time after which every process has ended what a revoked person began, and has written what it records of it. */
export const revokedEverywhereMs = 3_000;

/** Time for the executions of a person to end before the person's data is deleted. */
export const personEndMs = 30_000;

/** Time between looks whether they have. */
export const personEndLookMs = 200;

/** Time between looks for people who were not here for long. */
export const peopleTidyMs = hourMs;

// Replicas

/** Time for which an execution is watched that was just continued. If it ends its process, this counts as a failed attempt. */
export const continuedWatchMs = 8_000;

/** How often it is looked at. */
export const continuedLookMs = 50;

/** Pause until the store is opened again. */
export const storeRetryMs = 3_000;

/** Time for a config that was not trusted at the start to be opened. */
export const unlockMs = 2_000;

/** How often a replica looks for scheduled programs that are due. */
export const scheduleLookMs = 3_000;
