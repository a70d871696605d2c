/** A folder of releases, and a server for it that can be made hostile. */
import { ownPlatform } from "../../../src/setup/upgrade/platforms.ts";

export interface ReleaseServer extends Disposable {
  url: string;
  /** The files of the release, by name. A function answers the request itself. */
  files: Map<string, string | Uint8Array | (() => Response)>;
  /** The paths that were asked for. */
  asked: string[];
  /** Makes the release of this executable. `name` is its name in the archive. The platform is that of this machine by default. */
  release(version: string, executable: string | Uint8Array, name?: string, platform?: string): Promise<void>;
}

export const archiveName = `claudikins-${ownPlatform()?.name}.tar.gz`;

export function releaseServer(): ReleaseServer {
  const files: ReleaseServer["files"] = new Map();
  const asked: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch(request) {
      const name = new URL(request.url).pathname.slice(1);
      asked.push(name);
      const file = files.get(name);
      if (file === undefined) return new Response("no such file", { status: 404 });
      return typeof file === "function" ? file() : new Response(file as Uint8Array<ArrayBuffer>);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    files,
    asked,
    async release(version, executable, name = "claudikins", platform) {
      const archived = platform === undefined ? archiveName : `claudikins-${platform}.tar.gz`;
      const bytes = typeof executable === "string" ? await Bun.file(executable).bytes() : executable;
      const archive = await new Bun.Archive({ [name]: bytes, LICENSE: "MIT" }, { compress: "gzip", level: 1 }).bytes();
      const sum = new Bun.CryptoHasher("sha256").update(archive).digest("hex");
      files.set(archived, archive);
      files.set("SHA256SUMS", `${"0".repeat(64)}  other.tar.gz\n${sum}  ${archived}\n`);
      files.set("release.json", JSON.stringify({ version }));
    },
    [Symbol.dispose]: () => void server.stop(true),
  };
}
