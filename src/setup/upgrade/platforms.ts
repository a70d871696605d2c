/** The platforms that claudikins is released for. */
import { builtIn } from "../../base/built-in.ts";

export interface Platform {
  /** As in the names of archives and npm packages: `claudikins-<name>.tar.gz` and `@claudikins/<name>`. */
  name: string;
  /** The target of `bun build --compile`. */
  target: Bun.Build.CompileTarget;
  /** As in the package.json of the npm package. npm knows the C library only on Linux. */
  os: "linux" | "darwin" | "win32";
  cpu: "x64" | "arm64";
  libc?: "glibc" | "musl";
  /** The file name of the executable in archives and npm packages. */
  executable: "claudikins" | "claudikins.exe";
}

export const platforms: readonly Platform[] = [
  platform("linux-x64", { os: "linux", cpu: "x64", libc: "glibc" }),
  platform("linux-arm64", { os: "linux", cpu: "arm64", libc: "glibc" }),
  platform("linux-x64-musl", { os: "linux", cpu: "x64", libc: "musl" }),
  platform("linux-arm64-musl", { os: "linux", cpu: "arm64", libc: "musl" }),
  platform("darwin-x64", { os: "darwin", cpu: "x64" }),
  platform("darwin-arm64", { os: "darwin", cpu: "arm64" }),
  platform("windows-x64", { os: "win32", cpu: "x64" }),
];

function platform(name: string, of: Pick<Platform, "os" | "cpu" | "libc">): Platform {
  const executable = of.os === "win32" ? "claudikins.exe" : "claudikins";
  return { name, target: `bun-${name}` as Bun.Build.CompileTarget, ...of, executable };
}

/** The platform of this process: the one that its executable was built for. Undefined if claudikins is not released for it. */
export function ownPlatform(): Platform | undefined {
  const name = builtIn?.platform;
  return name === undefined ? platformOf(process) : platforms.find((each) => each.name === name);
}

/** The platform of a machine. The C library matters on Linux only, and is looked for unless it is given. */
export function platformOf(
  { platform: os, arch: cpu }: { platform: string; arch: string },
  libc: "glibc" | "musl" = libcHere(),
): Platform | undefined {
  return platforms.find((each) => each.os === os && each.cpu === cpu && (each.libc ?? libc) === libc);
}

/** The runtime names the version of glibc only if it runs on glibc. */
function libcHere(): "glibc" | "musl" {
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime === undefined ? "musl" : "glibc";
}
