/** Takes the executable out of the archive of a release. Nothing else of the archive is used, so no path in it matters. */
import { gunzipSync } from "node:zlib";
import { ClaudikinsError, messageOf } from "../errors.ts";
import { repository } from "../version.ts";

/** An executable has about 140 MB. */
const maxBytes = 600 * 1_048_576;

/** The bytes of the file with this name. Throws UPGRADE_FAILED if there is none, or if the archive is damaged or enormous. */
export async function executableIn(archive: Uint8Array, name: string, limit = maxBytes): Promise<Uint8Array> {
  try {
    const tar = gunzipSync(archive, { maxOutputLength: limit });
    // Links are not files.
    const files = await new Bun.Archive(tar).files([name, `./${name}`]);
    const [file] = files.values();
    if (file && file.size > 0) return await file.bytes();
  } catch (error) {
    throw broken(`Cannot unpack the archive: ${messageOf(error)}`);
  }
  throw broken(`The archive has no file ${name}`);
}

function broken(message: string): ClaudikinsError {
  return new ClaudikinsError("UPGRADE_FAILED", message, {
    hint: `Nothing was changed. Report this: ${repository}/issues`,
  });
}
