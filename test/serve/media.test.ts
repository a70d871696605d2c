/** Images, sounds and files that code returns, displays, logs or throws are shown as such, and their base64 never appears in a text. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ContentBlock } from "@modelcontextprotocol/server";
import { withoutBase64 } from "../../src/base/media.ts";
import { cli } from "../cli/in-memory.ts";
import { ownFolder } from "../support/own-folder.ts";
import { fixture } from "../support/servers.ts";
import { inSession } from "../support/session.ts";

setDefaultTimeout(60_000);

const bytes = (begin: number[], length: number) => Uint8Array.from({ length }, (_, at) => begin[at] ?? (at * 89) % 251);
const base64 = (data: Uint8Array) => Buffer.from(data).toString("base64");
const png = bytes([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], 3_000);
const image = { type: "image", data: base64(png), mimeType: "image/png" };
// Its bytes do not reveal its type.
const sound = { type: "audio", data: base64(new Uint8Array(2_000)), mimeType: "audio/x-own" };
const paper = {
  type: "resource",
  resource: { uri: "file:///a.bin", mimeType: "application/x-own", blob: base64(new Uint8Array(1_000)) },
};
const results = {
  shot: { content: [{ type: "text", text: "Took it" }, image] },
  sound: { content: [sound] },
  paper: { content: [paper] },
  both: { content: [image], structuredContent: { width: 3 } },
  plain: { content: [{ type: "text", text: "words" }] },
};

const folder = ownFolder({ isShared: true });
beforeAll(() => {
  const tools = Object.entries(results).map(([name, result]) => {
    return { name, inputSchema: { type: "object", properties: { at: { default: 0 } } }, _results: [result] };
  });
  const web = fixture("from-file", folder.write("tools.json", tools));
  folder.write("claudikins.json", { mcpServers: { web } });
});

/** The lines of each text without the receipt, which contains times. */
async function served(codes: string[]): Promise<{ text: string; blocks: ContentBlock[] }[]> {
  return inSession(folder.path, async (client) => {
    const all = [];
    for (const code of codes) {
      const { content } = await client.callTool({ name: "execute_code", arguments: { code } });
      const [first, ...blocks] = content as ContentBlock[];
      all.push({ text: (first as { text: string }).text.replace(/\n\n\[\d+ calls? .*\]$/, ""), blocks });
    }
    return all;
  });
}

/** Whether the text contains the base64 of a file, or its middle. */
const leaked = (text: string) =>
  [image.data, sound.data, paper.resource.blob].some((data) => text.includes(data.slice(40, 240)));

test("serve shortens displayed texts that are too long together, and a file has all of them", async () => {
  const long = "for (const letter of 'abc') display(letter.repeat(30_000)); display(await web.shot.raw({ at: 0 }));";
  const huge = "display(Array(400_000).fill(7)); throw new Error('after it')";
  const [texts, numbers] = await served([`${long} return 1`, huge]);
  const shown = texts!.blocks.map((block) => ("text" in block ? String(block.text) : block.type));
  expect(texts!.text).toBe("1");
  expect(shown[0]).toBe("a".repeat(30_000));
  expect(shown[1]).toMatch(/^b+\n… 20000 of 30000 characters are not shown …\nb+$/);
  expect(shown[2]).toBe("image");
  const file = /\.\/workspace\/outputs\/(\w+-displayed\.txt)/.exec(shown[3] ?? "")?.[1];
  const path = join(folder.path, ".claudikins", "workspace", "outputs", file ?? "none");
  const whole = readFileSync(path, "utf8");
  rmSync(dirname(path), { recursive: true });
  expect(whole.replace(/\n\nTook it$/, "")).toBe(["a", "b", "c"].map((letter) => letter.repeat(30_000)).join("\n\n"));
  expect(numbers!.text).toContain("after it");
  expect(JSON.stringify(numbers!.blocks).length).toBeLessThan(45_000);
});

test("serve shows a returned image, sound or file as a block, in any wrapper", async () => {
  const cases: [string, string, object[]][] = [
    ["return web.shot({ at: 0 })", "Took it\n[image/png, 3,000 bytes]", [image]],
    ["return (await web.shot({ at: 0 }))[1]", "[image/png, 3,000 bytes]", [image]],
    ["return web.shot.raw({ at: 0 })", "Took it\n[image/png, 3,000 bytes]", [image]],
    ["return web.sound({ at: 0 })", "[audio/x-own, 2,000 bytes]", [sound]],
    ["return web.paper({ at: 0 })", "[application/x-own, 1,000 bytes]", [paper]],
    ["return web.plain.raw({ at: 0 })", '{"content": [{"type": "text", "text": "words"}]}', []],
    [
      "return { page: 1, shot: (await web.shot({ at: 0 }))[1] }",
      '{"page": 1, "shot": {"type": "image", "data": "[image/png, 3,000 bytes]", "mimeType": "image/png"}}',
      [image],
    ],
    [
      "return web.both.raw({ at: 0 })",
      '{"content": [{"type": "image", "data": "[image/png, 3,000 bytes]", "mimeType": "image/png"}], "structuredContent": {"width": 3}}',
      [image],
    ],
    ["return new Map([['a', [(await web.sound({ at: 0 }))[0]]]])", '"data": "[audio/x-own, 2,000 bytes]"', [sound]],
    ["display({ shot: (await web.shot({ at: 0 }))[1] }); return 1", "1", [image]],
    [
      "return { contents: [{ uri: 'a:b', blob: (await web.paper({ at: 0 }))[0].resource.blob }] }",
      '"blob": "[application/octet-stream, 1,000 bytes]"',
      [{ type: "resource", resource: { uri: "a:b", blob: paper.resource.blob } }],
    ],
  ];
  const answers = await served(cases.map(([code]) => code));
  for (const [at, { text, blocks }] of answers.entries()) {
    const [code, expected, media] = cases[at]!;
    expect([code, text]).toEqual([code, expect.stringContaining(expected)]);
    expect([code, blocks.filter(({ type }) => type !== "text") as object[]]).toEqual([code, media]);
    expect([code, leaked(JSON.stringify([text, blocks.filter(({ type }) => type === "text")]))]).toEqual([code, false]);
  }
});

test("base64 does not reach a text when it is logged, thrown, displayed as text or joined", async () => {
  const codes = ["shot", "sound", "paper"].flatMap((name) => {
    const block = `const block = (await web.${name}({ at: 0 })).at(-1);`;
    return [
      `${block} console.log(block); console.error({ a: [block] }); return 1`,
      `${block} console.log(JSON.stringify(block), JSON.stringify({ a: JSON.stringify([block]) })); return 1`,
      `${block} console.table([block]); console.dir(block, { depth: 9, maxStringLength: Infinity }); return 1`,
      `${block} throw new Error("no: " + JSON.stringify(block))`,
      `${block} throw block`,
      `${block} display(JSON.stringify(block)); return JSON.stringify({ a: block }, null, 2)`,
      `${block} return "see data:image/x-own;base64," + (block.data ?? block.resource.blob)`,
    ];
  });
  codes.push("return (await web.shot({ at: 0 })).data", "return { page: (await web.shot({ at: 0 })).data }");
  const answers = await served(codes);
  const wrong = answers.flatMap(({ text, blocks }, at) => (leaked(JSON.stringify([text, blocks])) ? [codes[at]] : []));
  expect(wrong).toEqual([]);
  expect(answers.at(-1)?.text).toBe('{"page": "[image/png, 3,000 bytes]"}');
});

describe("exec", () => {
  const run = (code: string, ...more: string[]) => cli(["exec", "-e", code, ...more], { cwd: folder.path });

  test("writes returned and displayed files to the workspace, and prints path, type and size", async () => {
    const code = "display(await web.sound({ at: 0 })); display({ a: 1 }); return web.shot({ at: 0 })";
    const { stdout, stderr, exitCode } = await run(code);
    const outputs = join(folder.path, ".claudikins", "workspace", "outputs");
    const [first, second] = readdirSync(outputs).sort();
    expect([first, second]).toEqual([expect.stringMatching(/-1\.x-own$|-1$/), expect.stringMatching(/-2\.png$/)]);
    expect(new Uint8Array(await Bun.file(join(outputs, second!)).arrayBuffer())).toEqual(png);
    expect(stdout).toBe(`Took it\n[image/png, 3,000 bytes: ${join(outputs, second!)}]\n`);
    expect(stderr).toContain(`{"a":1}\nWrote ${join(outputs, first!)} (audio/x-own, 2,000 bytes)\n`);
    expect(stderr).toContain(`Wrote ${join(outputs, second!)} (image/png, 3,000 bytes)\n`);
    expect(exitCode).toBe(0);
  });

  test("--output names the file, even for other values; --json without --output contains everything", async () => {
    const one = await run("return web.shot({ at: 0 })", "--output", "page.png");
    expect(one).toMatchObject({ stdout: "Took it\n[image/png, 3,000 bytes: page.png]\n" });
    expect(one.stderr).toContain("Wrote page.png (image/png, 3,000 bytes)");
    expect(new Uint8Array(await Bun.file(join(folder.path, "page.png")).arrayBuffer())).toEqual(png);

    const value = await run("return { a: 1 }", "--output", "value.json");
    expect([value.stdout, await Bun.file(join(folder.path, "value.json")).json()]).toEqual(["", { a: 1 }]);

    const json = await run("return { shot: (await web.shot({ at: 0 }))[1] }", "--output", "again.png", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({
      value: { shot: { data: "[image/png, 3,000 bytes: again.png]" } },
      files: [{ file: "again.png", mimeType: "image/png", bytes: 3_000 }],
    });
    const whole = await run("return { shot: (await web.shot({ at: 0 }))[1] }", "--json");
    expect(JSON.parse(whole.stdout)).toMatchObject({ value: { shot: image } });

    const refused = await run("return web.shot({ at: 0 })", "--output", "nowhere/page.png");
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining("its folder does not exist")]);
  });

  test("logs, errors and records for trace have no base64", async () => {
    const code = `const all = [await web.shot({ at: 0 }), await web.sound({ at: 0 }), await web.paper({ at: 0 })];
      console.log(all, JSON.stringify(all)); if (Date.now() > 0) throw new Error(JSON.stringify(all)); return all;`;
    const { stderr } = await run(code, "--record");
    expect(leaked(stderr)).toBe(false);
    expect((await run("return [await web.shot({ at: 0 }), await web.sound({ at: 0 })]", "--record")).exitCode).toBe(0);
    const listed = JSON.parse((await cli(["trace", "--json"], { cwd: folder.path })).stdout).executions;
    for (const { id } of listed.slice(0, 2)) {
      const { stdout } = await cli(["trace", id, "--json"], { cwd: folder.path });
      expect([id, leaked(stdout)]).toEqual([id, false]);
      expect(JSON.parse(stdout).hasContents).toBe(true);
    }
  });
});

test("long words that are not base64 stay", () => {
  const hash = new Bun.CryptoHasher("sha512").update("a").digest("hex").repeat(3);
  for (const text of [
    "x".repeat(600),
    JSON.stringify({ data: "x".repeat(600) }),
    JSON.stringify({ data: hash }),
    hash,
  ]) {
    expect(withoutBase64(text)).toBe(text);
  }
  expect(withoutBase64(`{"data":"${image.data.replace(/.{76}/g, "$&\\n")}"}`)).toBe(
    '{"data":"[image/png, 3,000 bytes]"}',
  );
});
