/** The value of a JSON text, or `other` if it is none. */
export function parsedOr<Other>(text: string, other: Other): unknown | Other {
  try {
    return JSON.parse(text);
  } catch {
    return other;
  }
}
