/** Release servers that are slow, endless or redirect elsewhere, and archives that are bombs or have links. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import {
  type DownloadLimits,
  downloadFile,
  executableIn,
  findRelease,
  usualLimits,
} from "../../../src/setup/upgrade/releases.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { archiveName, type ReleaseServer, releaseServer } from "./release-server.ts";

let server: ReleaseServer;
const env = () => ({ CLAUDIKINS_BASE_URL: server.url });
const { signal } = new AbortController();
beforeEach(async () => {
  server = releaseServer();
  await server.release("0.2.0", Buffer.from("program"));
});
afterEach(() => server[Symbol.dispose]());

const error = (code: string, message: string) =>
  expect.objectContaining({
    code,
    message: expect.stringContaining(message),
    hint: expect.stringContaining("Nothing was changed."),
  }) as never;

/** A body that never ends, and sends a chunk when it is read. */
const endless = (chunk: Uint8Array | undefined) => () =>
  new Response(
    new ReadableStream({
      pull: (controller) => (chunk ? controller.enqueue(chunk) : new Promise(() => {})),
    }),
  );

const download = (limits: Partial<DownloadLimits> = {}) =>
  downloadFile({ version: "0.2.0", base: server.url }, archiveName, signal, { ...usualLimits, ...limits });

describe("a download", () => {
  test("has the bytes whose sum is listed", async () => {
    expect(await findRelease(undefined, env(), signal)).toEqual({ version: "0.2.0", base: server.url });
    const program = await executableIn(await download(), "claudikins");
    expect(Buffer.from(program).toString()).toBe("program");
  });

  test("ends at the maximum size if the archive is endless", async () => {
    server.files.set(archiveName, endless(new Uint8Array(65_536)));
    await expect(download({ archiveBytes: 1_048_576 })).rejects.toThrow(error("UPGRADE_FAILED", "is larger than 1 MB"));
  });

  test("ends if the server is silent or takes too long", async () => {
    server.files.set(archiveName, endless(undefined));
    await expect(download({ silenceMs: 100 })).rejects.toThrow(error("SERVER_UNAVAILABLE", "the server took too long"));
    const drip = async (to: ReadableStreamDefaultController) => {
      await Bun.sleep(20);
      to.enqueue(new Uint8Array(1));
    };
    const slow = () => new Response(new ReadableStream({ pull: drip }));
    server.files.set(archiveName, slow);
    await expect(download({ wholeMs: 200 })).rejects.toThrow(error("SERVER_UNAVAILABLE", "the server took too long"));
  });

  test("ends when it is interrupted", async () => {
    server.files.set(archiveName, endless(undefined));
    const interrupted = new AbortController();
    const running = downloadFile({ version: "0.2.0", base: server.url }, archiveName, interrupted.signal);
    setTimeout(() => interrupted.abort(), 50);
    await expect(running).rejects.toThrow(expect.objectContaining({ code: "CANCELLED" }) as never);
  });

  test("follows redirects, but not for ever and not to files", async () => {
    const to = (location: string) => () => new Response(null, { status: 302, headers: { location } });
    server.files.set("release.json", to("/moved.json"));
    server.files.set("moved.json", '{"version":"0.3.0"}');
    expect((await findRelease(undefined, env(), signal)).version).toBe("0.3.0");
    server.files.set("release.json", to("/release.json"));
    await expect(findRelease(undefined, env(), signal)).rejects.toThrow(
      error("SERVER_UNAVAILABLE", "it redirects too often"),
    );
    server.files.set("release.json", to("file:///etc/passwd"));
    await expect(findRelease(undefined, env(), signal)).rejects.toThrow(error("UPGRADE_FAILED", "redirects to file:"));
  });

  test("is refused if the release has another version", async () => {
    await expect(findRelease("0.4.0", env(), signal)).rejects.toThrow(
      error("VERSION_NOT_FOUND", "There is no claudikins 0.4.0"),
    );
  });
});

describe("an archive", () => {
  const packed = (files: Record<string, string | Uint8Array>) =>
    new Bun.Archive(files as Record<string, string>, { compress: "gzip" }).bytes();
  const refused = (message: string) => error("UPGRADE_FAILED", message);

  test("is refused if it would unpack to more than the maximum", async () => {
    const bomb = await packed({ claudikins: new Uint8Array(5_000_000) });
    expect(bomb.length).toBeLessThan(100_000);
    await expect(executableIn(bomb, "claudikins", 1_000_000)).rejects.toThrow(refused("Cannot unpack the archive"));
  });

  test("is refused if it has a link in the place of the executable", async () => {
    using folder = temporaryFolder();
    symlinkSync("/etc/passwd", join(folder.path, "claudikins"));
    Bun.spawnSync(["tar", "-czf", "link.tar.gz", "claudikins"], { cwd: folder.path });
    const bytes = await Bun.file(join(folder.path, "link.tar.gz")).bytes();
    await expect(executableIn(bytes, "claudikins")).rejects.toThrow(refused("The archive has no file claudikins"));
  });

  test("is read if tar has made it, with ./ before the names", async () => {
    using folder = temporaryFolder();
    folder.write("claudikins", "program");
    Bun.spawnSync(["tar", "-czf", "all.tar.gz", "./claudikins"], { cwd: folder.path });
    const bytes = await Bun.file(join(folder.path, "all.tar.gz")).bytes();
    expect(Buffer.from(await executableIn(bytes, "claudikins")).toString()).toBe("program");
  });

  test.each([
    ["text", Buffer.from("no archive")],
    ["an empty file", Buffer.alloc(0)],
    ["a compressed text", Bun.gzipSync(Buffer.from("no archive"))],
  ])("is refused if it is %s", async (_, bytes) => {
    await expect(executableIn(bytes, "claudikins")).rejects.toThrow(refused(""));
  });
});
