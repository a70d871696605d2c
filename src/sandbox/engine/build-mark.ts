/** What a saved program depends on: it continues only over the memory of an engine that was made in exactly the same way. */
import { builtIn } from "../../base/built-in.ts";
import { version } from "../../base/version.ts";
import snapshotFile from "../guest-snapshot.bin" with { type: "file" };
import { madeFile } from "./made-files.ts";
import { programSourcesDigest } from "./program-sources.ts";
import { programBytes } from "./wasm.ts";

/** The build replaces an empty file with the snapshot. From source, a build may have kept one; else the guest's script runs. */
export async function snapshotFor(guest: string): Promise<Uint8Array> {
  const made = madeFile("guest", guest);
  const kept = made === undefined ? undefined : Bun.file(made);
  return (kept && (await kept.exists()) ? kept : Bun.file(snapshotFile)).bytes();
}

/** Names the build: the version of claudikins, for people, and a digest, which several versions can have in common. */
export async function buildMark(guest: string): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  const sources = builtIn?.programSources ?? programSourcesDigest();
  // The snapshot follows from the others.
  for (const part of [Bun.version, await programBytes(), guest, sources]) hash.update(part);
  return `${version} ${hash.digest("hex").slice(0, 32)}`;
}
