/** The places that no list of a sandbox opens, because they hold more than their name says, or decide what runs outside of sandboxes. */
import { tmpdir, userInfo } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import type { Environment } from "./environment.ts";
import { homeOf, userConfigFile, userDataFolder, xdgFolder } from "./locations.ts";

export interface ClosedPlaces {
  /** Nothing that holds one of them may be opened: homes, temporary files, and folders with sockets and secrets of the system. */
  wide: string[];
  /** Nothing in them, and nothing that holds one of them, may be opened. */
  own: string[];
  kernel: string[];
  /** The same for writing: programs and settings that are used outside of sandboxes. */
  programs: string[];
  /** The homes. Hidden files and folders in them are settings and programs: nothing in them may be written to, except in `data`. */
  homes: string[];
  /** Hidden folders of a home with data of programs. Folders in them may be opened for writing, those named in `programs` excepted. */
  data: string[];
  /** The folders in which commands are found. Nothing that holds one of them may be written to. */
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
const inData = ["applications", "systemd", "dbus-1", "uv", "pipx", "pnpm", "mise", "fnm", "bash-completion", "fish", "nvim"];

export function closedPlaces(env: Environment): ClosedPlaces {
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
    commands: absolute(env["PATH"]),
  };
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
