/** install.sh as most people run it, piped into a shell: its downloads, checks and files. */
import { describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { basics, everyArchive, fakeProgram, Machine, packed, Release, script, scriptText } from "./harness.ts";

describe("a fresh install", () => {
  test("downloads, checks, installs, prints the next steps and runs the demo", async () => {
    await using release = new Release(fakeProgram("1.2.3"));
    using machine = new Machine();
    const { code, stdout, stderr } = await machine.run({ env: release.env });
    expect(stderr).toBe("");
    expect(stdout).toBe(`Downloading ${release.base}/${release.requests[1]}

claudikins 1.2.3 is installed: ~/.local/bin/claudikins

~/.local/bin is not on your PATH.
Add this line to ~/.profile, then open a new terminal:
  export PATH=~/.local/bin:"$PATH"

Demo: one program makes seven calls to the built-in demo shop at once, and only its return value is printed:
home: <tmp>/demo, folder: <tmp>/demo, files: 

Next, import the MCP servers of your agents. To see what would change, without writing anything:
  ~/.local/bin/claudikins init --dry-run
To make the changes, and to undo them:
  ~/.local/bin/claudikins init
  ~/.local/bin/claudikins restore
`);
    expect(code).toBe(0);
    expect(release.requests[0]).toBe("SHA256SUMS");
    expect(lstatSync(machine.program).mode & 0o777).toBe(0o755);
    expect(readdirSync(join(machine.home, ".local", "bin"))).toEqual(["claudikins"]);
  });

  test.each(["sh", "dash", "bash", "busybox"].filter((shell) => Bun.which(shell)))("works in %s", async (shell) => {
    await using release = new Release(fakeProgram("1.2.3"));
    using machine = new Machine();
    const file = join(machine.root, "install.sh");
    copyFileSync(script, file);
    const started = shell === "busybox" ? { file: "sh", args: [file] } : { file };
    const result = await machine.run({ env: release.env, shell: Bun.which(shell)!, ...started });
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(existsSync(machine.program)).toBe(true);
  });

  test("works in folders with spaces and quotes, and with a relative folder", async () => {
    await using release = new Release(fakeProgram("1.2.3"));
    using machine = new Machine("it's $HOME of claudikins ");
    const result = await machine.run({ env: { ...release.env, CLAUDIKINS_INSTALL: "my programs/" } });
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(result.stdout).toContain("\nclaudikins 1.2.3 is installed: <root>/my programs/claudikins\n");
    expect(readdirSync(join(machine.root, "my programs"))).toEqual(["claudikins"]);
  });

  test.each([".:REAL", ":REAL", "REAL:", "./:REAL", "bin:REAL", "../project:REAL"])(
    "runs no program of the folder that it is started in with the PATH %s",
    async (path) => {
      await using release = new Release(fakeProgram("1.2.3"));
      using machine = new Machine();
      const project = join(machine.root, "project");
      const said = join(machine.root, "said");
      const tools = [
        "curl",
        "wget",
        "tar",
        "gh",
        "mktemp",
        "uname",
        "sha256sum",
        "shasum",
        "dirname",
        "rm",
        "claudikins",
      ];
      for (const name of tools) {
        for (const file of [join(project, name), join(project, "bin", name)]) {
          machine.write(file, `#!/bin/sh\necho ${name} >> ${said}\nexit 1\n`);
        }
      }
      // Without one of its programs, the script would look for it in the project.
      machine.restrictTo(...basics, "curl", "sha256sum", "shasum");
      machine.path = path.replace("REAL", machine.path);
      const result = await machine.run({ env: release.env, cwd: project });
      expect([existsSync(said) && readFileSync(said, "utf8"), result.code, result.stderr]).toEqual([false, 0, ""]);
    },
  );

  // macOS has no wget.
  test.skipIf(!Bun.which("wget"))("uses wget if curl is missing", async () => {
    await using release = new Release(fakeProgram("1.2.3"));
    using machine = new Machine().restrictTo(...basics, "sha256sum", "shasum", "wget");
    expect(await machine.run({ env: release.env })).toMatchObject({ code: 0, stderr: "" });
    expect(existsSync(machine.program)).toBe(true);
    const missing = await machine.run({ env: { CLAUDIKINS_BASE_URL: `${release.base}/nowhere` } });
    expect(missing.code).toBe(1);
    expect(missing.stderr).toStartWith(`error: cannot download ${release.base}/nowhere/SHA256SUMS\n`);
  });

  test.each(["sha256sum", "shasum", "openssl"].filter((tool) => Bun.which(tool)))(
    "checks the download with %s alone",
    async (tool) => {
      await using release = new Release(fakeProgram("1.2.3"));
      // shasum is a Perl script.
      using machine = new Machine().restrictTo(...basics, "curl", tool, "perl");
      expect(await machine.run({ env: release.env })).toMatchObject({ code: 0, stderr: "" });
      await using other = new Release(fakeProgram("6.6.6"), everyArchive(packed(fakeProgram("7.7.7"))));
      expect((await machine.run({ env: other.env })).stderr).toContain("damaged or is not the released file");
    },
  );

  test.skipIf(!Bun.which("busybox"))(
    `needs no tools but those of BusyBox and curl${Bun.which("busybox") ? "" : " (skipped: there is no busybox)"}`,
    async () => {
      await using release = new Release(fakeProgram("1.2.3"));
      using machine = new Machine().restrictTo("curl", "ldd");
      for (const tool of [...basics.filter((name) => name !== "ldd"), "sha256sum"]) {
        machine.fake(tool, `exec '${Bun.which("busybox")}' ${tool} "$@"`);
      }
      expect(await machine.run({ env: release.env })).toMatchObject({ code: 0, stderr: "" });
      expect(readFileSync(machine.program, "utf8")).toBe(fakeProgram("1.2.3"));
    },
  );

  test("skips the demo on request", async () => {
    await using release = new Release(fakeProgram("1.2.3"));
    using machine = new Machine();
    const { code, stdout } = await machine.run({ env: { ...release.env, CLAUDIKINS_NO_DEMO: "1" } });
    expect(code).toBe(0);
    expect(stdout).toEndWith("  ~/.local/bin/claudikins init\n  ~/.local/bin/claudikins restore\n");
  });

  test("fails if the demo fails, and says that the program is installed", async () => {
    await using release = new Release('#!/bin/sh\n[ "$1" = --version ] && echo 1.2.3\n');
    using machine = new Machine();
    const { code, stderr } = await machine.run({ env: release.env });
    expect(code).toBe(1);
    expect(stderr).toStartWith("error: claudikins is installed, but its demo failed\n\nhint: ");
    expect(existsSync(machine.program)).toBe(true);
  });
});

describe("an upgrade", () => {
  test("replaces the old program by a rename, as the last step", async () => {
    using machine = new Machine();
    machine.write(machine.program, fakeProgram("1.0.0"));
    const old = lstatSync(machine.program).ino;
    let seen = "";
    const archive = packed(fakeProgram("2.0.0"));
    const answer = () => {
      seen = readFileSync(machine.program, "utf8");
      return new Response(archive);
    };
    await using release = new Release(fakeProgram("2.0.0"), everyArchive(answer));
    expect(await machine.run({ env: release.env })).toMatchObject({ code: 0 });
    expect(seen).toBe(fakeProgram("1.0.0"));
    expect(readFileSync(machine.program, "utf8")).toBe(fakeProgram("2.0.0"));
    expect(lstatSync(machine.program).ino).not.toBe(old);
  });
});

describe("the downloaded release", () => {
  // Prints the requested address, without a network.
  const noNetwork = 'for last; do :; done\necho "$last" >&2\nexit 6';
  const github = "https://github.com/claudikins/claudikins/releases";

  test.each([
    ["the latest release", {}, `${github}/latest/download/SHA256SUMS`],
    ["a version", { CLAUDIKINS_VERSION: "0.1.0" }, `${github}/download/v0.1.0/SHA256SUMS`],
    ["a tag", { CLAUDIKINS_VERSION: "v0.1.0" }, `${github}/download/v0.1.0/SHA256SUMS`],
    ["a mirror", { CLAUDIKINS_BASE_URL: "https://mirror.test/c/" }, "https://mirror.test/c/SHA256SUMS"],
  ])("is %s", async (_name, env: Record<string, string>, url) => {
    using machine = new Machine().fake("curl", noNetwork);
    expect(await machine.run({ env })).toEqual({
      code: 1,
      stdout: expect.stringContaining("Downloading https://"),
      stderr: `${url}\nerror: cannot download ${url}\n\nhint: Nothing was changed. Check the network, and that this release exists: ${github}\n`,
    });
  });
});

describe("the command line", () => {
  test("explains every setting with --help", async () => {
    using machine = new Machine();
    const { code, stdout, stderr } = await machine.run({ args: ["--help"] });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const settings = new Set(scriptText.match(/\bCLAUDIKINS_\w+/g));
    settings.delete("CLAUDIKINS_CONFIG"); // The program's own.
    for (const setting of settings) expect(stdout).toContain(setting);
  });

  test("refuses unknown arguments", async () => {
    using machine = new Machine();
    expect(await machine.run({ args: ["--prefix", "x"] })).toEqual({
      code: 2,
      stdout: "",
      stderr: "error: unknown argument: --prefix x\n\nhint: settings are environment variables: see --help\n",
    });
  });
});

test("a truncated script does nothing", () => {
  const begin = scriptText.indexOf("{");
  for (let cut = begin + 1; cut < scriptText.length - 1; cut += scriptText.length - cut > 20 ? 31 : 1) {
    const { stdout, stderr } = Bun.spawnSync(["/bin/sh", "-s"], {
      stdin: Buffer.from(scriptText.slice(0, cut)),
      env: { PATH: "" },
    });
    expect(stdout.toString()).toBe("");
    expect(stderr.toString(), scriptText.slice(cut - 20, cut)).toMatch(/syntax error|unexpected EOF/i);
  }
});
