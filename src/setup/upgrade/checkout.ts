/** Upgrades a checkout: fetches the newest release with git, and builds and installs it with its own install.sh. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ClaudikinsError } from "../../base/errors.ts";
import { shellWord } from "../../base/shell-word.ts";
import { repository } from "../../base/version.ts";
import type { Environment } from "../../config/environment.ts";
import { failureOf, type Ran, runProgram } from "./run.ts";
import { compareVersions, isVersion } from "./versions.ts";

/** The branch that releases are made from. */
const branch = "main";

/** Time for git to fetch a release. */
const gitFetchMs = 120_000;

/** Time for git to read or change a checkout. */
const gitLocalMs = 30_000;

/** Time to build and install a checkout. */
const checkoutBuildMs = 900_000;

export class Checkout {
  readonly folder: string;
  readonly #env: Environment;
  readonly #signal: AbortSignal;

  constructor(folder: string, env: Environment, signal: AbortSignal) {
    this.folder = folder;
    // git must not ask for a password, and must work on this folder whatever the environment says.
    const names = Object.keys(env).filter((name) => !/^GIT_(?:DIR|WORK_TREE|INDEX_FILE)$/.test(name));
    this.#env = { ...Object.fromEntries(names.map((name) => [name, env[name]])), GIT_TERMINAL_PROMPT: "0" };
    this.#signal = signal;
  }

  /** Fetches the tags and returns the newest version, or the wanted one. Throws UPGRADE_FAILED, VERSION_NOT_FOUND, SERVER_UNAVAILABLE. */
  async find(wanted: string | undefined): Promise<string> {
    if (!existsSync(join(this.folder, ".git"))) {
      throw new ClaudikinsError(
        "UPGRADE_FAILED",
        `This claudikins was built in ${this.folder}, and there is no checkout any longer`,
        {
          hint: `Install a release: curl -fsSL ${repository}/releases/latest/download/install.sh | sh`,
        },
      );
    }
    const fetched = await this.#git(["fetch", "--tags", "--quiet"], gitFetchMs);
    if (fetched.exitCode !== 0) {
      throw new ClaudikinsError("SERVER_UNAVAILABLE", `git could not fetch the releases: ${failureOf(fetched)}`, {
        hint: `Nothing was changed. Run it yourself: ${this.#shown("fetch", "--tags")}`,
      });
    }
    const { stdout } = await this.#asked(["tag", "--list", "v*"]);
    const versions = stdout
      .split("\n")
      .map((tag) => tag.trim().slice(1))
      .filter(isVersion)
      .sort(compareVersions);
    const found =
      wanted === undefined
        ? versions.findLast((each) => !each.includes("-"))
        : versions.find((each) => each === wanted);
    if (found !== undefined) return found;
    throw new ClaudikinsError(
      "VERSION_NOT_FOUND",
      wanted === undefined ? "The checkout has no tag of a release" : `There is no tag v${wanted}`,
      {
        hint: `Nothing was changed. To install the newest commit: ${this.#shown("pull")} && ${this.#installer}`,
      },
    );
  }

  /** Throws UPGRADE_FAILED if the checkout is not as a release needs it. */
  async check(version: string): Promise<void> {
    const refuse = (message: string, hint: string) =>
      new ClaudikinsError("UPGRADE_FAILED", message, { hint: `Nothing was changed. ${hint}` });
    const { stdout: changes } = await this.#asked(["status", "--porcelain", "--untracked-files=no"]);
    if (changes.trim() !== "") {
      throw refuse(
        `The checkout ${this.folder} has local changes`,
        `Commit them or put them away: ${this.#shown("stash")}`,
      );
    }
    const { stdout: current } = await this.#asked(["rev-parse", "--abbrev-ref", "HEAD"]);
    if (current.trim() !== branch) {
      const where = current.trim() === "HEAD" ? "is at no branch" : `is on the branch ${current.trim()}`;
      throw refuse(
        `The checkout ${this.folder} ${where}, and releases are made from ${branch}`,
        this.#shown("switch", branch),
      );
    }
    const ahead = await this.#git(["merge-base", "--is-ancestor", "HEAD", `v${version}`], gitLocalMs);
    if (ahead.exitCode !== 0) {
      throw refuse(
        `The checkout ${this.folder} has commits that v${version} does not have`,
        `To build what is there: ${this.#installer}`,
      );
    }
  }

  /** The commit that is checked out. */
  async head(): Promise<string> {
    return (await this.#asked(["rev-parse", "HEAD"])).stdout.trim();
  }

  /** Moves to the tag and installs it to the folder of the executable. Throws UPGRADE_FAILED. */
  async install(version: string, target: string): Promise<void> {
    await this.#asked(["merge", "--ff-only", "--quiet", `v${version}`]);
    const env = { ...this.#env, CLAUDIKINS_INSTALL: target, CLAUDIKINS_NO_DEMO: "1" };
    const options = { env, cwd: this.folder, signal: this.#signal, timeoutMs: checkoutBuildMs };
    const ran = await runProgram(["sh", join(this.folder, "install.sh")], options);
    if (ran.exitCode === 0) return;
    if (this.#signal.aborted) throw new ClaudikinsError("CANCELLED", "The upgrade was interrupted");
    throw new ClaudikinsError("UPGRADE_FAILED", `install.sh failed: ${failureOf(ran)}`, {
      hint: `Run it yourself: ${this.#shown("merge", "--ff-only", `v${version}`)} && ${this.#installer}`,
    });
  }

  /** Moves back to a commit, unless files have been changed meanwhile. */
  async back(commit: string): Promise<void> {
    await runProgram(["git", "-C", this.folder, "reset", "--keep", "--quiet", commit], {
      env: this.#env,
      signal: new AbortController().signal,
      timeoutMs: gitLocalMs,
    });
  }

  async #asked(args: string[]): Promise<Ran> {
    const ran = await this.#git(args, gitLocalMs);
    if (ran.exitCode === 0) return ran;
    throw new ClaudikinsError("UPGRADE_FAILED", `git ${args[0]} failed in ${this.folder}: ${failureOf(ran)}`);
  }

  async #git(args: string[], timeoutMs: number): Promise<Ran> {
    const ran = await runProgram(["git", "-C", this.folder, ...args], {
      env: this.#env,
      signal: this.#signal,
      timeoutMs,
    });
    if (this.#signal.aborted) throw new ClaudikinsError("CANCELLED", "The upgrade was interrupted");
    return ran;
  }

  #shown(...args: string[]): string {
    return ["git", "-C", this.folder, ...args].map(shellWord).join(" ");
  }

  get #installer(): string {
    return `sh ${shellWord(join(this.folder, "install.sh"))}`;
  }
}
