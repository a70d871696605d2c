/** The variables that a server gets. This is a promise to users, so the test repeats the lists as literals. */
import { describe, expect, test } from "bun:test";
import { childEnvironment, inheritedNames } from "../../../src/servers/process/child-environment.ts";

const set = (names: string) => Object.fromEntries(names.split(/\s+/).map((name) => [name, `of ${name}`]));

const basic = set("HOME LANG LOGNAME PATH SHELL TERM TMPDIR USER");
const network =
  set(`LANGUAGE LC_ALL LC_CTYPE TZ TZDIR HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy
  NODE_EXTRA_CA_CERTS NODE_USE_SYSTEM_CA SSL_CERT_FILE SSL_CERT_DIR NIX_SSL_CERT_FILE DENO_CERT CURL_CA_BUNDLE REQUESTS_CA_BUNDLE
  AWS_CA_BUNDLE PIP_CERT GIT_SSL_CAINFO GIT_SSL_CAPATH`);
const places =
  set(`XDG_CONFIG_HOME XDG_RUNTIME_DIR NVM_DIR FNM_DIR VOLTA_HOME ASDF_DATA_DIR MISE_DATA_DIR PNPM_HOME BUN_INSTALL DENO_DIR
  PYENV_ROOT UV_CACHE_DIR UV_PYTHON_INSTALL_DIR CARGO_HOME RUSTUP_HOME GOPATH GOROOT JAVA_HOME ANDROID_HOME ANDROID_SDK_ROOT DOTNET_ROOT
  PLAYWRIGHT_BROWSERS_PATH PUPPETEER_EXECUTABLE_PATH DISPLAY WAYLAND_DISPLAY XAUTHORITY DBUS_SESSION_BUS_ADDRESS WSL_DISTRO_NAME WSL_INTEROP
  SSH_AUTH_SOCK DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG DOCKER_CERT_PATH DOCKER_TLS_VERIFY CONTAINER_HOST AWS_PROFILE AWS_REGION
  AWS_DEFAULT_REGION AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE KUBECONFIG GOOGLE_APPLICATION_CREDENTIALS CLOUDSDK_CONFIG AZURE_CONFIG_DIR`);
/** Secrets, and variables by which a program can be made to do something else. */
const others =
  set(`GITHUB_TOKEN AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN OPENAI_API_KEY NODE_OPTIONS NODE_PATH NODE_TLS_REJECT_UNAUTHORIZED
  LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES BASH_ENV ENV PYTHONPATH PYTHONSTARTUP PERL5OPT RUBYOPT BUN_OPTIONS JAVA_TOOL_OPTIONS
  GIT_SSH_COMMAND GIT_CONFIG_GLOBAL SSH_ASKPASS EDITOR PAGER BROWSER CLAUDIKINS_LOG npm_config_script_shell`);

describe.skipIf(process.platform === "win32")("a server", () => {
  test("gets variables that say where things are, if they are set", () => {
    const ours = { ...basic, ...network, ...places };
    expect(childEnvironment({ ...others, ...ours }, {})).toEqual(ours);
    expect(childEnvironment({ PATH: "", HOME: undefined }, {})).toEqual({ PATH: "" });
  });

  test("gets what the network needs, and no sockets or profiles, with a minimal environment", () => {
    const env = { ...others, ...basic, ...network, ...places };
    expect(childEnvironment(env, {}, "minimal")).toEqual({ ...basic, ...network });
  });

  test("gets the variables that its entry names, also by a pattern", () => {
    const env = { ...basic, ...others };
    expect(childEnvironment(env, {}, ["GITHUB_TOKEN", "AWS_*"])).toEqual({
      ...basic,
      ...set("GITHUB_TOKEN AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN"),
    });
    expect(childEnvironment(env, {}, ["*"])).toEqual(env);
    expect(childEnvironment(env, {}, ["MISSING", "github_token", ""])).toEqual(basic);
  });
});

test("a server gets the variables of its entry, which have precedence", () => {
  expect(childEnvironment({ PATH: "/bin" }, { PATH: "/opt", TOKEN: "", "odd name": "x" })).toEqual({
    PATH: "/opt",
    TOKEN: "",
    "odd name": "x",
  });
});

test("the names of inherited variables are known without their values", () => {
  expect(inheritedNames({ PATH: "/bin", GITHUB_TOKEN: "x", GONE: undefined }, ["GONE"])).toEqual(["PATH"]);
});
