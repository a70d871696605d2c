/** The limits of what changes other programs' files and our own: registries, upgrades and sign-ins. */

import { dayMs, megabyte } from "../base/units.ts";

// Agents

/** Attempts for a file that its agent keeps changing. */
export const maxApplyAttempts = 5;

// Server registries: what is asked

/** Time to ask one registry, with all of its pages. */
export const defaultRegistryMs = 10_000;

/** Size of one answer. A hundred servers with long descriptions take a tenth of it. */
export const maxRegistryBytes = 4 * megabyte;

/** Servers of one page. */
export const registryPageSize = 100;

/** Pages of one answer. */
export const maxRegistryPages = 10;

/** Redirects of one request, within the registry. */
export const maxRegistryRedirects = 3;

/** Characters of the cursor of a page. */
export const maxCursorChars = 2_048;

/** Words of a search. Further words only narrow the answers down. */
export const maxAskedWords = 4;

// Server registries: what a published server may say

/** Characters of a word or value that goes into a command line, a header or an address. In the official registry, they have at most 80. */
export const maxPublishedValueChars = 500;

/** Arguments, headers, variables or choices of one server. */
export const maxInputs = 100;

/** Characters of the name of a server. */
export const maxPublishedNameChars = 200;

/** Levels of a description. No known form is deeper than half of this. */
export const maxPublishedDepth = 20;

/** Characters of the fixed parts of a command line, so that a person can read it. */
export const maxCommandChars = 2_000;

// Signing in

/** How long to wait for the browser to receive the last page. */
export const lastPageMs = 1_000;

// Upgrading

/** Time for git to fetch a release. */
export const gitFetchMs = 120_000;

/** Time for git to read or change a checkout. */
export const gitLocalMs = 30_000;

/** Time to build and install a checkout. */
export const checkoutBuildMs = 900_000;

/** Time for a package manager to say which version is the newest. */
export const packageViewMs = 60_000;

/** Time for a package manager to install a version. */
export const packageInstallMs = 600_000;

/** Time for an installed executable to say its version. */
export const lastingVersionMs = 10_000;

/** Time for a new executable to say its version. */
export const newVersionMs = 20_000;

/** Time for its check of itself. */
export const selfCheckMs = 90_000;

/** Size of the list of releases, of checksums and of other small files. */
export const maxReleaseFileBytes = megabyte;

/** Time to download one of them. */
export const releaseFileMs = 30_000;

/** Redirects of one download. */
export const maxReleaseRedirects = 10;

/** Time for `gh` to check where a release was built. */
export const attestationMs = 60_000;

/** Size of an executable in an archive. One has about 140 MB. */
export const maxExecutableBytes = 600 * megabyte;

/** Characters of a program's output that are kept: the last ones. */
export const maxProgramOutputChars = 65_536;

/** How long an executable is kept after an upgrade. An agent that still runs the earlier version may store programs until it ends. */
export const executableKeptMs = 30 * dayMs;

/** How often a newer version is looked for, and mentioned. */
export const hintEveryMs = dayMs;

/** Time to fetch a commit of a repository. */
export const repositoryMs = 120_000;

/** Size of one file of a saved program in a repository. */
export const maxRepositoryFileBytes = 1_048_576;

/** Characters of what git prints: the list of the files of a commit, or one of them. */
export const maxGitOutputChars = 8 * megabyte;
