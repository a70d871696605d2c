/** Writes a multipart body (RFC 7578). A part of a `FormData` that has a media type gets a file name too, and servers take it for a file. */
import { randomBytes } from "node:crypto";

export interface Part {
  name: string;
  /** Only files have it. */
  fileName?: string | undefined;
  mediaType?: string | undefined;
  content: string | Uint8Array<ArrayBuffer>;
}

export interface Multipart {
  /** With the boundary. */
  mediaType: string;
  body: Blob;
}

/** `mediaType` is `multipart/form-data` or another kind without parameters. */
export function multipart(parts: readonly Part[], mediaType: string): Multipart {
  const boundary = `claudikins-${randomBytes(16).toString("hex")}`;
  const pieces = parts.flatMap((part) => [`--${boundary}\r\n${headOf(part)}\r\n\r\n`, part.content, "\r\n"]);
  return { mediaType: `${mediaType}; boundary=${boundary}`, body: new Blob([...pieces, `--${boundary}--\r\n`]) };
}

function headOf({ name, fileName, mediaType }: Part): string {
  const file = fileName === undefined ? "" : `; filename="${quoted(fileName)}"`;
  const type = mediaType === undefined ? "" : `\r\nContent-Type: ${mediaType.replace(/[\r\n]/g, "")}`;
  return `Content-Disposition: form-data; name="${quoted(name)}"${file}${type}`;
}

/** As browsers do (HTML, "multipart form data"). */
function quoted(text: string): string {
  return text.replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll('"', "%22");
}
