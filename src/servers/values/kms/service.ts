/** A key management service, as `kms.ts` uses it. */

/** A service, with the credentials of its environment. Both functions throw ServiceFailure. */
export interface Kms {
  /** The key is the one that opens the text again: some services name a version of the given one. */
  encrypt(key: string, value: Buffer): Promise<{ key: string; text: string }>;
  decrypt(key: string, text: string): Promise<Buffer>;
}
