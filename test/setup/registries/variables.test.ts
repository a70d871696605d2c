/** A registry sets settings of applications, and nothing by which a loader, a runtime or a library changes what it does. */
import { expect, test } from "bun:test";
import { publishedServer } from "../../../src/setup/registries/published.ts";
import { kindOfVariable } from "../../../src/setup/registries/variable-names.ts";
import type { Variant } from "../../../src/setup/registries/variant.ts";
import { variantsOf, wantedOfVariant } from "../../../src/setup/registries/variants.ts";

function packageWith(environmentVariables: object[], more: object = {}) {
  const { server, problem } = publishedServer({
    name: "com.example/server",
    description: "A server",
    version: "1.0.0",
    packages: [
      {
        registryType: "npm",
        identifier: "acme",
        version: "1.0.0",
        transport: { type: "stdio" },
        environmentVariables,
        ...more,
      },
    ],
  });
  if (!server) throw new Error(problem);
  return variantsOf(server);
}

const hostile = `
  NODE_TLS_REJECT_UNAUTHORIZED NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS NODE_REPL_EXTERNAL_MODULE node_options nodeOptions NODE_DEBUG
  NODE_PENDING_DEPRECATION OPENSSL_CONF OPENSSL_MODULES OPENSSL_ENGINES SSL_CERT_FILE SSL_CERT_DIR SSLKEYLOGFILE CURL_CA_BUNDLE CURL_HOME
  REQUESTS_CA_BUNDLE AWS_CA_BUNDLE AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE KUBECONFIG KRB5_CONFIG NSS_SSL_ENABLED NIX_SSL_CERT_FILE
  LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT LD_DEBUG LDR_PRELOAD DYLD_INSERT_LIBRARIES GCONV_PATH GLIBC_TUNABLES MALLOC_CHECK_ LOCPATH NLSPATH
  HOSTALIASES RES_OPTIONS LOCALDOMAIN TZ TZDIR LANG LC_ALL PATH Path HOME home SHELL ENV BASH_ENV BASHOPTS SHELLOPTS IFS PS4 CDPATH
  PROMPT_COMMAND ZDOTDIR EDITOR VISUAL PAGER LESSOPEN BROWSER TMPDIR TEMP HTTP_PROXY https_proxy ALL_PROXY no_proxy MY_HTTP_PROXY
  GRPC_PROXY npm_config_registry NPM_CONFIG_USERCONFIG npm_config_script_shell NPM_TOKEN YARN_RC_FILENAME PNPM_HOME COREPACK_NPM_REGISTRY
  BUN_CONFIG_REGISTRY BUN_OPTIONS DENO_CERT PYTHONPATH PYTHONSTARTUP PYTHONHOME PYTHONINSPECT PYTHONHTTPSVERIFY PYTHONBREAKPOINT
  PIP_INDEX_URL PIP_CONFIG_FILE UV_INDEX_URL UV_DEFAULT_INDEX UV_EXTRA_INDEX_URL VIRTUAL_ENV CONDA_PREFIX POETRY_REPOSITORIES_X_URL
  JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS MAVEN_OPTS GRADLE_OPTS CLASSPATH DOTNET_STARTUP_HOOKS DOTNET_ROOT CORECLR_PROFILER
  CORECLR_ENABLE_PROFILING COR_PROFILER_PATH COMPlus_EnableDiagnostics NUGET_PACKAGES RUBYOPT RUBYLIB GEM_HOME BUNDLE_GEMFILE PERL5OPT
  PERL5LIB PERLLIB PHPRC PHP_INI_SCAN_DIR GOFLAGS GOPROXY GOROOT GODEBUG CARGO_HOME RUSTC_WRAPPER RUST_LOG LUA_INIT LUA_PATH TCLLIBPATH
  R_PROFILE JULIA_LOAD_PATH GUILE_LOAD_PATH ERL_FLAGS OCAMLRUNPARAM GHCRTS ELECTRON_RUN_AS_NODE GIT_SSH_COMMAND GIT_CONFIG_GLOBAL
  GIT_CONFIG_COUNT GIT_SSL_NO_VERIFY GIT_ASKPASS SSH_AUTH_SOCK SSH_ASKPASS SUDO_ASKPASS DOCKER_HOST DOCKER_CONFIG CONTAINER_HOST
  XDG_CONFIG_HOME DBUS_SESSION_BUS_ADDRESS DISPLAY WAYLAND_DISPLAY GTK_MODULES GIO_EXTRA_MODULES QT_PLUGIN_PATH CLAUDIKINS_CONFIG CI TERM
  TERMINFO PSModulePath SYSTEMROOT COMSPEC PATHEXT APPDATA USERPROFILE PUPPETEER_EXECUTABLE_PATH PLAYWRIGHT_DOWNLOAD_HOST TS_NODE_PROJECT
  ELASTIC_SSL_VERIFY DISABLE_SSL_VERIFICATION ALLOW_INSECURE USE_PROXY SKIP_TLS_VERIFY PGSSLMODE PGSERVICEFILE FONTCONFIG_FILE WHATEVER
  SOME_OPTS GHOST_FLAGS
`
  .trim()
  .split(/\s+/);

test.each(hostile)("%s is not set by a registry, neither fixed, nor by default, nor in a container", (name) => {
  const fixed = packageWith([{ name, value: "evil" }]);
  const usual = packageWith([{ name, default: "evil", isRequired: true }]);
  const part = packageWith([{ name, value: "evil{a}", variables: { a: { default: "x" } } }]);
  for (const { variants } of [fixed, usual, part]) {
    // If it is not refused, it is a question without an answer.
    for (const variant of variants as Extract<Variant, { env: unknown }>[]) {
      expect(variant.env.map(({ value }) => value)).toEqual([[expect.objectContaining({ name, isTyped: true })]]);
      expect(wantedOfVariant(variant).map((each) => each.default)).toEqual([undefined]);
    }
  }
  const container = { registryType: "oci", identifier: "a/b:1", version: undefined };
  for (const flag of ["-e", "--env"]) {
    const runtimeArguments = [{ type: "named", name: flag, value: `${name}=evil` }];
    expect(packageWith([], { ...container, runtimeArguments }).variants).toEqual([]);
    const joined = [{ type: "named", name: `${flag}=${name}=evil` }];
    expect(packageWith([], { ...container, runtimeArguments: joined }).variants).toEqual([]);
  }
});

test.each(["NODE_TLS_REJECT_UNAUTHORIZED", "LD_PRELOAD", "HTTPS_PROXY"])(
  "%s may be asked for, with a warning and without a proposal",
  (name) => {
    const { variants } = packageWith([{ name, isRequired: true, placeholder: "0" }]);
    expect(variants[0]?.warnings).toEqual([`${name} changes how programs run, and not only this one.`]);
    expect(wantedOfVariant(variants[0]!)).toMatchObject([{ name, isTyped: true, placeholder: undefined }]);
    expect(packageWith([{ name, choices: ["0"] }]).variants).toEqual([]);
  },
);

const container = (value: string, variables: object) =>
  packageWith([], {
    registryType: "oci",
    identifier: "a/b:1",
    version: undefined,
    runtimeArguments: [{ type: "named", name: "-e", value, variables }],
  }).variants;

test("the name of a container's variable is fixed", () => {
  expect(container("{name}=1", { name: { default: "LD_PRELOAD" } })).toEqual([]);
  expect(container("{name}=1", { name: { isRequired: true } })).toEqual([]);
  expect(container("LD_{name}=1", { name: { isRequired: true } })).toEqual([]);
  expect(container("LD_PRELOAD={value}", { value: { choices: ["/evil.so"] } })).toEqual([]);
  expect(container("API_KEY={value}", { value: { isRequired: true } })).toHaveLength(1);
});

test.each(
  `GITHUB_TOKEN GITHUB_PERSONAL_ACCESS_TOKEN GITHUB_TOOLSETS GITHUB_READ_ONLY GITLAB_API_URL GOOGLE_API_KEY API_KEY apiKey BASE_URL
  OPENAI_BASE_URL MCP_TRANSPORT TRANSPORT LOG_LEVEL DEBUG PORT HOST DATABASE_URL POSTGRES_URL MONGODB_URI PRO_MODE ENABLE_TOOLS
  MAX_RESULTS DISABLE_TELEMETRY AWS_REGION X_API_KEY CONTEXT7_API_KEY SLACK_TEAM_ID MDB_MCP_TELEMETRY NODE_ENV PYTHONUNBUFFERED
  DEFAULT_MODEL REQUEST_TIMEOUT_MS FASTMCP_LOG_LEVEL TZ_NAME`
    .trim()
    .split(/\s+/),
)("%s is a setting", (name) => {
  expect(kindOfVariable(name)).toBe("setting");
});
