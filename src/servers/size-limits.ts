/** Maximum bytes that a peer may send at once. Compressed data counts with its decompressed size. */

const megabyte = 1_048_576;

/** One message of a server: a line on stdout, a JSON body, or one event of a stream. */
export const maxMessageBytes = 256 * megabyte;

/** Lines of one event. A parser needs far more memory for a short line than the line has bytes. */
export const maxEventLines = 1_000_000;

/** One message over a WebSocket. The limit is Bun's own, which accepts no other value. */
export const maxSocketMessageBytes = 128 * megabyte;

/** A response of an authorization server: metadata, registrations and tokens. */
export const maxMetadataBytes = megabyte;

/** A response of a model's endpoint. */
export const maxCompletionBytes = 16 * megabyte;

/** The body of a failed request, which is read only for the error message. */
export const maxErrorBytes = 65_536;

/** As shown in errors: `256 MB`. */
export function megabytes(bytes: number): string {
  return `${bytes / megabyte} MB`;
}
