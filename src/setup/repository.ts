/** Reads the files of one commit of a git repository, without running any of them. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ClaudikinsError } from "../base/errors.ts";
import { megabyte } from "../base/units.ts";
import type { Environment } from "../config/environment.ts";
import { runFailure, runProgram } from "./upgrade/run.ts";

/** Time to fetch a commit of a repository. */
const repositoryMs = 120_000;

/** Size of one file of a saved program in a repository. */
const maxRepositoryFileBytes = 1_048_576;

/** Characters of git's output: the list of a commit's files, or the content of one file. */
const maxGitOutputChars = 8 * megabyte;

export interface FetchedCommit extends AsyncDisposable {
  /** The paths of its files. Links are left out. */
  files(): Promise<string[]>;
  /** Throws USAGE for a file that is too large. */
  text(path: string): Promise<string>;
}

/** Reads `https://github.com/acme/programs@COMMIT`. Throws USAGE. */
export function sourceIn(source: string): { url: string; commit: string } {
  const [, url = "", commit = ""] = /^(.+)@([0-9a-f]{40}|[0-9a-f]{64})$/i.exec(source) ?? [];
  const example = "Example: https://github.com/acme/programs@5f1c0de8a1b0a7f3c9d2e4b6a8c0d2e4f6a8b0c2";
  if (url === "") {
    throw new ClaudikinsError("USAGE", `"${source}" does not name a commit`, {
      hint: `Give the address and the whole hash of a commit, so that it cannot change later. ${example}`,
    });
  }
  // Other forms of addresses can run programs, and a word that begins with a dash is a flag of git.
  if (!/^(?:https:\/\/|ssh:\/\/|file:\/\/|[\w.-]+@[\w.-]+:)/.test(url)) {
    throw new ClaudikinsError("USAGE", `"${url}" is not the address of a repository`, {
      hint: `Use https://, ssh:// or file://. ${example}`,
    });
  }
  return { url, commit: commit.toLowerCase() };
}

/** Throws USAGE if git is missing, or the repository does not have the commit. */
export async function fetchCommit(
  url: string,
  commit: string,
  { env, signal }: { env: Environment; signal: AbortSignal },
): Promise<FetchedCommit> {
  const folder = await mkdtemp(join(tmpdir(), "claudikins-repository-"));
  const git = async (...args: string[]): Promise<string> => {
    const safe = ["-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never", "-c", "core.fsmonitor=false"];
    const ran = await runProgram(["git", ...safe, "-C", folder, ...args], {
      env: { ...env, GIT_TERMINAL_PROMPT: "0" },
      signal,
      timeoutMs: repositoryMs,
      maxOutputChars: maxGitOutputChars,
    });
    if (ran.exitCode !== 0) throw new Error(`git ${args[0]}: ${runFailure(ran)}`);
    if (ran.stdout.length < maxGitOutputChars) return ran.stdout;
    throw new ClaudikinsError("USAGE", "The repository has too many files");
  };
  const end = () => rm(folder, { recursive: true, force: true });
  try {
    await git("init", "--bare", "--quiet");
    // Some servers give a commit only as a part of a branch.
    await git("fetch", "--quiet", "--depth=1", "--no-tags", url, commit).catch(() =>
      git("fetch", "--quiet", "--no-tags", url, "+refs/heads/*:refs/heads/*"),
    );
    await git("cat-file", "-e", `${commit}^{commit}`);
  } catch (cause) {
    await end();
    signal.throwIfAborted();
    throw new ClaudikinsError("USAGE", `Cannot get the commit ${commit.slice(0, 12)} of ${url}`, {
      hint: "Check that git is installed, that you can clone the repository, and that it has the commit.",
      cause,
    });
  }
  return {
    async files() {
      const listed = await git("ls-tree", "-r", "-z", commit);
      return listed.split("\0").flatMap((line) => /^100\d{3} blob \S+\t(.+)$/s.exec(line)?.[1] ?? []);
    },
    async text(path) {
      const size = Number(await git("cat-file", "-s", `${commit}:${path}`));
      if (size > maxRepositoryFileBytes) {
        throw new ClaudikinsError(
          "USAGE",
          `${path} has ${size} bytes: a program has at most ${maxRepositoryFileBytes}`,
        );
      }
      return git("cat-file", "blob", `${commit}:${path}`);
    },
    [Symbol.asyncDispose]: end,
  };
}
