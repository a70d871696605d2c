/** Turns of phrase that must not come back, each with an example and a better wording. */

export interface Pattern {
  pattern: RegExp;
  bad: string;
  write: string;
}

export const patterns: Pattern[] = [
  {
    pattern: /\bso many\b/i,
    bad: "The last so many lines (100)",
    write: "Number of lines to show, newest last (default 100)",
  },
  {
    pattern: /(?<!\bout )\bof which\b/i,
    bad: "of one, so many calls (40), of which the longest",
    write: "Maximum number of calls to show (default 40, longest first)",
  },
  { pattern: /\bshall\b/i, bad: "A file that shall not be written to", write: "A file that must not be changed" },
  {
    pattern: /\bas it is told\b|\bas they are told\b/i,
    bad: "The state, as it is told by the server",
    write: "The state that the server reports",
  },
  {
    pattern: /\b(?:known|told|said|learned) of\b/i,
    bad: "Show the servers and what is known of them",
    write: "Show the servers, their tools and their state",
  },
  { pattern: /\bis said\b/i, bad: "Each problem is said on stderr", write: "Each problem is printed on stderr" },
  {
    pattern: /\bin here\b/i,
    bad: "There is no network in here: call a tool of a server.",
    write: "The sandbox has no network: call a server's tool.",
  },
  {
    pattern: /(?<!\b[Tt]here )\b(?:is|are) no (?!longer\b|more\b)/,
    bad: "out is no JSON",
    write: "out is not JSON",
  },
  {
    pattern: /\band no (?:TypeScript|text|number)\b/,
    bad: "This is JSON and no TypeScript",
    write: "This is JSON, not TypeScript",
  },
  { pattern: /\bno part of\b/i, bad: "Marks are no part of a query", write: "Marks are not part of a query" },
  {
    pattern: /\bis nothing, nothing\b/i,
    bad: "Of what is nothing, nothing.",
    write: "Zero counts are omitted.",
  },
  {
    pattern: /\bwhere nobody\b/i,
    bad: "Elsewhere, where nobody can be asked, a command ends with exit code 2.",
    write: "Without a terminal, the command fails with exit code 2.",
  },
  {
    pattern: /\bwhere (?:nothing|none) (?:is|are|was|were)\b|\bwhere there is none\b/i,
    bad: "Another model of the endpoint; or preset/model, where none is configured",
    write: "Another model of the endpoint; or preset/model if no endpoint is configured",
  },
  {
    pattern: /\bwithout a word\b/i,
    bad: "Without a word in the config, all.",
    write: "By default every tool may be called.",
  },
  {
    pattern: /\bsuch a one\b|\bof one's own\b/i,
    bad: "with headers, proxies and certificates of one's own",
    write: "with your own headers, proxies and certificates",
  },
  {
    pattern: /\b(?:is|was|are|were|not|be) to be had\b/i,
    bad: "pctx was not to be had from there",
    write: "pctx is not published there",
  },
  {
    pattern: /(?:^|[.!?] )[A-Z][a-z]+(?:ed|wn|pt) (?:is|are) (?:those|what|that|the)\b/,
    bad: "Measured are those that the npm registry has.",
    write: "We benchmark the versions published on npm.",
  },
  {
    pattern: /(?:^|[.!?] )Who(?:ever)? [^.?!]*[.!]/,
    bad: "Who finds nothing begins.",
    write: "Any process creates the file if it is missing.",
  },
  {
    pattern: /(?:^|[.!?] )What [a-z][^.?!:]*\b(?:is|are|was|has|goes|stays|counts)\b[^.?!:]*\.(?= |$)/,
    bad: "What the task does not say is asked for at a terminal.",
    write: "At a terminal, claudikins asks for missing arguments.",
  },
  {
    pattern: /\b[Ss]o (?:they are|it is|is it|are they) (?:on|with|in|for)\b/,
    bad: "So they are on Windows.",
    write: "On Windows, servers always belong to the command that started them.",
  },
  {
    pattern: /,? also (?:where|when|with|of|in|to|for) (?:the|a|no|none|nothing|it|that|those|there)\b/i,
    bad: "is refused, also where it is named",
    write: "is refused even if you name it",
  },
  { pattern: /\banew\b/i, bad: "Start your agent anew.", write: "Restart your agent." },
  {
    pattern: /\bwhat repairs\b/i,
    bad: "Look at everything, and say what repairs what is wrong",
    write: "Check the whole setup and suggest fixes",
  },
  {
    pattern: /\bcounts here\b/i,
    bad: "The config file that counts here: where it is",
    write: "Print the path of the active config file",
  },
  {
    pattern: /\b(?:is|are|be) spoken\b/i,
    bad: "How its address is spoken to: http, sse or ws",
    write: "Transport of the address: http, sse or ws",
  },
  {
    pattern: /\bbe rid of\b/i,
    bad: "how to be rid of it all",
    write: "how to uninstall it",
  },
  {
    pattern: /\bto be (?:the|an?) [a-z]+ of all\b|\bto whom it\b|\bbe their only one\b/i,
    bad: "Take over the MCP servers of your agents, and be their only one",
    write: "Import your agents' servers and put claudikins in their place",
  },
  {
    pattern: /(?:^|[;,.] )of what (?:is|was|are)\b/i,
    bad: "A day; of what is long ago a month or a year",
    write: "One bar per day; older data is grouped by month or year",
  },
  {
    pattern: /\b(?:an?|one) (?:[A-Za-z]+ ){1,2}an? (?:line|day)\b/i,
    bad: "Write them there, whole, a JSON document a line",
    write: "Write every message there, one JSON document per line",
  },
  {
    pattern: /\b(?:which|what|that|skills|tools|servers) there (?:is|are)\b/i,
    bad: "Which tools there are comes from the registry.",
    write: "The registry lists the tools.",
  },
  {
    pattern: /\b(?:is|are) told so\b/i,
    bad: "where not, the server is told so",
    write: "otherwise the server receives an error",
  },
  { pattern: /\bfor once\b/i, bad: "--model names one for once", write: "--model selects a model for this run" },
  {
    pattern: /\bgo(?:es)? on (?:with|waiting)\b/i,
    bad: "Go on with what is added, until Ctrl-C",
    write: "Keep printing new lines until Ctrl-C",
  },
];

/** Ways to begin a comment that leave a reader without a subject. Questions may begin like this. */
export const commentPatterns: Pattern[] = [
  {
    pattern: /^(?:Of|Whose|Whoever|Whom|Who|Those|That of)\b(?!.*\?$)/,
    bad: "Of what is nothing, nothing.",
    write: "Zero counts are omitted.",
  },
];

/** Titles of tests must say what is expected, subject first. */
export const titlePatterns: Pattern[] = [
  {
    pattern: /^(?:who|whoever|whose|whom|of|what|that|those)\b/i,
    bad: "of many calls the longest, those that failed first",
    write: "the longest calls are shown, failed ones first",
  },
  {
    pattern: /\bwhoever\b/i,
    bad: "the build is the same whoever starts it",
    write: "the build does not depend on the user's variables",
  },
  {
    pattern: /\bthat (?:is|are) none\b/,
    bad: "an address that is none stays where it is",
    write: "an invalid address is not imported",
  },
  {
    pattern: /\bthat there (?:is|are) not\b|\bthat (?:is|are) not there\b/,
    bad: "a level that there is not, and a file that is not there",
    write: "an unknown level and a missing file are refused",
  },
  {
    pattern: /\bwhere (?:nobody|none|one (?:is|does|has)|there (?:is|are))\b/,
    bad: "asks nobody where nobody sits",
    write: "is refused without a terminal",
  },
  {
    pattern: /\b(?:keeps?|harms?) (?:nobody|nothing|none of the others)\b/,
    bad: "a server that fails keeps nobody from anything",
    write: "a server that fails stops nothing",
  },
  {
    pattern: /\bgo(?:es)? on\b/,
    bad: "a cancelled call ends, and the server goes on",
    write: "a cancelled call ends, and the server continues",
  },
  {
    pattern: /\ball the same\b|\banother one by now\b/,
    bad: "the log can be read all the same",
    write: "the log can still be read",
  },
];
