/**
 * The sources that a saved program depends on, beside the engine and the guest: the functions that the host gives to the guest, and the
 * form in which a program is stored. The build computes the digest, because an executable has no sources.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export function programSourcesDigest(): string {
  const source = join(import.meta.dir, "..", "..");
  const paths = ["sandbox", "programs"].flatMap((folder) =>
    readdirSync(join(source, folder), { recursive: folder === "sandbox", encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => join(folder, name)),
  );
  const hash = new Bun.CryptoHasher("sha256");
  for (const path of paths.sort()) hash.update(path.replaceAll("\\", "/")).update(readFileSync(join(source, path)));
  return hash.digest("hex");
}
