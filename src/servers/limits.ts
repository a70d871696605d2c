/**
 * The limits of the connections to servers: what a server may send, how long it may take, and how much is kept of it. Nothing here can be
 * set in a config.
 */

import { dayMs, hourMs, megabyte } from "../base/units.ts";

// What a peer may send at once. Compressed data counts with its decompressed size.

/** One message of a server: a line on stdout, a JSON body, or one event of a stream. */
export const maxMessageBytes = 256 * megabyte;

/** Characters of an error that a server says in a form of its own. A longer one is cut. */
export const maxSaidErrorChars = 2_000;

/** Lines of one event. A parser needs far more memory for a short line than the line has bytes. */
export const maxEventLines = 1_000_000;

/** One message over a WebSocket. The limit is Bun's own, which accepts no other value. */
export const maxSocketMessageBytes = 128 * megabyte;

/** Messages of a WebSocket that wait to be handled. A single one may have half of it. */
export const maxWaitingSocketBytes = 2 * maxSocketMessageBytes;

/** A response of an authorization server: metadata, registrations and tokens. */
export const maxMetadataBytes = megabyte;

/** A response of a model's endpoint. */
export const maxCompletionBytes = 16 * megabyte;

/** The body of a failed request, which is read only for the error message. */
export const maxErrorBytes = 65_536;

/** What a program that prints a secret may print: that of `headersHelper`, or of `${command:…}`. */
export const maxPrintedSecretBytes = 65_536;

/** The end of what such a program writes to stderr. Its last line is in the error. */
export const maxPrintedErrorBytes = 4_096;

// Decoding messages

/** Levels of a message. Deeper JSON would overflow the stack of code that writes or walks it. */
export const maxMessageDepth = 500;

/** Values in one message. A million values take about 100 MB. */
export const maxMessageValues = 4_000_000;

/** Values in a notification or request, which are passed on as objects. */
export const maxRequestMessageValues = 100_000;

/** A part of a result with more values stays JSON text. */
export const maxPartValues = 2_000;

/** A part of a result with more characters stays JSON text. */
export const maxPartChars = 131_072;

/** Shorter messages need no check of their depth and number of values. */
export const maxUncheckedBytes = 2_048;

/** Characters of an error message, and of the data of an error. */
export const maxErrorMessageChars = 65_536;

/** Larger messages are parsed in a worker. A message of this size takes at most 3 ms, as much as the use of a worker. */
export const maxInlineBytes = 131_072;

/** Time for a worker to decode a message. Decoding is linear: 256 MB take some seconds on a busy machine. */
export const decodingMs = 30_000;

/**
 * Larger messages cause a garbage collection: bytes, text, parts and copies for the sandbox take several times their size, and the
 * collector would wait.
 */
export const collectedMessageBytes = 2_097_152;

/** While a larger message is decoded, and after it, the worker collects what is new. For smaller ones, that would take too large a share. */
export const collectedInWorkerBytes = 8 * megabyte;

/** Larger bodies of responses cause a garbage collection, because a server could send many of them. */
export const collectedBodyBytes = 32 * megabyte;

/** Chunks of a line are joined in blocks of this size, so that no step takes long. */
export const joinedBlockBytes = megabyte;

// A server's lists, results and texts

/** Pages of one list. */
export const maxListPages = 1_000;

/** Entries of a list other than tools. */
export const maxListEntries = 10_000;

/** Characters of one entry of a list. */
export const maxEntryChars = 65_536;

/** The same for a skill, which names each of its files, and may have 512. */
export const maxSkillEntryChars = 262_144;

/** Longer text of a result is not checked for being JSON: that would take as long as everything else, and more memory. */
export const maxCheckedTextChars = 65_536;

/** Characters of the text of a failed call, because several places read it. */
export const maxFailureTextChars = 262_144;

/** Only texts up to this length count as messages that a call is refused. */
export const maxRefusalChars = 4_096;

/** Characters of a server's own version. */
export const maxVersionChars = 100;

/** Characters of the reason why a server is broken. */
export const maxBrokenReasonChars = 1_000;

/** Characters of each text in a note about a failed connection. */
export const maxFailureNoteChars = 1_000;

/** Characters of a server's log message in the log of claudikins. */
export const maxNoticeChars = 500;

/** Characters of the URI of a resource that has changed. */
export const maxUpdatedUriChars = 8_192;

/** Characters of the address of a page in a hint. Longer addresses are left out. */
export const maxHintUrlChars = 2_000;

/** Scopes of a sign-in, because they are stored and shown. */
export const maxScopes = 100;

// Starting and ending

/** Time for a group of processes to end after its stdin was closed. */
export const eofGraceMs = 300;

/** Time for it to end after SIGTERM, before SIGKILL. */
export const termGraceMs = 1_500;

/** Time to read on after the process has ended. */
export const stdioDrainMs = 100;

/** Time to wait for the end of a process that accepts no messages. */
export const stdioEndMs = 1_000;

/** Characters of one write to a server's stdin, unless one message is longer. */
export const stdioWriteChars = 65_536;

/** Time for an answer to `server/discover`. A process that says nothing is of the older era. */
export const discoverMs = 5_000;

/** Time for an agent to name its roots, before a server is started that could be shared. Agents know them, so they need no longer. */
export const rootsMs = 2_000;

/** Time for a server to change its log level. */
export const logLevelMs = 2_000;

/** After this number of failures in a row, a model should ask its user instead of trying again. */
export const hopelessFailures = 3;

/** After this many refused calls in a row, the next one is expected to be refused too. */
export const minRefusedCalls = 2;

/** A longer `Retry-After` is cut to this: people who know that the server works again would not understand the delay. */
export const maxBusyMs = 600_000;

/** Notes about failed connections are removed after this time. */
export const failureNoteKeptMs = 7 * dayMs;

// HTTP and WebSocket

/** Time for the request that ends the session. */
export const httpGoodbyeMs = 1_000;

/** Wait, after a session has ended, to learn which of its other requests were refused. */
export const httpVerdictMs = 1_000;

/** Time for a notification to be accepted: each occupies one of a limited number of sockets. */
export const httpNoticeMs = 10_000;

/** Time that an answer may need through the parsers after its stream has ended. */
export const httpDrainMs = 100;

/** Failed attempts to resume a stream, after which its answer counts as cut off. The SDK's default. */
export const maxResumptions = 2;

/** A longer `Retry-After` is cut to this. */
export const maxRetryAfterMs = 24 * hourMs;

/** Time to close the socket. */
export const socketGoodbyeMs = 1_000;

/** Time to find out why a socket could not be opened. */
export const socketInquiryMs = 3_000;

/** Time limit of a program that prints a secret. It is the limit of Claude Code for the programs of `headersHelper`. */
export const printingRunMs = 10_000;

/** A new connection uses headers of this age or less. A server that closes idle connections does not cost a run each time. */
export const headersFreshMs = 300_000;

/** Time in which new headers that were refused, or a run that failed, are not followed by another run. */
export const headersFailureMs = 30_000;

// Signing in

/** Time in which a keychain that could not be used is not asked again for the key of sign-ins. */
export const keychainRestMs = 60_000;

/** Processes of servers that are started for single people, in one process of claudikins. */
export const maxOwnProcesses = 200;

/** Interval in which the sign-in of a person who was sent to a page is looked for. */
export const signInLookMs = 200;

/** Life of an exchanged token whose provider names none. */
export const defaultTokenMs = 5 * 60_000;

/** Time that a person has to enter a device code, if its authorization server does not say. */
export const defaultDeviceCodeMs = 10 * 60_000;

/** Time that a person has at most, whatever the authorization server says. */
export const maxDeviceCodeMs = 60 * 60_000;

/** Wait between two questions whether the person has entered a code, if the authorization server does not say, and what each `slow_down` adds (RFC 8628, section 3.5). */
export const deviceIntervalMs = 5_000;

/** The shortest wait between two such questions, so that an authorization server is not asked all the time. */
export const minDeviceIntervalMs = 200;

/** The longest wait between two such questions, so that the person does not wait for long. */
export const maxDeviceIntervalMs = 60_000;

/** Characters of a device code that are shown. Real ones have about eight. */
export const maxUserCodeChars = 64;

/** Time in which a server that has refused the client is not asked again, unless the user signs in. */
export const refusedSignInMs = 30_000;

/** A renewed token that a server refuses within this time is not renewed again. */
export const freshTokenMs = 30_000;

/** Tokens are renewed this long before they expire, because a request takes time, and clocks differ. */
export const renewalMarginMs = 60_000;

/** Time of one request to an authorization server. */
export const authRequestMs = 10_000;

/** Time for a server to answer a request without credentials, which asks what sign-in it wants. */
export const authProbeMs = 10_000;

/** Shorter values are not looked for in texts. */
export const minSecretChars = 6;

/** Secrets of a server that are remembered. Old ones are kept as well, because a late message may contain one. */
export const maxLearnedSecrets = 200;

/** Values of one reference that are remembered, for the same reason. A command may print one for each person of a team. */
export const maxKnownValues = 200;

/** Characters that are compared at once when secrets are looked for. A secret has at least as many. */
export const secretAnchorChars = minSecretChars;

/** Shorter encoded forms of a secret would match unrelated text. */
export const minEncodedSecretChars = 8;

// What servers ask, announce and run

/** Open requests of one server. */
export const maxOpenServerRequests = 16;

/** Time for an answer that needs no person. */
export const serverRequestMs = 30_000;

/** Values in a request of a server. */
export const maxServerRequestValues = 10_000;

/** Levels of a request of a server. */
export const maxServerRequestDepth = 100;

/** Characters of the responder's error text. */
export const maxResponderErrorChars = 500;

/** A server that asks more often for one request does not end. */
export const maxInputRounds = 10;

/** The delay before a request is sent again for a server that asks nothing but to come back. */
export const requestAgainMs = 250;

/** Requests for the state of a task that may fail in a row, because a network may be away for a while. */
export const maxTaskPollFailures = 3;

/** Time for the server to take note that a task was cancelled. */
export const taskCancelMs = 5_000;

/** Time for the server to accept a subscription to its changes. */
export const subscriptionMs = 10_000;

/** Additional delay before resources are subscribed again, after the time from which a broken server may be tried again. */
export const resubscribeMs = 10;

/** After this many lists of tools, a server that announces a change during each one is believed. */
export const maxDefinitionAnswers = 3;

/** Servers that are asked for a list at the same time, at least. Starting programs mostly wait: for a download, for an answer. */
export const minListedAtOnce = 8;

/** The same for each core. */
export const listedPerCore = 4;

/** A server that takes longer gives its turn to the next one, and is still waited for. */
export const listingTurnMs = 3_000;

/** With slow servers, at most this many times as many requests are open. */
export const slowListingFactor = 4;

/** Listings after changes of one server that may follow each other within the time below. After that, they are further apart. */
export const changeBurst = 5;

/** The time for these listings. */
export const changeBurstMs = 60_000;

/** The time between further ones. */
export const changeGapMs = 10_000;

/** Delay of calls until a server has processed what it asked for, whatever it requests. */
export const maxReadinessMs = 10_000;

/** Time for an answer to a ping, which MCP requires. */
export const readinessPingMs = 3_000;

/** Time for a server to process an answer. No message says that it has: server-filesystem first looks at each root on the disk. */
export const readinessDigestMs = 200;

/** Answered pings that it gets at least besides this time. They take longer on a busy machine. */
export const readinessDigestPings = 5;

/** Pause between two of these pings. */
export const readinessPauseMs = 20;

// Output and logs

/** Last characters of stderr, and first bytes of a line that is not a message, that are kept for an error message. */
export const keptOutputBytes = 16_384;

/** Lines of output in an error message. */
export const maxErrorLines = 5;

/** Characters of the line that a program writes to stderr instead of a secret. */
export const maxSaidChars = 200;

/** Characters of one of these lines. */
export const maxErrorLineChars = 300;

/** Lines on stdout that are not messages and are still reported. */
export const maxReportedLines = 100;

/** Longer lines of a server's output are cut here. */
export const maxLoggedLineChars = 65_536;

/** So much is dropped at the end of a line that was cut, because a secret may be cut in two there. */
export const maxSecretChars = 16_384;

/** Characters of a log message of the protocol in a server's log. */
export const maxLogMessageChars = 1_000;

/** Characters that count for a log line besides its text. */
export const logLineCostChars = 50;

/** Time after which dropped output of a server is reported. */
export const droppedReportMs = 1_000;

/** Characters that a server may log at once. More are dropped. */
export const logBurstChars = 262_144;

/** Characters that it may log in each second afterwards. */
export const logCharsPerSecond = 32_768;

/** Characters of one line of a log file. */
export const maxLogLineChars = 2_000;

/** Size of a log file, and of the renamed older one. */
export const maxLogFileBytes = megabyte;

/** If a log file cannot be renamed, it may grow to this multiple of its size. */
export const maxLogOvergrowth = 4;

/** Delay before log lines are written, so that lines of one moment are written together. */
export const logWriteAfterMs = 50;

/** Wait for another process that renames or removes log files. */
export const logLockWaitMs = 2_000;

/** Logs of servers that were not started for this long are removed. */
export const logKeptMs = 30 * dayMs;

/** Wait for writers of logs when this process ends. Much longer than a process's pipes are read after its end: a busy machine is late. */
export const logLastWordsMs = 1_000;

// Boxes of confined servers.

/** Interpreters of one program: a script whose interpreter is a script. */
export const maxInterpreters = 4;

/** Size of each folder in the memory of a box, such as /tmp. */
export const boxMemoryMb = 256;

/** Time to install the package of `npx` before its server is started in a box. */
export const packageInstallMs = 120_000;

/** Connections at once that one server may open through its proxy. */
export const maxProxyConnections = 256;

/** The head of a request to the proxy. */
export const maxProxyHeadBytes = 8_192;

/** Time to send the head of a request, and to connect to a host. */
export const proxyConnectMs = 15_000;

/** Refused connections of one process that are logged. */
export const maxProxyRefusals = 20;
