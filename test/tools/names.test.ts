/** Names for code and files are valid and unique. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a name that occurs
import { describe, expect, test } from "bun:test";
import {
  assignFileNames,
  assignNames,
  isIdentifier,
  sandboxGlobals,
  toFolderName,
  toIdentifier,
} from "../../src/tools/names.ts";

/** Names of real tools, and worse ones. */
const oddNames = [
  "API-get-user",
  "resource-group",
  "export",
  "Help",
  "function",
  "default",
  "two.dots",
  "two dots",
  "a/b\\c",
  "2fa",
  "constructor",
  "__proto__",
  "日本語",
  "naïve café",
  "🚀 launch 👩‍🚀",
  "***",
  "",
  "$jquery",
  "with\nnewline\0nul",
  "${x} `$&` */",
  "../../etc/passwd",
  "x".repeat(300),
];

/** True when the word can stand after a dot in code. */
function worksAsProperty(word: string): boolean {
  try {
    return new Function("o", `return o.${word}`)(Object.assign(Object.create(null), { [word]: 5 })) === 5;
  } catch {
    return false;
  }
}

describe("toIdentifier", () => {
  test.each(oddNames.map((name) => [name]))("makes an identifier of %j", (name) => {
    const identifier = toIdentifier(name);
    expect(isIdentifier(identifier)).toBe(true);
    expect(worksAsProperty(identifier)).toBe(true);
    expect(toIdentifier(identifier)).toBe(identifier);
  });

  test("stays close to the name", () => {
    expect(oddNames.slice(0, -1).map(toIdentifier)).toEqual([
      "API_get_user",
      "resource_group",
      "export",
      "Help",
      "function",
      "default",
      "two_dots",
      "two_dots",
      "a_b_c",
      "_2fa",
      "constructor",
      "__proto__",
      "日本語",
      "naïve_café",
      "_launch_",
      "_",
      "_",
      "$jquery",
      "with_newline_nul",
      "$_x_$_",
      "_etc_passwd",
    ]);
  });
});

describe("assignNames", () => {
  test("keeps a name that is an identifier; others that would collide with it get none, and are reported together", () => {
    expect(assignNames(["get-sum", "get_sum", "get sum", "export", "a-b", "a.b", "alone!"])).toEqual({
      names: [
        { name: "get-sum", jsName: undefined },
        { name: "get_sum", jsName: "get_sum" },
        { name: "get sum", jsName: undefined },
        { name: "export", jsName: "export" },
        { name: "a-b", jsName: undefined },
        { name: "a.b", jsName: undefined },
        { name: "alone!", jsName: "alone_" },
      ],
      collisions: [
        { jsName: "get_sum", names: ["get-sum", "get_sum", "get sum"] },
        { jsName: "a_b", names: ["a-b", "a.b"] },
      ],
    });
  });

  test("does not depend on the order", () => {
    const byName = (names: string[]) => assignNames(names).names.sort((a, b) => (a.name < b.name ? -1 : 1));
    expect(byName([...oddNames].reverse())).toEqual(byName(oddNames));
  });

  test("does not use reserved names", () => {
    const servers = ["fs", "console", "new", "then-some", "memory", "fetch", "Map", "__mcp_call", "sleep"];
    expect(assignNames(servers, sandboxGlobals).names.map(({ jsName }) => jsName)).toEqual([
      undefined,
      undefined,
      undefined,
      "then_some",
      "memory",
      "fetch",
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("file names", () => {
  test("are safe, unique, and differ in more than case", () => {
    const names = [...oddNames, "help", "HELP", "index", "Index", "日本", "a_b", "a-b", "con$"];
    const files = assignFileNames(names);
    expect([...files.keys()].sort()).toEqual([...names].sort());
    for (const file of files.values()) expect(file).toMatch(/^[A-Za-z0-9_-]{1,105}$/);
    const lower = [...files.values()].map((file) => file.toLowerCase());
    expect(new Set(lower).size).toBe(names.length);
    expect(lower).not.toContain("index");
  });

  test("do not depend on the order", () => {
    const names = ["Get", "get", "GET", "get_2", "index"];
    const files = Object.fromEntries(assignFileNames(names));
    expect(files).toEqual({ GET: "GET", Get: "Get_2", get: "get_3", get_2: "get_2_2", index: "index_2" });
    expect(Object.fromEntries(assignFileNames([...names].reverse()))).toEqual(files);
  });
});

describe("folder names", () => {
  test.each([
    ["github", "github"],
    ["My Server.v2", "My_Server.v2"],
    ["..", "_"],
    [".", "_"],
    ["../../etc", "__.._etc"],
    ["/etc/passwd", "_etc_passwd"],
    ["C:\\x", "C_x"],
    [".hidden", "_hidden"],
    ["a\0b", "a_b"],
    ["", "_"],
    ["日本", "_"],
    // Windows ignores dots at the end.
    ["a.", "a_"],
    ["y".repeat(300), "y".repeat(100)],
  ])("are made from names: %j → %j", (name, folder) => {
    expect(toFolderName(name)).toBe(folder);
  });
});
