/**
 * Converts long texts into bytes, and back, as the guest's libraries do. Returns undefined for unusual texts, which are left to the
 * libraries.
 */
import type { ByteKind } from "../guest/kinds.ts";

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function bytesOfText(kind: ByteKind, text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, kind);
  // Platforms differ in what they make of base64 that is not in the usual form.
  return kind === "utf8" || bytes.toString(kind) === text ? bytes : undefined;
}

/** Texts with a zero cannot be passed to the engine, and a byte order mark may have to be removed. */
export function textOfBytes(kind: ByteKind, bytes: Uint8Array): string | undefined {
  if (kind !== "utf8") return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(kind);
  if (bytes.includes(0) || bytes[0] === 0xef) return undefined;
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Converts between text of Latin-1 and base64. Both are texts. */
export function base64OfLatin1({ text }: { text: string }): string | undefined {
  const bytes = Buffer.from(String(text), "latin1");
  return bytes.toString("latin1") === text ? bytes.toString("base64") : undefined;
}

export function latin1OfBase64({ text }: { text: string }): string | undefined {
  return bytesOfText("base64", String(text)) && Buffer.from(text, "base64").toString("latin1");
}
