/** The variables that a server gets. This is a promise to users, so the test repeats the list as a literal. */
import { expect, test } from "bun:test";
import { childEnvironment } from "../../src/clients/child-environment.ts";

const ours = {
  HOME: "/home/me",
  LANG: "C",
  LOGNAME: "me",
  PATH: "/bin",
  SHELL: "/bin/sh",
  TERM: "xterm",
  TMPDIR: "/tmp",
  USER: "me",
};

test.skipIf(process.platform === "win32")("a server gets eight safe variables, if they are set", () => {
  const secrets = { GITHUB_TOKEN: "secret", NODE_OPTIONS: "--require x", LD_PRELOAD: "x", XDG_CONFIG_HOME: "/x" };
  expect(childEnvironment({ ...secrets, ...ours }, {})).toEqual(ours);
  expect(childEnvironment({ PATH: "", HOME: undefined }, {})).toEqual({ PATH: "" });
});

test("a server gets the variables of its entry, which have precedence", () => {
  expect(childEnvironment({ PATH: "/bin" }, { PATH: "/opt", TOKEN: "", "odd name": "x" })).toEqual({
    PATH: "/opt",
    TOKEN: "",
    "odd name": "x",
  });
});
