/** Which program install.sh downloads for each machine, as described by uname, ldd and sysctl. */
import { expect, test } from "bun:test";
import { fakeProgram, Machine, Release } from "./harness.ts";

const glibc = 'echo "ldd (GNU libc) 2.39"';
// musl's ldd does not know --version: it prints its name on stderr and fails.
const musl = 'echo "musl libc (x86_64)" >&2; exit 1';

test.each([
  ["Linux", "x86_64", glibc, "linux-x64"],
  ["Linux", "amd64", 'echo "ldd (Debian GLIBC 2.36-9) 2.36"', "linux-x64"],
  ["Linux", "aarch64", glibc, "linux-arm64"],
  ["Linux", "arm64", glibc, "linux-arm64"],
  ["Linux", "x86_64", musl, "linux-x64-musl"],
  ["Linux", "aarch64", musl, "linux-arm64-musl"],
  ["Darwin", "x86_64", musl, "darwin-x64"],
  ["Darwin", "arm64", musl, "darwin-arm64"],
])("%s on %s with ldd %s gets the program for %s", async (system, machineName, ldd, platform) => {
  await using release = new Release(fakeProgram("1.2.3"));
  using machine = new Machine();
  machine.fake("uname", `[ "$1" = -s ] && echo ${system} || echo ${machineName}`).fake("ldd", ldd);
  machine.fake("sysctl", "exit 1");
  expect(await machine.run({ env: release.env })).toMatchObject({ code: 0, stderr: "" });
  expect(release.requests).toEqual(["SHA256SUMS", `claudikins-${platform}.tar.gz`]);
});

test("a shell that Rosetta translates gets the program for the real processor", async () => {
  await using release = new Release(fakeProgram("1.2.3"));
  using machine = new Machine().fake("uname", '[ "$1" = -s ] && echo Darwin || echo x86_64');
  machine.fake("sysctl", '[ "$*" = "-n sysctl.proc_translated" ] && echo 1');
  await machine.run({ env: release.env });
  expect(release.requests[1]).toBe("claudikins-darwin-arm64.tar.gz");
});

const windows = `this script does not install claudikins on Windows

hint: Install it with npm: npm install --global claudikins. Inside WSL, this script works as on Linux.`;

test.each([
  ["FreeBSD", "amd64", "claudikins is not available for FreeBSD\n\nhint: claudikins runs on Linux, macOS and Windows."],
  ["MINGW64_NT-10.0-26100", "x86_64", windows],
  ["MSYS_NT-10.0-26100", "x86_64", windows],
  ["CYGWIN_NT-10.0", "x86_64", windows],
  [
    "Linux",
    "armv7l",
    "claudikins is not available for Linux on armv7l\n\nhint: claudikins runs on x64 and arm64 processors.",
  ],
])("%s on %s is refused", async (system, machineName, message) => {
  await using release = new Release(fakeProgram("1.2.3"));
  using machine = new Machine().fake("uname", `[ "$1" = -s ] && echo ${system} || echo ${machineName}`);
  expect(await machine.run({ env: release.env })).toEqual({ code: 1, stdout: "", stderr: `error: ${message}\n` });
  expect(release.requests).toEqual([]);
});
