/**
 * install.sh in a checkout: the Bun that it builds with, and its errors. The checkout is a small one whose Bun is a
 * script; `.ci/run` builds a real one.
 */
import { expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeProgram, Machine, Release, script } from "./harness.ts";

const pinned = "9.8.7";
const noBunHere = `error: building requires Bun ${pinned}, or npm to install it

hint: Install Node.js 18 or newer, which includes npm (https://nodejs.org), then run this again.
`;

/** A Bun that does only what the script needs: it installs itself as a dependency, and builds the fake program. */
function fakeBun(version: string): string {
  return `#!/bin/sh
set -e
case $* in
  --version) echo ${version} ;;
  "install --frozen-lockfile --cache-dir "*) [ -d "$4" ]; echo package >"$4/package"; mkdir -p node_modules/.bin; cat "$0" >.new; chmod 755 .new; mv .new node_modules/.bin/bun ;;
  "run build") mkdir -p dist; cp program dist/claudikins; echo "built by $0" ;;
  *) exit 9 ;;
esac
`;
}

/** Puts `bun` where npm would put Bun. */
function fakeNpm(bun: string): string {
  return `echo "npm $*"
[ "$1 $2" = "install --prefix" ] || exit 9
mkdir -p "$3/node_modules/.bin" "$3/node_modules/bun"
cat >"$3/node_modules/.bin/bun" <<'END'
${bun}END
chmod 755 "$3/node_modules/.bin/bun"`;
}

class Checkout extends Machine {
  readonly folder = join(this.root, "the checkout");
  readonly file = join(this.folder, "install.sh");

  constructor() {
    super();
    mkdirSync(join(this.folder, "scripts"), { recursive: true });
    copyFileSync(script, this.file);
    writeFileSync(join(this.folder, "scripts", "build.ts"), "");
    this.package({ name: "claudikins", devDependencies: { "bun-types": "1.0.0", bun: pinned } });
    this.write(join(this.folder, "program"), fakeProgram("1.2.3"));
    this.restrictTo(
      "sh",
      "env",
      "uname",
      "mktemp",
      "mkdir",
      "dirname",
      "grep",
      "sed",
      "cp",
      "chmod",
      "mv",
      "rm",
      "cat",
      "ls",
    );
  }

  package(content: object): void {
    writeFileSync(join(this.folder, "package.json"), JSON.stringify(content, null, 2));
  }

  install() {
    return this.run({ file: this.file });
  }
}

test("a checkout is built with the Bun of node_modules", async () => {
  using checkout = new Checkout();
  checkout.write(join(checkout.folder, "node_modules", ".bin", "bun"), fakeBun(pinned));
  const { code, stdout, stderr } = await checkout.install();
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toStartWith(`Building with Bun ${pinned} (node_modules/.bin/bun)\nbuilt by node_modules/.bin/bun\n
claudikins 1.2.3 is installed: ~/.local/bin/claudikins\n`);
  expect(stdout).toContain("\nDemo: ");
  expect(readFileSync(checkout.program, "utf8")).toBe(fakeProgram("1.2.3"));
});

test.each(["installed", "not installed"])(
  "the packages are not kept twice: no cache is left after dependencies that are %s",
  async (how) => {
    using checkout = new Checkout();
    const fails = fakeBun(pinned).replace("mkdir -p node_modules/.bin;", "exit 1;");
    checkout.write(join(checkout.tools, "bun"), how === "installed" ? fakeBun(pinned) : fails);
    checkout.write(join(checkout.home, ".bun/install/cache/of the user"), "kept");
    expect((await checkout.install()).code).toBe(how === "installed" ? 0 : 1);
    expect(readdirSync(join(checkout.folder, "node_modules"))).toEqual(how === "installed" ? [".bin"] : []);
    expect(readdirSync(join(checkout.home, ".bun"), { recursive: true })).toEqual([
      "install",
      "install/cache",
      "install/cache/of the user",
    ]);
  },
);

test("a checkout is built with the Bun on PATH if node_modules has another version", async () => {
  using checkout = new Checkout();
  checkout.write(join(checkout.folder, "node_modules", ".bin", "bun"), fakeBun("1.0.0"));
  checkout.write(join(checkout.tools, "bun"), fakeBun(pinned));
  const { code, stdout } = await checkout.install();
  expect(stdout).toStartWith(`Building with Bun ${pinned} (bun)\nbuilt by <root>/tools/bun\n`);
  expect(code).toBe(0);
});

test("a checkout gets the pinned version of Bun from npm, in a temporary folder", async () => {
  using checkout = new Checkout();
  checkout.write(join(checkout.tools, "bun"), fakeBun("1.0.0"));
  checkout.fake("npm", fakeNpm(fakeBun(pinned))).fake("node", "exit 9");
  const { code, stdout } = await checkout.install();
  expect(stdout).toStartWith(`Installing Bun ${pinned} from npm
npm install --prefix <tmp>/bun --no-save --no-audit --no-fund --no-update-notifier --loglevel=error --cache <tmp>/npm bun@${pinned}
Building with Bun ${pinned} (<tmp>/bun/node_modules/.bin/bun)\n`);
  expect(code).toBe(0);
});

test("install.sh completes the installation of Bun if npm runs no install scripts", async () => {
  using checkout = new Checkout();
  checkout.write(join(checkout.root, "real-bun"), fakeBun(pinned));
  checkout.fake("npm", fakeNpm("#!/bin/sh\nexit 1\n"));
  checkout.fake("node", `cd "\${1%/bun/install.js}" && cp '${checkout.root}/real-bun' .bin/bun`);
  expect(await checkout.install()).toMatchObject({ code: 0, stderr: "" });
});

test.each([
  ["no Bun and no npm", () => {}, noBunHere],
  ["another Bun and no npm", (at: Checkout) => at.write(join(at.tools, "bun"), fakeBun("1.0.0")), noBunHere],
  [
    "an npm that fails",
    (at: Checkout) => at.fake("node", "exit 9").fake("npm", "echo 'npm error 403' >&2; exit 1"),
    `npm error 403\nerror: npm could not install Bun ${pinned}\n\nhint: Check the network and the registry: npm ping\n`,
  ],
  [
    "a Bun that does not run here",
    (at: Checkout) => at.fake("node", "exit 9").fake("npm", fakeNpm("#!/bin/sh\nexit 1\n")),
    `error: the Bun that npm installed does not run here\n\nhint: Install Bun ${pinned} yourself: https://bun.com\n`,
  ],
  [
    "a package.json that pins no Bun",
    (at: Checkout) => at.package({ name: "claudikins" }),
    "error: package.json does not pin a version of Bun\n\nhint: Restore it: git checkout package.json\n",
  ],
  [
    "dependencies that cannot be installed",
    (at: Checkout) => at.write(join(at.tools, "bun"), `#!/bin/sh\n[ "$1" = --version ] && echo ${pinned}\n`),
    /^error: cannot install the dependencies\n\nhint: Check the network\. .+\n$/,
  ],
  [
    "a build that fails",
    (at: Checkout) => {
      at.write(join(at.tools, "bun"), fakeBun(pinned));
      rmSync(join(at.folder, "program"));
    },
    /\nerror: the build failed\n\nhint: .+\n$/,
  ],
])("building a checkout fails with a hint: %s", async (_name, prepare: (checkout: Checkout) => unknown, message) => {
  using checkout = new Checkout();
  prepare(checkout);
  const { code, stderr } = await checkout.install();
  if (typeof message === "string") expect(stderr).toBe(message);
  else expect(stderr).toMatch(message);
  expect(code).toBe(1);
  expect(existsSync(checkout.program)).toBe(false);
});

test("install.sh downloads if it is piped, even in a checkout, or if it stands beside another package", async () => {
  await using release = new Release(fakeProgram("1.2.3"));
  using checkout = new Checkout();
  checkout.path = process.env["PATH"]!;
  const piped = await checkout.run({ env: release.env, cwd: checkout.folder });
  expect(piped.stdout).toStartWith("Downloading ");
  checkout.package({ name: "another", dependencies: { claudikins: "*" } });
  const copied = await checkout.run({ env: release.env, file: checkout.file });
  expect(copied.stdout).toStartWith("Downloading ");
});

test("the build does not depend on the user's variables and their bunfig.toml", async () => {
  using checkout = new Checkout();
  const bun = fakeBun(pinned).replace('echo "built by $0"', `echo "$HOME $(env)" >'${checkout.root}/seen'`);
  checkout.write(join(checkout.folder, "node_modules", ".bin", "bun"), bun);
  writeFileSync(join(checkout.home, ".bunfig.toml"), 'preload = ["./evil.ts"]\n');
  const env = {
    BUN_OPTIONS: "--preload=./evil.ts",
    BUN_CONFIG_VERBOSE_FETCH: "curl",
    BUN_RUNTIME_TRANSPILER_CACHE_PATH: "evil",
    NODE_ENV: "development",
    NODE_OPTIONS: "--require=./evil.cjs",
    NODE_PATH: "evil",
    XDG_CONFIG_HOME: "evil",
  };
  expect(await checkout.run({ file: checkout.file, env })).toMatchObject({ code: 0, stderr: "" });
  const seen = readFileSync(join(checkout.root, "seen"), "utf8");
  expect(seen).not.toContain(checkout.home);
  const names = [...seen.matchAll(/^(?:.* )?([A-Z_]+)=/gm)].map(([, name]) => name);
  expect(
    names.filter((name) => name !== "PWD" && name !== "_" && name !== "SHLVL" && name !== "OLDPWD").sort(),
  ).toEqual(["HOME", "PATH", "TMPDIR"]);
});
