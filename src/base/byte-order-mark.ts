/** The byte order mark in UTF-8, which some programs write before the first message. */
export const byteOrderMark = [0xef, 0xbb, 0xbf] as const;

/** A view of the bytes after a byte order mark. */
export function withoutMark<Bytes extends Uint8Array>(bytes: Bytes): Bytes {
  return byteOrderMark.every((byte, at) => bytes[at] === byte)
    ? (bytes.subarray(byteOrderMark.length) as Bytes)
    : bytes;
}
