/**
 * The first two lines of generated files that are programs. The system starts them with `/bin/sh`, for which the second line
 * is a command; for JavaScript it is a string and a comment.
 *
 * The shell starts the file with Bun, Node.js or claudikins, which has Bun in it. Node.js reads TypeScript from 22.18 and 23.6 on,
 * from 22.6 on with a flag; an older one is passed over. Bun is told to read no `bunfig.toml`, `.env`
 * or `tsconfig.json`: it would take them from the working directory, which may be anybody's, and run what they name. For the same reason a
 * runtime that the PATH finds by a relative folder does not count.
 */
const command = [
  "for name in bun node claudikins; do",
  "at=$(command -v $name);",
  "case $at in /*) ;; *) continue ;; esac;",
  "case $name in node)",
  'case $("$at" --version) in',
  // Bun is looked for before, claudikins after it.
  "v[0-9].*|v1?.*|v2[01].*|v22.[0-5].*) old=$at; continue ;;",
  "v22.[6-9].*|v22.1[0-7].*|v23.[0-5].*)",
  'exec "$at" --experimental-strip-types --disable-warning=ExperimentalWarning "$0" "$@" ;;',
  '*) exec "$at" "$0" "$@" ;; esac ;;',
  "claudikins) export BUN_BE_BUN=1 ;; esac;",
  'exec "$at" --config=/dev/null --env-file=/dev/null --tsconfig-override=/dev/null "$0" "$@";',
  "done;",
  'echo "To run $0, install Bun, Node.js 22.18 or claudikins, and put it on the PATH.${old:+ $old is too old.}" >&2;',
  "exit 127",
].join(" ");

export const programLines = `#!/bin/sh\n":" //; ${command}\n`;

/** What stands before the rest of a program that this version of claudikins, or an earlier one, has generated. */
export const anyProgramLines = /^(?:#!.*\n(?:":" \/\/;.*\n)?)?/;
