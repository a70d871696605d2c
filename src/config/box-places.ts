/** Places of the machine in boxes: what every box has, and what no list of an entry opens. */
import { existsSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { delimiter, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { ClaudikinsError } from "../base/errors.ts";
import type { HeldPath } from "../base/held-path.ts";
import type { Environment } from "./environment.ts";
import { type Guard, guardsIn } from "./guarded-places.ts";
import { bundlesFolder, homeOf, userConfigFile, userDataFolder, xdgFolder } from "./locations.ts";

/** Programs and libraries, also of Nix and Guix. */
const systemPrograms = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/nix/store",
  "/run/current-system",
  "/gnu/store",
];

const settings = [
  ...[
    "alternatives",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "timezone",
    "locale.conf",
    "mime.types",
  ],
  ...["passwd", "group", "nsswitch.conf", "protocols", "services", "fonts", "os-release"],
  // The certificates, without private keys.
  ...["ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "ca-certificates", "pki/tls/certs", "pki/tls/cert.pem"],
  ...["pki/tls/openssl.cnf", "pki/ca-trust", "crypto-policies"],
].map((name) => `/etc/${name}`);

/** What a program needs to find other machines. */
const namesOfMachines = ["hosts", "host.conf", "resolv.conf", "gai.conf"].map((name) => `/etc/${name}`);

export function systemPaths(network: boolean): string[] {
  return [...systemPrograms, ...settings, ...(network ? namesOfMachines : [])].filter((path) => existsSync(path));
}

/** Variables with the path of a file of certificates. */
export const certificateVariables = [
  ...["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "NIX_SSL_CERT_FILE", "DENO_CERT", "CURL_CA_BUNDLE"],
  ...["REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE", "PIP_CERT", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH"],
];

/** A list could open more than its paths say, or decide what runs outside of boxes. */
interface ClosedPlaces {
  /** Nothing that holds one of them may be opened: homes, temporary files, and folders with sockets and secrets of the system. */
  wide: string[];
  /** Nothing in them, and nothing that holds one of them, may be opened. */
  own: string[];
  kernel: string[];
  /** Programs and settings that are used outside of boxes. Nothing in them may be written to. */
  programs: string[];
  /** The homes. Hidden files and folders in them are settings and programs: nothing in them may be written to, except in `data`. */
  homes: string[];
  /** Hidden folders of a home with data of programs. Folders in them may be opened for writing, except the ones named in `programs`. */
  data: string[];
  /** The folders in which commands are found. `node_modules/.bin` has links to programs in `node_modules`, which stands for both. */
  commands: string[];
}

/** Programs and settings of the system. */
const ofSystem = ["etc", "usr", "bin", "sbin", "lib", "lib32", "lib64", "boot", "nix", "gnu", "snap"];

/** Variables with the folder or file of programs, or of what programs load when they start. */
const variables = [
  ...["npm_config_cache", "NPM_CONFIG_CACHE", "npm_config_prefix", "NPM_CONFIG_PREFIX", "npm_config_userconfig"],
  ...["NVM_DIR", "FNM_DIR", "VOLTA_HOME", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR", "PNPM_HOME", "BUN_INSTALL"],
  ...["DENO_DIR", "PYENV_ROOT", "UV_CACHE_DIR", "UV_TOOL_DIR", "UV_PYTHON_INSTALL_DIR", "PIPX_HOME", "VIRTUAL_ENV"],
  ...["CARGO_HOME", "RUSTUP_HOME", "GOPATH", "GOROOT", "JAVA_HOME", "DOTNET_ROOT", "PLAYWRIGHT_BROWSERS_PATH"],
  ...["CLAUDE_CONFIG_DIR", "CODEX_HOME", "ZDOTDIR", "BASH_ENV", "GIT_CONFIG_GLOBAL", "GNUPGHOME", "KUBECONFIG"],
  ...["XDG_CONFIG_HOME", "DOCKER_CONFIG", "AWS_CONFIG_FILE", "CLOUDSDK_CONFIG", "NODE_PATH", "PYTHONPATH"],
];

/** Folders of programs in the folder for data. */
const inData = [
  "applications",
  "systemd",
  "dbus-1",
  "uv",
  "pipx",
  "pnpm",
  "mise",
  "fnm",
  "bash-completion",
  "fish",
  "nvim",
];

function closedPlaces(env: Environment): ClosedPlaces {
  const homes = [homeOf(env), accountHome()].filter((home) => home !== "/");
  const runtime = absolute(env["XDG_RUNTIME_DIR"]);
  const data = xdgFolder(env, "XDG_DATA_HOME", ".local", "share");
  const named = variables.flatMap((name) => absolute(env[name]));
  return {
    wide: [...homes, tmpdir(), "/tmp", "/var/tmp", "/etc", "/run", ...runtime],
    own: [
      userDataFolder(env),
      dirname(userConfigFile(env)),
      `/tmp/claudikins-${process.getuid?.()}`,
      ...runtime.map((folder) => join(folder, "claudikins")),
    ],
    kernel: ["/proc", "/sys", "/dev"],
    programs: [
      ...ofSystem.map((name) => `/${name}`),
      "/var/spool",
      process.execPath,
      ...inData.map((name) => join(data, name)),
      ...named.filter((path) => !homes.includes(path)),
    ],
    homes,
    data: [data, xdgFolder(env, "XDG_STATE_HOME", ".local", "state")],
    commands: absolute(env["PATH"]).map((path) =>
      /\/node_modules\/\.bin\/?$/.test(path) ? dirname(resolve(path)) : path,
    ),
  };
}

interface OpenedLists {
  read: readonly HeldPath[];
  write: readonly HeldPath[];
  cwd: HeldPath;
  /** The config files of all servers. */
  configs: readonly string[];
}

/**
 * Throws CONFIG_INVALID for a path that opens one of the closed places. Returns the places that not even a path to read may open, and the
 * places that must be mounted over the folders to write to.
 */
export function refuseClosed(
  { read, write, cwd, configs }: OpenedLists,
  env: Environment,
  open: (path: string) => HeldPath,
): { closed: HeldPath[]; guards: Guard[] } {
  const places = closedPlaces(env);
  const opened = (names: keyof ClosedPlaces) => places[names].map(open);
  const [wide, own, kernel, programs] = [opened("wide"), opened("own"), opened("kernel"), opened("programs")];
  const [commands, homes, data] = [opened("commands"), opened("homes"), opened("data")];
  const touches = (path: HeldPath) => (place: HeldPath) => path.isWithin(place) || place.isWithin(path);
  // A bundle is unpacked into the data folder, and its server works there.
  const bundles = open(bundlesFolder(env));
  const isOwnBundle = (path: HeldPath) =>
    path.id !== undefined && path.id === cwd.id && dirname(path.path) === bundles.path && !write.includes(path);
  for (const path of [...write, ...read]) {
    const held = wide.find((place) => place.isWithin(path));
    if (held) refuse(path.asked, `holds everything in ${held.path}`, "Name the folders that the server needs.");
    const ours = isOwnBundle(path) ? undefined : own.find(touches(path));
    if (ours) refuse(path.asked, `gives access to files of claudikins in ${ours.path}`, "Name other folders.");
    const ofKernel = kernel.find(touches(path));
    if (ofKernel) refuse(path.asked, `gives access to the kernel in ${ofKernel.path}`, "Name other folders.");
  }
  for (const path of write) {
    const isOfCommands = (place: HeldPath) => path.isWithin(place) && (!path.isFolder || path.id === place.id);
    // A place that exists is guarded instead.
    const isUnsafe = (place: HeldPath) => path.isWithin(place) || (place.id === undefined && place.isWithin(path));
    const program = programs.find(isUnsafe) ?? commands.find(isOfCommands);
    const why = `gives write access to ${program?.path}, where programs or their settings are`;
    if (program) refuse(path.asked, why, "Name other folders.");
    const isData = data.some((place) => path.isWithin(place) && path.id !== place.id);
    const isHidden = homes.some((home) => path.isWithin(home) && relative(home.path, path.path).startsWith("."));
    const hint = "Give the server a folder of its own, whose name does not begin with a dot.";
    if (isHidden && !isData) refuse(path.asked, "is hidden in a home, as settings and programs are", hint);
  }
  const guarded = {
    writable: write,
    projects: [cwd, ...configs.map((file) => open(dirname(file)))],
    named: [...programs, ...configs.map(open)],
    commands,
  };
  const guards = write.flatMap((path) => guardsIn(path, guarded, { open, refuse }));
  return { closed: [...wide, ...own, ...kernel], guards };
}

/** Throws CONFIG_INVALID. */
export function refuse(path: string, why: string, hint: string): never {
  throw new ClaudikinsError("CONFIG_INVALID", `its sandbox cannot be made: ${path} ${why}`, { hint });
}

/** The absolute paths in a variable, which may have several. */
function absolute(text = ""): string[] {
  return text.split(delimiter).filter((path) => isAbsolute(path));
}

/** HOME may name another folder. */
function accountHome(): string {
  try {
    return userInfo().homedir;
  } catch {
    return "/";
  }
}
