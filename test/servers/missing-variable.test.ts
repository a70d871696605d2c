/** The variable that explains why a server did not start, by the last lines of its output. */
import { describe, expect, test } from "bun:test";
import { defaultServerTimes } from "../../src/config/defaults.ts";
import type { ServerConfig } from "../../src/config/load.ts";
import { missingVariableHint } from "../../src/servers/failures/start-failure.ts";

const server = (env: Record<string, string> = {}): ServerConfig =>
  ({ name: "s", command: "x", args: [], env, disabled: false, needs: [], ...defaultServerTimes }) as ServerConfig;
const hint = (lines: string[], set: string[] = [], env = {}) =>
  missingVariableHint(lines, server(env), (name) => set.includes(name))?.hint;

describe("a certificate that is not trusted", () => {
  test.each([
    "npm error code SELF_SIGNED_CERT_IN_CHAIN",
    "Error: unable to get local issuer certificate",
    "ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed",
    "  code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'",
  ])("is explained by %j", (line) => {
    expect(hint([line])).toContain("set NODE_EXTRA_CA_CERTS or SSL_CERT_FILE to its file");
  });

  test("is not explained if both variables are set", () => {
    expect(hint(["SELF_SIGNED_CERT_IN_CHAIN"], ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"])).toBeUndefined();
  });
});

test("a window without a display is explained by DISPLAY", () => {
  expect(hint(["Missing X server or $DISPLAY"])).toContain("DISPLAY is not set");
  expect(hint(["Missing X server or $DISPLAY"], ["DISPLAY"])).toBeUndefined();
});

describe("a variable that the server asks for", () => {
  test.each([
    "Error: GITHUB_TOKEN is not set",
    "GITHUB_TOKEN environment variable is required",
    "Please set GITHUB_TOKEN",
    "missing required variable: GITHUB_TOKEN",
  ])("is named if it is set here: %j", (line) => {
    expect(hint([line], ["GITHUB_TOKEN"])).toBe(
      'GITHUB_TOKEN is set, but "s" does not get it. Add "inherit": ["GITHUB_TOKEN"] to its entry in the config.',
    );
    expect(hint([line])).toStartWith("It asks for GITHUB_TOKEN. Set it in");
  });

  test.each(["Error: ENOENT", "listening on PORT_A", "TypeError: FOO is not a function", ""])(
    "is not found in %j",
    (line) => {
      expect(hint([line])).toBeUndefined();
    },
  );

  test("is not one that the entry has", () => {
    expect(hint(["API_KEY is not set"], [], { API_KEY: "" })).toBeUndefined();
  });
});
