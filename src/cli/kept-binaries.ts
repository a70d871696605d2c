/** Keeps the images, sounds and files of an execution in the workspace, if no other place was named for them. */
import { join } from "node:path";
import type { Binary } from "../base/media.ts";
import type { OutputFolders } from "../sandbox/host/outputs.ts";
import { numbered, type WrittenFile } from "./result-files.ts";

/**
 * Writes the binaries of an execution to the workspace, named by its id, as far as it has room. The paths are absolute. Throws an error
 * without paths.
 */
export async function keepBinaries(
  binaries: readonly Binary[],
  folders: OutputFolders,
  id: string,
): Promise<WrittenFile[]> {
  if (binaries.length === 0) return [];
  const { Outputs } = await import("../sandbox/host/outputs.ts");
  const outputs = new Outputs(folders);
  return binaries.map((binary, place) => {
    const name = numbered(id, place + 1, binary);
    const bytes = Buffer.from(binary.data, "base64");
    outputs.write(name, bytes);
    return { file: join(folders.workspace, "outputs", name), mimeType: binary.mimeType, bytes: bytes.length };
  });
}
