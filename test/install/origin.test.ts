/** install.sh asks GitHub who made a download if it can, and installs nothing that the release workflow did not make. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { basics, fakeProgram, Machine, packed, Release, type Run } from "./harness.ts";

const slug = "claudikins/claudikins";

interface Github {
  /** The commands that fail. */
  fails?: string;
  /** The first line of the answer about attestations. */
  status?: string;
}

/** Installs a release "from GitHub": curl takes it from a server here, and gh answers as told. Returns the calls of gh too. */
async function install(github?: Github): Promise<Run & { calls: string; isInstalled: boolean }> {
  await using release = new Release(fakeProgram("1.2.3"));
  using machine = new Machine();
  machine.fake(
    "curl",
    `while [ $# -gt 0 ]; do case $1 in --output) file=$2 ;; https://github.com/${slug}/releases/latest/download/*) name=\${1##*/} ;; esac; shift; done
exec '${Bun.which("curl")}' --fail --silent --output "$file" "${release.base}/$name"`,
  );
  const { fails = "nothing", status = "HTTP/2.0 200 OK" } = github ?? {};
  const calls = `${machine.root}/calls`;
  const gh = `echo "$GH_HOST $*" >>'${calls}'
case "$1 $2 $*" in *"${fails}"*) echo "gh failed" >&2; exit 1 ;; esac
case $1 in api) echo '${status}'; echo; echo '{"answer": "HTTP/2.0 404"}' ;; esac`;
  if (github) machine.fake("gh", gh);
  else machine.restrictTo(...basics, "sha256sum");
  const run = await machine.run();
  const said = existsSync(calls) ? (await Bun.file(calls).text()).replaceAll(machine.temporary, "<tmp>") : "";
  return {
    ...run,
    calls: said.replaceAll(/<tmp>\/claudikins\.\w+/g, "<tmp>"),
    isInstalled: existsSync(machine.program),
  };
}

const attested = "GitHub attests that the release workflow made it\n";

test("the attestation of the archive is verified, and names the release workflow", async () => {
  const { code, stdout, stderr, calls } = await install({});
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain(attested);
  const [, archive = ""] = /(claudikins-\S+\.tar\.gz)/.exec(stdout) ?? [];
  const sum = new Bun.CryptoHasher("sha256").update(packed(fakeProgram("1.2.3"))).digest("hex");
  expect(calls.replace(/sha256:\w+/, `sha256:${sum}`)).toBe(`github.com attestation verify --help
github.com auth token
github.com api --include repos/${slug}/attestations/sha256:${sum}
github.com attestation verify <tmp>/${archive} --repo ${slug} --signer-workflow ${slug}/.github/workflows/release.yml
`);
});

test.each([
  [
    "the attestation is not valid",
    { fails: "attestation verify <" },
    /^gh failed\nerror: the attestation of \S+ is not valid$/m,
  ],
  [
    "there is no attestation",
    { status: "HTTP/2.0 404 Not Found" },
    /^error: GitHub knows no attestation of \S+\.tar\.gz, /m,
  ],
])("nothing is installed if %s", async (_name, github: Github, message) => {
  const fails = github.fails?.replace("<", "/");
  const { code, stderr, isInstalled } = await install({ ...github, ...(fails ? { fails } : {}) });
  expect(stderr).toMatch(message);
  expect(stderr).toMatch(/\nhint: Nothing was changed\. /);
  expect({ code, isInstalled }).toEqual({ code: 1, isInstalled: false });
});

test.each([
  ["gh is missing", undefined],
  ["gh is too old", { fails: "--help" }],
  ["gh is not signed in", { fails: "auth token" }],
])("install.sh silently verifies only the sum if %s", async (_name, github: Github | undefined) => {
  const { code, stdout, stderr } = await install(github);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).not.toContain("GitHub");
});

test.each(["", "HTTP/2.0 503 Service Unavailable", "HTTP/2.0 403 Forbidden"])(
  'install.sh verifies only the sum, and mentions it, if GitHub answers "%s"',
  async (status) => {
    const { code, stdout, stderr } = await install({ status });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("GitHub cannot be asked who made the download, so only its SHA-256 was verified\n");
    expect(stdout).not.toContain(attested);
  },
);

test("a mirror is not asked for attestations", async () => {
  await using release = new Release(fakeProgram("1.2.3"));
  using machine = new Machine().fake("gh", "echo called >&2; exit 1");
  expect(await machine.run({ env: release.env })).toMatchObject({ code: 0, stderr: "" });
});
