/** Decodes percent-encoded text that may be malformed. */

/** Returns the text itself if it is not valid percent-encoding. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
