/** The limits of the page: how often it looks for changes, how much it shows, and what it may ask. */

import { hourMs, minuteMs } from "../base/units.ts";

// Looking for changes

/** How often the state is compared while a page is open. */
export const pageLookMs = 400;

/** The end of a process changes no file, so what is known of processes is read again after this time. */
export const processesFreshMs = 2_000;

/** Time without events after which an open page gets a keep-alive. */
export const pageKeepAliveMs = 15_000;

/** Events that wait for a page. A page that is further behind is disconnected, and connects again. */
export const maxQueuedEvents = 20;

/** How often a page that is hidden asks for the state. */
export const hiddenLookMs = 30_000;

/** Delay before a page connects again. */
export const reconnectMs = 1_000;

/** Requests in a row without an answer, after which the daemon counts as ended. */
export const maxUnansweredRequests = 4;

/** How often the ages on the page are drawn again. */
export const agesRedrawMs = 1_000;

// Acting

/** After a card above has gone, the others move up. Clicks within this time were meant for another card. */
export const movedCardMs = 500;

/** Longer bodies are refused, also by the server before they are read. */
export const maxPageBodyBytes = 262_144;

/** Time for a person to sign in. */
export const pageSignInMs = 5 * minuteMs;

/** A sign-in to the page counts as new for this time. A person who opens the link of a server later signs in again, often without noticing. */
export const freshSignInMs = minuteMs;

/** Sign-ins to the page that have begun in one browser, in as many tabs. Each has a cookie, and servers limit the size of all cookies. */
export const maxBrowserSignIns = 6;

/** Characters of the path to which a person returns after a sign-in. The longest link of a server fits. It is in the cookie of the sign-in. */
export const maxReturnChars = 1_200;

/** Sign-ins of one person to servers that have begun. */
export const maxConnecting = 20;

/** Sessions of one person at the page, in as many browsers. Beyond it, the person's oldest one ends. */
export const maxPersonSessions = 50;

/** The longest session of a person, if the provider's token does not end before. */
export const personSessionMs = 8 * hourMs;

// Approvals

/** Characters of the line of code of an approval. */
export const maxApprovalCodeChars = 2_000;

/** Decided approvals on the page. */
export const maxShownDecided = 10;

/** How long decided approvals stay on the page. */
export const decidedShownMs = hourMs;

/** Longer arguments are indented in a worker. */
export const maxIndentedInlineChars = 2_000;

/** Time for the worker to indent them. */
export const indentingMs = 10_000;

// Executions, tools and savings

/** Executions in the list. */
export const maxShownExecutions = 100;

/** Runs of a saved program. */
export const maxShownRuns = 5;

/** Characters of the value of an execution that was started on the page. */
export const maxShownValueChars = 20_000;

/** Characters of the input of a schedule, and of the example of an input. */
export const maxShownInputChars = 500;

/** Characters of the message of a scheduled run that failed. */
export const maxShownMessageChars = 500;

/** Characters of a program in the list. */
export const maxShownCodeChars = 200;

/** Calls of an execution that are shown as rows. */
export const maxWaterfallRows = 500;

/** Time for a worker to make the page of an execution. */
export const executionPageMs = 20_000;

/** Characters of the description of a tool. */
export const maxShownDescriptionChars = 300;

/** Tools that are shown at first, and with each "Show more". */
export const shownToolsStep = 100;

/** Tools in the chart of calls. */
export const maxSavingsTools = 12;

/** Lines of the difference between two definitions. `claudikins review` shows all. */
export const maxShownDiffLines = 400;
