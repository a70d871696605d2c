/** bubblewrap, the program that makes boxes on Linux: whether it works here, and its arguments. */
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import { megabyte } from "../../base/units.ts";
import { boxMemoryMb } from "../limits.ts";
import type { Mount } from "./mounts.ts";
import type { BoxLink } from "./paths.ts";

/** The oldest version with everything that is used. */
const oldest = { text: "0.8", major: 0, minor: 8 };

/** Its own namespaces, no rights of root, and no further user namespaces. It ends with this process. */
const walls = ["--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL", "--die-with-parent"];

export interface BoxContents {
  mounts: readonly Mount[];
  links: readonly BoxLink[];
  /** Files that are shown at another place: where they are, and where they are shown. */
  elsewhere: readonly (readonly [from: string, at: string])[];
  cwd: string;
  sharesNetwork: boolean;
  /** Variables that bubblewrap itself must not get. */
  variables: Readonly<Record<string, string>>;
}

/** The arguments of bubblewrap that come before the command. */
export function wrapArguments({ mounts, links, elsewhere, cwd, sharesNetwork, variables }: BoxContents): string[] {
  const size = `${boxMemoryMb * megabyte}`;
  return [
    ...walls,
    ...(sharesNetwork ? ["--share-net"] : []),
    ...["--dev", "/dev", "--proc", "/proc"],
    ...mounts.flatMap(({ at, kind }) => {
      if (kind === "empty") return ["--size", size, "--tmpfs", at];
      return [kind === "write" ? "--bind" : "--ro-bind", at, at];
    }),
    ...links.flatMap(({ at, to }) => ["--symlink", to, at]),
    ...elsewhere.flatMap(([from, at]) => ["--ro-bind", from, at]),
    ...["--remount-ro", "/", "--chdir", cwd],
    ...Object.entries(variables).flatMap(([name, value]) => ["--setenv", name, value]),
    "--",
  ];
}

/** The result for each path of bubblewrap, for as long as this process runs. Failures are tried again. */
const working = new Map<string, Promise<void>>();

/** The path of bubblewrap. Throws SANDBOX_UNAVAILABLE if it is missing, too old, or not allowed to confine. */
export async function requireBubblewrap(path: string | undefined): Promise<string> {
  if (process.platform !== "linux") {
    throw unavailable("only Linux is supported so far", "Run claudikins on Linux.");
  }
  const file = Bun.which("bwrap", path === undefined ? {} : { PATH: path });
  if (file === null) {
    throw unavailable("bubblewrap is not installed", "Install it: apt install bubblewrap, or dnf install bubblewrap.");
  }
  let known = working.get(file);
  if (!known) {
    known = tryOut(file);
    working.set(file, known);
    known.catch(() => working.delete(file));
  }
  await known;
  return file;
}

async function tryOut(file: string): Promise<void> {
  const [version, trial] = await Promise.all([
    outputOf([file, "--version"]),
    outputOf([file, ...walls, "--ro-bind", "/", "/", "--proc", "/proc", "--", "/bin/sh", "-c", ":"]),
  ]);
  const [, major = "0", minor = "0"] = /(\d+)\.(\d+)/.exec(version.text) ?? [];
  if (Number(major) === oldest.major && Number(minor) < oldest.minor) {
    throw unavailable(`${version.text || "bubblewrap"} is too old`, `Install bubblewrap ${oldest.text} or later.`);
  }
  if (trial.isOk) return;
  const hint =
    "Allow user namespaces for bubblewrap: on Ubuntu with an AppArmor profile for bwrap, in a container with its security options.";
  throw unavailable(`the system does not let bubblewrap confine programs: ${trial.text || "no output"}`, hint);
}

async function outputOf(command: string[]): Promise<{ isOk: boolean; text: string }> {
  try {
    const child = Bun.spawn(command, { cwd: "/", env: {}, stdio: ["ignore", "pipe", "pipe"] });
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return { isOk: code === 0, text: (out + err).trim().split("\n")[0] ?? "" };
  } catch (error) {
    return { isOk: false, text: messageOf(error) };
  }
}

export function unavailable(why: string, hint: string): ClaudikinsError {
  return new ClaudikinsError("SANDBOX_UNAVAILABLE", `its sandbox cannot be made: ${why}`, {
    hint: `${hint} Without "sandbox" in its entry, the server runs with all your rights.`,
  });
}
