/** Quotes words of commands that are shown to be typed in a shell. */

/** Quotes the word if a POSIX shell would change it. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
