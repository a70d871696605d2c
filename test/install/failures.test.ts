/** After any failed download, the old program is still there, no other file is left, and the message names a next step. */
import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { everyArchive, fakeProgram, Machine, packed, Release, sumsOf, tarOf } from "./harness.ts";

const old = fakeProgram("1.0.0");
const released = fakeProgram("2.0.0");
const archive = packed(released);

function machineWithOldProgram(): Machine {
  const machine = new Machine();
  return machine.write(machine.program, old);
}

/** A whole line of the standard error output, an error or a hint, with `message` somewhere in it. */
async function expectFailure(machine: Machine, env: Record<string, string>, message: RegExp): Promise<void> {
  const { code, stderr } = await machine.run({ env });
  expect(stderr).toMatch(/^error: .+\n[\s\S]*\nhint: .+\n$/m);
  expect(stderr).toMatch(message);
  expect(code).toBe(1);
  expect(readFileSync(machine.program, "utf8")).toBe(old);
}

test.each([
  ["a program that is not the listed one", packed(fakeProgram("6.6.6")), /^error: the download is damaged/m],
  ["a truncated file", archive.slice(0, -20), /^error: the download is damaged/m],
  ["an empty file", "", /^error: the download is damaged/m],
  ["a missing file", 404, /^error: cannot download \S+\/claudikins-\S+\.tar\.gz$/m],
  ["a server error", 503, /^error: cannot download \S+\/claudikins-\S+\.tar\.gz$/m],
])("a download is refused: %s", async (_name, answer, message) => {
  using machine = machineWithOldProgram();
  await using release = new Release(released, everyArchive(answer));
  await expectFailure(machine, release.env, message);
});

test("a program that is not listed is not downloaded", async () => {
  using machine = machineWithOldProgram();
  await using release = new Release(released, { SHA256SUMS: `${"0".repeat(64)}  claudikins-plan9-x64.tar.gz\n` });
  await expectFailure(
    machine,
    release.env,
    /^error: this release has no claudikins-\S+\.tar\.gz \(see .+\/SHA256SUMS\)$/m,
  );
  expect(release.requests).toEqual(["SHA256SUMS"]);
});

test("an address without a release is an error", async () => {
  using machine = machineWithOldProgram();
  await using release = new Release(released, { SHA256SUMS: 404 });
  await expectFailure(machine, release.env, /^error: cannot download \S+\/SHA256SUMS$/m);
});

test("a list of checksums that is a web page is an error", async () => {
  using machine = machineWithOldProgram();
  await using release = new Release(released, { SHA256SUMS: "<html>\n<p>Please  log in</p>\n</html>" });
  await expectFailure(machine, release.env, /^error: this release has no claudikins-/m);
});

test("a connection that breaks during the download is an error", async () => {
  using machine = machineWithOldProgram();
  await using release = new Release(released);
  // An HTTP server cannot promise more than it sends; a socket can.
  using dying = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      async data(socket, request) {
        const name = / \/(\S+)/.exec(request.toString())![1]!;
        const body = await (await fetch(`${release.base}/${name}`)).bytes();
        socket.write(`HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`);
        socket.write(name === "SHA256SUMS" ? body : body.slice(0, 40));
        socket.end();
      },
    },
  });
  const env = { CLAUDIKINS_BASE_URL: `http://127.0.0.1:${dying.port}` };
  await expectFailure(machine, env, /^error: cannot download \S+\/claudikins-\S+\.tar\.gz$/m);
});

test("a server that cannot be reached is an error", async () => {
  using machine = machineWithOldProgram();
  // Port 9 discards data if anything listens there.
  await expectFailure(machine, { CLAUDIKINS_BASE_URL: "http://127.0.0.1:9" }, /^error: cannot download/m);
});

test.each([
  ["no archive", () => Buffer.from("no archive")],
  ["a gzip file without an archive", () => Bun.gzipSync("no archive")],
  ["a truncated archive", () => Bun.gzipSync(Bun.gunzipSync(archive).slice(0, 700))],
  ["an archive without the program", (at: string) => tarOf(at, "LICENSE")],
  ["an archive with a link in its place", (at: string) => tarOf(at, "claudikins", "LICENSE")],
  ["an archive with another path to it", (at: string) => tarOf(at, "--absolute-names", join(at, "victim"))],
  ["an archive with a folder in its place", (at: string) => tarOf(at, "--transform=s/folder/claudikins/", "folder")],
])("a listed file is refused, and no other file is touched: %s", async (_name, make) => {
  using machine = machineWithOldProgram();
  const folder = join(machine.root, "made");
  mkdirSync(join(folder, "folder"), { recursive: true });
  for (const name of ["LICENSE", "victim", "folder/inside"]) writeFileSync(join(folder, name), "as it was");
  symlinkSync("victim", join(folder, "claudikins"));
  const made = make(folder) as Uint8Array<ArrayBuffer>;
  await using release = new Release(released, { ...everyArchive(made), SHA256SUMS: sumsOf(made) });
  await expectFailure(
    machine,
    release.env,
    /^error: (cannot unpack claudikins-\S+\.tar\.gz to |the new program does not run)/m,
  );
  expect(readFileSync(join(folder, "victim"), "utf8")).toBe("as it was");
});

test("a truncated archive is described in one sentence, without the words of tar and gzip", async () => {
  using machine = machineWithOldProgram();
  const made = archive.slice(0, 60);
  await using release = new Release(released, { ...everyArchive(made), SHA256SUMS: sumsOf(made) });
  const { code, stderr } = await machine.run({ env: release.env });
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(
      /^error: cannot unpack claudikins-\S+\.tar\.gz to ~\/\.local\/bin: the archive is incomplete or damaged\n\nhint: Nothing was changed\. Run this again\. .+\n$/,
    ),
  ]);
});

test("files beside the program are not unpacked, wherever an archive wants them", async () => {
  using machine = machineWithOldProgram();
  const folder = join(machine.root, "made");
  machine.write(join(folder, "claudikins"), released);
  writeFileSync(join(folder, "extra"), "");
  const made = tarOf(
    folder,
    "--absolute-names",
    `--transform=s,^extra,${machine.root}/escaped,`,
    "claudikins",
    "extra",
  );
  await using other = new Release(released, { ...everyArchive(made), SHA256SUMS: sumsOf(made) });
  expect(await machine.run({ env: other.env })).toMatchObject({ code: 0 });
  expect(readFileSync(machine.program, "utf8")).toBe(released);
  expect(existsSync(join(machine.root, "escaped"))).toBe(false);
});

test("a program that does not run on this machine is an error", async () => {
  using machine = machineWithOldProgram();
  await using release = new Release("#!/bin/sh\nexit 132\n");
  await expectFailure(
    machine,
    release.env,
    /^error: the new program does not run on this machine; nothing was changed$/m,
  );
});

test("a program that does not run on musl may lack a library", async () => {
  using machine = machineWithOldProgram().fake("ldd", 'echo "musl libc (x86_64)" >&2; exit 1');
  await using release = new Release("#!/bin/sh\nexit 127\n");
  await expectFailure(machine, release.env, /\n\nhint: It needs libstdc\+\+\. In Alpine Linux: apk add libstdc\+\+\n$/);
});

test.each(["curl or wget", "tar", "something to check with"])("a machine without %s is refused", async (missing) => {
  using machine = machineWithOldProgram();
  const has = {
    "curl or wget": ["tar", "sha256sum", "shasum"],
    tar: ["curl"],
    "something to check with": ["curl", "tar"],
  };
  machine.restrictTo("uname", "ldd", "mktemp", "mkdir", "dirname", "rm", ...has[missing as keyof typeof has]);
  await using release = new Release(released);
  await expectFailure(machine, release.env, /^error: .*installed.*\n\nhint: Install /m);
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("%s ends a download and leaves no files", async (signal, code) => {
  using machine = machineWithOldProgram();
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const never = () => {
    resolve();
    return new Promise<Response>(() => {});
  };
  await using release = new Release(released, everyArchive(never));
  const installing = machine.start({ env: release.env });
  await asked;
  process.kill(-installing.pid, signal);
  expect(await installing.exited).toBe(code);
  machine.expectNoLeftovers();
  expect(readFileSync(machine.program, "utf8")).toBe(old);
});

test("a folder that cannot be written to is refused before the download", async () => {
  using machine = machineWithOldProgram();
  await using release = new Release(released);
  const file = join(machine.root, "file");
  writeFileSync(file, "");
  const env = { ...release.env, CLAUDIKINS_INSTALL: join(file, "bin") };
  await expectFailure(machine, env, /^error: cannot write to <root>\/file\/bin$/m);
  expect(release.requests).toEqual([]);
});

// root can write to every folder.
test.skipIf(process.getuid?.() === 0)("a read-only folder is refused before the download", async () => {
  using machine = machineWithOldProgram();
  await using release = new Release(released);
  const folder = join(machine.root, "read-only");
  mkdirSync(folder, { mode: 0o555 });
  const env = { ...release.env, CLAUDIKINS_INSTALL: join(folder, "bin") };
  await expectFailure(machine, env, /^error: cannot write to <root>\/read-only\/bin$/m);
  chmodSync(folder, 0o755);
  expect(release.requests).toEqual([]);
});

test("a folder in the place of the program is refused", async () => {
  using machine = machineWithOldProgram();
  await using release = new Release(released);
  mkdirSync(join(machine.root, "bin", "claudikins"), { recursive: true });
  const env = { ...release.env, CLAUDIKINS_INSTALL: join(machine.root, "bin") };
  await expectFailure(machine, env, /^error: <root>\/bin\/claudikins is a folder$/m);
  expect(existsSync(join(machine.root, "bin", "claudikins"))).toBe(true);
});

test("install.sh is refused without HOME", async () => {
  using machine = machineWithOldProgram();
  await using release = new Release(released);
  await expectFailure(machine, { ...release.env, HOME: "" }, /^error: HOME is not set$/m);
});
