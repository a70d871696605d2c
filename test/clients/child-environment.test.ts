/** The variables that a server gets. A promise to users: the list stands here a second time. */
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

test.skipIf(process.platform === "win32")("eight harmless ones, of those that are set", () => {
  const secrets = { GITHUB_TOKEN: "secret", NODE_OPTIONS: "--require x", LD_PRELOAD: "x", XDG_CONFIG_HOME: "/x" };
  expect(childEnvironment({ ...secrets, ...ours }, {})).toEqual(ours);
  expect(childEnvironment({ PATH: "", HOME: undefined }, {})).toEqual({ PATH: "" });
});

test("and what its entry declares, which wins", () => {
  expect(childEnvironment({ PATH: "/bin" }, { PATH: "/opt", TOKEN: "", "odd name": "x" })).toEqual({
    PATH: "/opt",
    TOKEN: "",
    "odd name": "x",
  });
});
