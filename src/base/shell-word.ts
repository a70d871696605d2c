/** Writes commands that are shown to be typed in a shell: a POSIX shell, and PowerShell on Windows. */

const isWindows = process.platform === "win32";

/** Quotes the word if the shell would change it. */
export function shellWord(word: string): string {
  return isWindows ? powerShellWord(word) : posixWord(word);
}

export function posixWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** PowerShell takes typographic quotes for straight ones. */
export function powerShellWord(word: string): string {
  return /^[\w:./\\-]+$/.test(word) ? word : `'${word.replaceAll(/['\u2018-\u201b]/g, "$&$&")}'`;
}

/** The form of a command for the shell of this system. */
export function inShell(posix: string, powerShell: string): string {
  return isWindows ? powerShell : posix;
}
