/** install.sh follows redirects of an https release to https, and never to http. */
import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ownFolder } from "../support/own-folder.ts";
import { archives, basics, fakeProgram, Machine, Release } from "./harness.ts";

const folder = ownFolder({ isShared: true });
let tls: { key: string; cert: string };
beforeAll(() => {
  const [key, cert] = [join(folder.path, "key.pem"), join(folder.path, "cert.pem")];
  const about = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert];
  expect(Bun.spawnSync(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", ...about]).exitCode).toBe(0);
  tls = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
});

/** A machine that downloads with this tool, which trusts the certificate. */
function machineWith(tool: string): Machine {
  const machine = new Machine().restrictTo(...basics, "sha256sum", "shasum", tool);
  writeFileSync(join(machine.home, ".wgetrc"), `ca_certificate = ${join(folder.path, "cert.pem")}\n`);
  writeFileSync(join(machine.home, ".curlrc"), `cacert = ${join(folder.path, "cert.pem")}\n`);
  return machine;
}

const names = ["SHA256SUMS", ...archives];
const redirecting = (address: (name: string) => string, status = 302) =>
  Object.fromEntries(
    names.map((name) => [name, () => new Response("", { status, headers: { Location: address(name) } })]),
  );

describe.each(["curl", "wget"].filter((tool) => Bun.which(tool)))("with %s", (tool) => {
  test.each([301, 302, 303, 307, 308])("a redirect with %i to http installs nothing", async (status) => {
    await using plain = new Release(fakeProgram("6.6.6"));
    await using release = new Release(
      "",
      redirecting((name) => `${plain.base}/${name}`, status),
      tls,
    );
    using machine = machineWith(tool);
    const { code, stderr } = await machine.run({ env: release.env });
    expect({ code, requests: plain.requests, installed: existsSync(machine.program) }).toEqual({
      code: 1,
      requests: [],
      installed: false,
    });
    expect(stderr).toMatch(/^error: .+\n\nhint: Nothing was changed\. /m);
  });

  test("a second redirect that leaves https installs nothing", async () => {
    await using plain = new Release(fakeProgram("6.6.6"));
    await using second = new Release(
      "",
      redirecting((name) => `${plain.base}/${name}`),
      tls,
    );
    await using first = new Release(
      "",
      redirecting((name) => `${second.base}/${name}`),
      tls,
    );
    using machine = machineWith(tool);
    expect((await machine.run({ env: first.env })).code).toBe(1);
    expect({ requests: plain.requests, installed: existsSync(machine.program) }).toEqual({
      requests: [],
      installed: false,
    });
  });

  test("a redirect of the program alone to http installs nothing", async () => {
    await using plain = new Release(fakeProgram("6.6.6"));
    const { SHA256SUMS: _, ...programs } = redirecting((name) => `${plain.base}/${name}`);
    await using release = new Release(fakeProgram("6.6.6"), programs, tls);
    using machine = machineWith(tool);
    expect((await machine.run({ env: release.env })).code).toBe(1);
    expect({ requests: plain.requests, installed: existsSync(machine.program) }).toEqual({
      requests: [],
      installed: false,
    });
  });

  test.each([
    ["another host", (release: Release) => (name: string) => `${release.base}/${name}?token=a&b=1`],
    ["another path", () => (name: string) => `/real/${name}`],
    [
      "an address without a scheme",
      (release: Release) => (name: string) => `${release.base.slice("https:".length)}/${name}`,
    ],
  ])("a redirect to %s on https is followed", async (_, addresses) => {
    await using real = new Release(fakeProgram("1.2.3"), {}, tls);
    const own: Record<string, (path: string) => Promise<Response>> = Object.fromEntries(
      names.map((name) => [
        `real/${name}`,
        () => fetch(`${real.base}/${name}`, { tls: { rejectUnauthorized: false } }),
      ]),
    );
    await using release = new Release("", { ...redirecting(addresses(real)), ...own }, tls);
    using machine = machineWith(tool);
    expect(await machine.run({ env: release.env })).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(machine.program, "utf8")).toBe(fakeProgram("1.2.3"));
  });
});

test("a wget without --https-only downloads nothing", async () => {
  await using release = new Release(fakeProgram("1.2.3"), {}, tls);
  using machine = machineWith("cat");
  machine.fake("wget", "echo 'Usage: wget [-q] [-O FILE] URL' >&2; exit 1");
  const { code, stderr } = await machine.run({ env: release.env });
  expect({ code, stderr, requests: release.requests }).toEqual({
    code: 1,
    stderr: "error: this wget cannot be restricted to https\n\nhint: Install curl or GNU wget, then run this again.\n",
    requests: [],
  });
});
