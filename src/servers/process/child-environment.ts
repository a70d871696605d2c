/**
 * The environment of server processes: variables that say where things are, the variables that the server's entry declares, and those
 * that it inherits. Everything else stays here, because the user's shell may contain tokens.
 */
import type { Environment } from "../../config/environment.ts";
import { matches } from "../../config/pattern.ts";

/** What a server gets beside the usual variables: names, in which `*` matches any text. Or only what every program needs. */
export type Inherit = readonly string[] | "minimal";

/** The user, folders, terminal and language. */
const basic =
  process.platform === "win32"
    ? [
        "APPDATA",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "PATH",
        "PATHEXT",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "TMP",
        "USERNAME",
        "USERPROFILE",
        "PROGRAMFILES",
      ]
    : ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];

/** What a program needs to speak the user's language and to reach the network: languages, times, proxies and certificates. */
const minimal = [
  ...basic,
  ...["LANGUAGE", "LC_*", "TZ", "TZDIR"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"],
  ...["NODE_EXTRA_CA_CERTS", "NODE_USE_SYSTEM_CA", "SSL_CERT_FILE", "SSL_CERT_DIR", "NIX_SSL_CERT_FILE", "DENO_CERT"],
  ...["CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE", "PIP_CERT", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH"],
];

/** Where other things are on this machine. A server that an agent starts itself gets these too. */
const places = [
  // Folders of the user and of package managers.
  ...["XDG_*", "NVM_DIR", "FNM_DIR", "VOLTA_HOME", "ASDF_*DIR", "MISE_*DIR", "PNPM_HOME", "BUN_INSTALL", "DENO_DIR"],
  ...["PYENV_ROOT", "UV_CACHE_DIR", "UV_PYTHON_INSTALL_DIR", "CARGO_HOME", "RUSTUP_HOME", "GOPATH", "GOROOT"],
  ...["JAVA_HOME", "ANDROID_HOME", "ANDROID_SDK_ROOT", "DOTNET_ROOT"],
  ...["PLAYWRIGHT_BROWSERS_PATH", "PUPPETEER_EXECUTABLE_PATH"],
  // The screen and the session.
  ...["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "WSL_DISTRO_NAME", "WSL_INTEROP"],
  // Sockets of agents and of container engines.
  ...["SSH_AUTH_SOCK", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"],
  ...["CONTAINER_HOST"],
  // The profiles and files of the tools of clouds.
  ...[
    "AWS_PROFILE",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "KUBECONFIG",
  ],
  ...["GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG", "AZURE_CONFIG_DIR"],
];

const usual = [...minimal, ...places];

/** Windows ignores the case of names: `Path`. */
const known = (name: string) => (process.platform === "win32" ? name.toUpperCase() : name);

/** The names of the variables that a server gets from `env`, besides the ones that it declares. */
export function inheritedNames(env: Environment, inherit: Inherit = []): string[] {
  const patterns = inherit === "minimal" ? minimal : [...usual, ...inherit];
  const [exact, wild] = [new Set(patterns), patterns.filter((pattern) => pattern.includes("*"))];
  return Object.keys(env).filter(
    (name) => env[name] !== undefined && (exact.has(known(name)) || wild.some((each) => matches(each, known(name)))),
  );
}

/** `declared` are the variables of the server's entry, which have precedence. */
export function childEnvironment(
  env: Environment,
  declared: Record<string, string>,
  inherit?: Inherit,
): Record<string, string> {
  const inherited = inheritedNames(env, inherit).map((name) => [name, env[name]!] as const);
  return { ...Object.fromEntries(inherited), ...declared };
}
