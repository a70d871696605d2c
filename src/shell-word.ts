/** Words of commands that are shown to be typed into a shell. */

/** Quoted where a shell would make something else of it. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
