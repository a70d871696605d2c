/**
 * Decides which environment variables a registry may give a value. Only names that look like settings of an application are allowed,
 * because no list could contain all variables that affect a loader, a runtime or a library. The user enters the values of all other
 * variables.
 */
import { RegistryRefusal } from "./templates.ts";

/**
 * `setting`: the registry may give it a value. `runtime`: the system, a runtime or a package manager reads it; a registry that gives it
 * a value is refused. `unknown`: the user gives it a value.
 */
export type VariableKind = "setting" | "runtime" | "unknown";

export function kindOfVariable(name: string): VariableKind {
  if (harmless.has(name)) return "setting";
  // `nodeOptions` and `node_options` are the same name for a program that ignores case.
  const upper = name.replace(/([a-z\d])([A-Z])/g, "$1_$2").toUpperCase();
  if (isOfRuntime(name.toUpperCase()) || isOfRuntime(upper)) return "runtime";
  const words = upper.split(/[_.-]+/);
  if (words.some((word) => sensitive.has(word))) return "unknown";
  const isSetting = settings.has(words.at(-1)?.replace(/\d+$/, "") ?? "");
  return isSetting || (words.length > 1 && switches.has(words[0]!)) ? "setting" : "unknown";
}

/** Throws RegistryRefusal for a variable to which a registry may not give a value. */
export function checkSets(name: string): void {
  const kind = kindOfVariable(name);
  if (kind === "runtime")
    throw new RegistryRefusal(`it sets ${name}, by which a registry could change what is started`);
  if (kind === "unknown")
    throw new RegistryRefusal(`it sets ${name}, which does not look like a setting of its program`);
}

function isOfRuntime(upper: string): boolean {
  const [first = ""] = upper.split(/[_.-]/, 1);
  return first === "" || system.has(upper) || owners.has(first) || stems.test(upper) || endings.test(upper);
}

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Variables of runtimes that only change how output looks, or name an environment. */
const harmless = wordsOf("NODE_ENV PYTHONUNBUFFERED PYTHONIOENCODING PYTHONUTF8 NO_COLOR FORCE_COLOR");

/** The last words of settings. Words for files, programs, options and configurations are left out on purpose. */
const settings = wordsOf(`
  KEY KEYS APIKEY TOKEN TOKENS SECRET PASSWORD PASSPHRASE USER USERNAME EMAIL ACCOUNT TENANT ORG ORGANIZATION WORKSPACE TEAM CLIENT
  CUSTOMER OWNER PROJECT REPO REPOSITORY BRANCH URL URI ENDPOINT HOST PORT DOMAIN DSN DATABASE DB SCHEMA TABLE TABLES COLLECTION BUCKET
  REGION ZONE CLUSTER NAMESPACE CONTEXT CHANNEL BOARD SITE ID IDS NAME NAMES TITLE TYPE TYPES KIND MODE LEVEL FORMAT LANGUAGE LOCALE
  TIMEZONE UNIT UNITS CURRENCY COUNTRY THEME TIMEOUT INTERVAL DELAY RETRIES ATTEMPTS LIMIT LIMITS SIZE COUNT LENGTH DEPTH WIDTH HEIGHT
  MAX MIN MS SECONDS MINUTES HOURS DAYS TTL RATE QUOTA CONCURRENCY TEMPERATURE DIMENSIONS ENABLED DISABLED READONLY ONLY VERBOSE QUIET
  DEBUG LOGGING TELEMETRY ANALYTICS TRANSPORT PROTOCOL VERSION MODEL MODELS PROVIDER TOOL TOOLS TOOLSET TOOLSETS FEATURE FEATURES SCOPE
  SCOPES ROLE ROLES PERMISSION PERMISSIONS ENVIRONMENT STAGE STRATEGY TAG TAGS LABEL LABELS PREFIX SUFFIX CATEGORY CATEGORIES
`);

/** The first words of names that turn something on or off. */
const switches = wordsOf("ENABLE DISABLE ALLOW USE IS SHOW HIDE INCLUDE EXCLUDE SKIP MAX MIN DEFAULT LOG");

/** Words of names that decide how connections are protected, what is downloaded, or what is run. */
const sensitive = wordsOf(`
  SSL TLS HTTPS CERT CERTS CERTIFICATE CERTIFICATES CA TRUST TRUSTED INSECURE SECURE SECURITY VERIFY VERIFICATION VALIDATION UNAUTHORIZED
  UNSAFE DANGEROUS BYPASS SANDBOX PROXY DNS PRELOAD LOADER LIBRARY MODULE MODULES PLUGIN PLUGINS EXTENSION EXTENSIONS HOOK HOOKS SCRIPT
  SCRIPTS EXEC EXECUTABLE COMMAND COMMANDS BIN BINARY SHELL EVAL INSTALL INSTALLER UPDATE DOWNLOAD DOWNLOADS MIRROR CDN REGISTRY INDEX
  PATH DIR FILE ROOT HOME CONFIG OPTIONS FLAGS ARGS PROFILER BROWSER SOCKET
`);

/** The first words of variables of loaders, C libraries, runtimes, package managers, shells and desktops. */
const owners = wordsOf(`
  LD LDR DYLD RTLD GLIBC GCONV MALLOC NSS RES LC ASAN LSAN TSAN UBSAN GCC CC CXX OMP OPENSSL SSL GNUTLS CURL WGET REQUESTS KRB5 SSH GPG
  GIT SVN HG NODE NODEJS NPM NPX YARN PNPM COREPACK BUN DENO TSX TS JITI NVM VOLTA FNM ASDF MISE ELECTRON UV PIP PIPX PIPENV POETRY PDM
  HATCH CONDA MAMBA VIRTUAL PYTHON PYENV PYTEST CUDA TORCH DOCKER BUILDKIT BUILDX COMPOSE CONTAINERD CONTAINERS PODMAN NUGET DOTNET
  COREHOST COMPLUS CORECLR COR MSBUILD MONO ASPNETCORE JAVA JDK JRE JVM MAVEN GRADLE ANT SBT RUBY GEM BUNDLE BUNDLER RBENV RAKE PERL PHP
  COMPOSER CARGO RUST RUSTC RUSTUP LUA TCL ERL ELIXIR OCAML JULIA R GUILE WASMTIME BASH ZSH FISH HIST PROMPT TERM LESS SUDO XDG DBUS
  SYSTEMD JOURNAL WAYLAND X11 GTK GDK GIO GLIB GST QT QML KDE MESA LIBGL VK EGL NIX HOMEBREW APT DPKG CLAUDIKINS
`);

/** Names that begin with the name of a runtime, without a sign after it: `PYTHONPATH`, `PERL5OPT`. */
const stems =
  /^(?:PYTHON|PERL|RUBY|PHPRC|LUA_|JAVA|OPENSSL|MALLOC|GCONV|DYLD|RUSTC|JULIA|GUILE|NODE(?=[A-Z]*_OPTIONS)|GO[A-Z]*$(?<!^GOOGLE))/;

/** Endings of names that affect connections or start-up, whatever comes before them. */
const endings =
  /(?:^|_)(?:PROXY|ASKPASS|PRELOAD|CA_BUNDLE|CA_CERTS?|CERT_FILE|REJECT_UNAUTHORIZED|STARTUP_HOOKS|TOOL_OPTIONS)$/;

/** Variables of the system and of shells. */
const system = wordsOf(`
  PATH PATHEXT HOME HOMEDRIVE HOMEPATH USERPROFILE USER USERNAME USERDOMAIN LOGNAME SHELL COMSPEC ENV IFS CDPATH FPATH PWD OLDPWD MAIL
  MAILPATH PPID UID EUID EDITOR VISUAL PAGER MANPAGER BROWSER TMP TEMP TMPDIR CI HOSTNAME LINES COLUMNS LANG LANGUAGE TZ TZDIR LOCPATH
  NLSPATH HOSTALIASES LOCALDOMAIN CLASSPATH DISPLAY XAUTHORITY ZDOTDIR INPUTRC SSLKEYLOGFILE PSMODULEPATH OS WINDIR SYSTEMROOT SYSTEMDRIVE
  APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES CONTAINER_HOST KUBECONFIG LESSOPEN PS1 PS2 PS4
`);
