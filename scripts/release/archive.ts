/** Makes archives whose bytes depend on nothing but their files: no times, no users, always the same order. */
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { pack } from "tar-stream";

export interface ArchivedFile {
  /** Below the archive's root, with slashes. */
  path: string;
  content: Uint8Array | string;
  isExecutable?: boolean;
}

/** The time that npm gives to all files of its packages. Some programs dislike 1970. */
const mtime = new Date("1985-10-26T08:15:00Z");

/** Returns a tar archive, compressed by gzip, with the files in the order of their paths. */
export async function archive(files: readonly ArchivedFile[]): Promise<Uint8Array<ArrayBuffer>> {
  const tar = pack();
  for (const { path, content, isExecutable } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    tar.entry({ name: path, mode: isExecutable ? 0o755 : 0o644, mtime, uid: 0, gid: 0 }, Buffer.from(content));
  }
  tar.finalize();
  const chunks: Uint8Array[] = [];
  await pipeline(
    tar,
    new Writable({
      write(chunk: Uint8Array, _encoding, done) {
        chunks.push(chunk);
        done();
      },
    }),
  );
  // The header of this gzip has no name, no time and no system.
  return Bun.gzipSync(Buffer.concat(chunks), { library: "libdeflate", level: 6 });
}
