/** Digests of texts and bytes. Generated files use them too, so nothing here may need Bun. */
import { createHash } from "node:crypto";

/** 64 hexadecimal digits. */
export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
