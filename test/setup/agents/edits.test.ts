/** Edits of agents' settings files change the servers and no other byte, whatever the formatting. */
import { describe, expect, test } from "bun:test";
import { changed, parseFile } from "../../../src/config/edit/editor.ts";
import { appendItem, parseJson, removeMembers, setMember } from "../../../src/config/edit/json.ts";
import { addToTable, parseToml, removeFromTable } from "../../../src/config/edit/toml.ts";

const ours = { command: "claudikins", args: ["serve"] };

describe("JSON", () => {
  const add = (text: string, path = ["mcpServers", "claudikins"], value: unknown = ours) =>
    setMember(text, path, value, "f");
  const remove = (text: string, ...path: string[]) => removeMembers(text, path.slice(0, -1), path.slice(-1), "f");

  test.each([
    ["an empty file", "", '{\n  "a": 1\n}\n'],
    ["comments alone", "// mine\n", '// mine\n{\n  "a": 1\n}\n'],
    ["an empty object", "{}", '{\n  "a": 1\n}'],
    ["one with a comment", "{\n  // mine\n}\n", '{\n  // mine\n  "a": 1\n}\n'],
    ["a line", '{ "b": 2 }', '{ "b": 2, "a": 1 }'],
    ["a line with a comma at its end", '{ "b": 2, }', '{ "b": 2, "a": 1, }'],
    ["lines", '{\n\t"b": 2\n}', '{\n\t"b": 2,\n\t"a": 1\n}'],
    ["lines with a comma at the end", '{\n    "b": 2,\n}', '{\n    "b": 2,\n    "a": 1,\n}'],
    ["a comment behind the last", '{\n  "b": 2 // two\n}', '{\n  "b": 2, // two\n  "a": 1\n}'],
    ["a comma, then a comment", '{\n  "b": 2, /* two */\n}', '{\n  "b": 2, /* two */\n  "a": 1,\n}'],
    ["a comment before the comma", '{\n  "b": 2 /* , */ ,\n}', '{\n  "b": 2 /* , */ ,\n  "a": 1,\n}'],
    ["CRLF", '{\r\n  "b": 2\r\n}\r\n', '{\r\n  "b": 2,\r\n  "a": 1\r\n}\r\n'],
    ["the same key", '{ "a": [1, 2], "b": 2 }', '{ "a": 1, "b": 2 }'],
    ["the same key in a text", '{ "b": "\\"a\\": 2" }', '{ "b": "\\"a\\": 2", "a": 1 }'],
  ])("a member is added to: %s", (_, before, after) => {
    expect(add(before, ["a"], 1)).toBe(after);
  });

  test("missing objects are created, and short lists are written on one line", () => {
    expect(add('{\n    "x": 1\n}\n')).toBe(
      '{\n    "x": 1,\n    "mcpServers": {\n        "claudikins": {\n            "command": "claudikins",\n            "args": ["serve"]\n        }\n    }\n}\n',
    );
    expect(() => add('{ "mcpServers": [] }')).toThrow('f:1: expected an object around "claudikins"');
  });

  test.each([
    ["alone", '{ "a": 1 }', "{ }"],
    ["alone, with a comma", '{ "a": 1, }', "{ }"],
    ["first", '{ "a": 1, "b": 2 }', '{ "b": 2 }'],
    ["last", '{ "b": 2, "a": 1 }', '{ "b": 2 }'],
    ["last, with a comma", '{ "b": 2, "a": 1, }', '{ "b": 2, }'],
    ["on its lines", '{\n  "b": 2,\n  "a": {\n  },\n  "c": 3\n}', '{\n  "b": 2,\n  "c": 3\n}'],
    ["on the last lines", '{\n  "b": 2,\n  "a": 1\n}', '{\n  "b": 2\n}'],
    [
      "between comments",
      '{\n  // b\n  "b": 2,\n  // a\n  "a": 1 // one\n}',
      '{\n  // b\n  "b": 2\n  // a\n  // one\n}',
    ],
    ["twice", '{ "a": 1, "b": 2, "a": 3 }', '{ "b": 2 }'],
    ["not at all", '{ "b": 2 }', '{ "b": 2 }'],
    ["with a comment before its comma", '{ "a": 1 /* x */, "b": 2 }', '{ /* x */ "b": 2 }'],
  ])("a member is removed: %s", (_, before, after) => {
    expect(remove(before, "a")).toBe(after);
  });

  test.each([
    ['{ "l": [] }', '{ "l": ["x"] }'],
    ['{ "l": ["a"] }', '{ "l": ["a", "x"] }'],
    ['{ "l": [\n    "a",\n  ] }', '{ "l": [\n    "a",\n    "x",\n  ] }'],
    ['{ "l": 1 }', '{ "l": 1 }'],
  ])("an item is added to the list %j", (before, after) => {
    expect(appendItem(before, ["l"], "x", "f")).toBe(after);
  });

  test.each([
    ['{\n  "a": 1\n  "b": 2\n}', /^f:3: not valid JSON: comma expected$/],
    ['{ "a": ', /^f:1: not valid JSON: /],
    ["[]", "f:1: expected an object"],
    ["nonsense", /^f:1: not valid JSON/],
  ])("an invalid text is refused with its line: %j", (text, message) => {
    expect(() => parseJson(text, "f")).toThrow(message);
  });

  test("__proto__ is an ordinary key", () => {
    const text = '{ "mcpServers": { "__proto__": { "command": "x" }, "b": {} } }';
    expect(Object.keys(parseJson(text, "f")["mcpServers"] as object)).toEqual(["__proto__", "b"]);
    expect(remove(text, "mcpServers", "__proto__")).toBe('{ "mcpServers": { "b": {} } }');
  });
});

describe("TOML", () => {
  const remove = (text: string, ...names: string[]) => removeFromTable(text, ["mcp_servers"], new Set(names), "f");
  const add = (text: string) => addToTable(text, ["mcp_servers"], "claudikins", ours, "f");
  const table = '[mcp_servers.claudikins]\ncommand = "claudikins"\nargs = ["serve"]\n';
  const inline = 'claudikins = { command = "claudikins", args = ["serve"] }';

  test.each([
    ["an empty file", "", table],
    ["other tables", "a = 1\n[b]\nc = 2", `a = 1\n[b]\nc = 2\n\n${table}`],
    ["other servers", '# x\n[mcp_servers.a]\ncommand = "a"\n', `# x\n${table}\n[mcp_servers.a]\ncommand = "a"\n`],
    ["one line", 'mcp_servers = { a = { url = "x" } }\n', `mcp_servers = { a = { url = "x" }, ${inline} }\n`],
    ["an empty line", "mcp_servers = {}\n", `mcp_servers = { ${inline} }\n`],
    ["dotted keys", 'mcp_servers.a.command = "a"\n', `mcp_servers.${inline}\nmcp_servers.a.command = "a"\n`],
    ["CRLF", "a = 1\r\n", `a = 1\r\n\r\n${table.replaceAll("\n", "\r\n")}`],
  ])("a server is added to: %s", (_, before, after) => {
    expect(add(before)).toBe(after);
    expect(parseToml(after, "f")["mcp_servers"]).toMatchObject({ claudikins: ours });
  });

  test.each([
    ["a table", '[x]\na = 1\n\n[mcp_servers.a]\ncommand = "a"\n\n[y]\n', "[x]\na = 1\n\n[y]\n"],
    ["with a table in it", '[mcp_servers.a]\nurl = "u"\n[mcp_servers.a.env]\nB = "[c]\\n"\n', ""],
    ["a nested table in another place", "[mcp_servers.a]\n[z]\n[mcp_servers.a.env]\nb = 1\n", "[z]\n"],
    ["quoted", "[mcp_servers.\"a b\"]\nx = 1\n[mcp_servers.'c']\nx = 1\n", "[mcp_servers.'c']\nx = 1\n"],
    ["a line of the table", "[mcp_servers]\na = {}\nb = {} # b\n", "[mcp_servers]\nb = {} # b\n"],
    ["dotted lines", "mcp_servers.a.x = 1\nmcp_servers.b.x = 1\n", "mcp_servers.b.x = 1\n"],
    [
      "a table on one line",
      "mcp_servers = { a = { x = 1 }, b = { y = [1, 2] } } # all\n",
      "mcp_servers = { b = { y = [1, 2] } } # all\n",
    ],
    [
      "a table on one line, beside values of every kind",
      "mcp_servers = { a = {}, kept = { since = 1979-05-27, share = 1.0 } }\n",
      "mcp_servers = { kept = { since = 1979-05-27, share = 1.0 } }\n",
    ],
    [
      "texts of many lines",
      '[mcp_servers.a]\nx = """\n[b]\nq = "#"\n"""\ny = \'\'\'\n[c]\'\'\'\nz = [ "#", # ]\n  1 ]\n[b]\nq = 1\n',
      "[b]\nq = 1\n",
    ],
    ["comments", "# of x\n[mcp_servers.a] # a\n# in a\nx = 1 # one\n# of b\n[b]\n", "# of x\n# of b\n[b]\n"],
    ["without an end", "[b]\nx = 1\n\n[mcp_servers.a]\ny = 2", "[b]\nx = 1\n\n"],
  ])("a server is removed: %s", (_, before, after) => {
    expect(remove(before, "a", "a b")).toBe(after);
  });

  test.each([
    ["a = 1\nb = \n", "f:2: not valid TOML: "],
    ["a = 1\n\n[x\n", "f:3: not valid TOML: "],
    ['a = "x\nb = 1\n', "f:1: not valid TOML: "],
    ["a = 1\na = 2\n", "f:2: not valid TOML: "],
  ])("an invalid text is refused with its line: %j", (text, message) => {
    expect(() => parseToml(text, "f")).toThrow(message);
  });
});

describe("every formatting of the same document", () => {
  const servers = {
    github: { command: "npx", args: ["-y", "x"], env: { TOKEN: 'a"b\\c ☃ {}[],:#' } },
    "odd name.": { url: "https://x/y?a=[1]#b", headers: { "X-A": "// no comment", B: "/* none */" } },
    claudikins2: { command: "c:\\x\\y.exe", args: [], nested: { deep: { list: [{ a: 1 }, [2, "3"]] } } },
  };
  const document = { first: true, mcpServers: servers, last: { mcpServers: { untouched: {} }, list: [1, 2] } };

  /** The document, in a way that depends on the bits of the number. */
  function written(way: number): string {
    const is = (bit: number) => (way & (1 << bit)) !== 0;
    const unit = is(0) ? "\t" : is(1) ? "    " : "  ";
    const { mcpServers, ...rest } = document;
    const keys = is(2) ? { ...rest, mcpServers } : document;
    let text = is(3) ? JSON.stringify(keys) : JSON.stringify(keys, null, unit);
    if (is(4) && !is(3)) text = text.replace(/([^,{[\s])(?=\n\s*[}\]])/g, "$1,");
    if (is(5) && !is(3)) text = text.replace(/,\n(\s*)/g, ', // { "not": ] }\n$1/* "x": { */ ');
    if (is(6)) text = `${text}\n`;
    return is(7) ? text.replaceAll("\n", "\r\n") : text;
  }

  test.each(Array.from({ length: 256 }, (_, way) => [way]))("is edited without other changes (%i)", (way) => {
    const text = written(way);
    const file = { path: "f", format: "json" } as const;
    const names = Object.keys(servers);
    const after = changed(
      text,
      {
        removed: [{ section: ["mcpServers"], names }],
        added: [{ section: ["mcpServers"], name: "claudikins", value: ours }],
      },
      file,
    );
    const parsed = parseFile(after, file);
    expect(Bun.deepEquals(parsed["mcpServers"], { claudikins: ours })).toBe(true);
    // The text before and after the servers has not changed by a byte.
    const [start, end] = [
      text[way & 4 ? "lastIndexOf" : "indexOf"]('"mcpServers"'),
      text.lastIndexOf(way & 4 ? "}" : '"last"'),
    ];
    expect(after.startsWith(text.slice(0, start))).toBe(true);
    expect(after.endsWith(text.slice(end))).toBe(true);
    if (way & 128) expect(after.replaceAll("\r\n", "")).not.toContain("\n");
  });
});
