/** Globals of the web and of Node are the same in the sandbox as elsewhere, on every machine. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { compute } from "../../src/sandbox/host/compute.ts";
import { runProgram } from "../support/process.ts";
import { expectSame } from "./compare.ts";
import { Harness } from "./harness.ts";

setDefaultTimeout(60_000);

const harness = new Harness();
afterAll(() => harness[Symbol.dispose]());

const time = "Date.UTC(2024, 1, 29, 13, 5, 9, 123)";

describe("globals", () => {
  test.each([
    // Numbers
    "(1234567.891).toLocaleString()",
    "(1234567.891).toLocaleString('de-DE', { style: 'currency', currency: 'EUR' })",
    "[0, -0, NaN, Infinity, -1e21, 1e-7].map((n) => n.toLocaleString())",
    "(123456789012345678901234567890n).toLocaleString('en-IN')",
    "[1, 22.5, 'x', null, new Date(0)].toLocaleString('en-US')",
    "new Float64Array([1234.5, 2]).toLocaleString('de-DE')",
    "new Intl.NumberFormat('en', { notation: 'compact' }).format(1234567)",
    "new Intl.NumberFormat('fr', { style: 'unit', unit: 'kilometer-per-hour' }).format(50)",
    "new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 }).formatToParts(0.256)",
    "[1, 2].map(new Intl.NumberFormat('en', { minimumFractionDigits: 2 }).format)",
    "(() => { const o = { style: 'unit', unit: 'day' }; const f = new Intl.NumberFormat('en', o); o.unit = 'hour'; return f.format(1) })()",
    "Intl.NumberFormat('en-US').format('12345678901234567890.123')",
    "Intl.NumberFormat('en-US', { style: 'currency', currency: 'EUR' }).formatRange(3, 5)",
    "new Intl.NumberFormat('ja-JP', { style: 'currency', currency: 'JPY' }).resolvedOptions().currency",
    // Dates
    `new Date(${time}).toLocaleString()`,
    `new Date(${time}).toLocaleDateString('en-GB')`,
    `new Date(${time}).toLocaleTimeString('en-US', { hour: '2-digit', minute: '2-digit' })`,
    `new Date(${time}).toLocaleDateString('de-DE', { weekday: 'long', day: 'numeric', month: 'long', timeZone: 'UTC' })`,
    `new Date(${time}).toLocaleString('en-US', { timeZone: 'Asia/Tokyo', dateStyle: 'full', timeStyle: 'long' })`,
    `new Date(${time}).toLocaleString('sv-SE', { timeZone: 'America/New_York' })`,
    "new Date(NaN).toLocaleDateString()",
    `new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Paris', hourCycle: 'h23', hour: 'numeric' }).formatToParts(${time})`,
    `new Intl.DateTimeFormat('en-US', { dateStyle: 'medium' }).formatRange(0, ${time})`,
    "new Intl.DateTimeFormat('en-US', { timeZone: 'Europe/Berlin' }).resolvedOptions().timeZone",
    "new Intl.DateTimeFormat('en').format(NaN)",
    "new Date(0).toLocaleDateString('en', { timeStyle: 'short' })",
    "[new Date(2024, 6, 1).toISOString(), new Date('2024-07-01T10:00').toISOString(), new Date(0).getTimezoneOffset()]",
    // Words
    "['one', 'two', 'few', 'other'].map((_, n) => new Intl.PluralRules('en', { type: 'ordinal' }).select(n + 1))",
    "new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(-1, 'day')",
    "new Intl.ListFormat('en', { type: 'disjunction' }).format(['a', 'b', 'c'])",
    "new Intl.ListFormat('de').formatToParts(new Set(['a', 'b']))",
    "new Intl.DisplayNames('en', { type: 'region' }).of('CH')",
    "new Intl.DisplayNames(['fr'], { type: 'language' }).of('de')",
    "[...new Intl.Segmenter('en', { granularity: 'word' }).segment('Hello, world')]",
    "[...new Intl.Segmenter().segment('👨‍👩‍👧é')].length",
    "new Intl.Segmenter('ja', { granularity: 'word' }).segment('今日は').containing(1).segment",
    "new Intl.DurationFormat('en', { style: 'short' }).format({ hours: 1, minutes: 2 })",
    "Intl.getCanonicalLocales(['EN-us', 'de-de'])",
    "Intl.supportedValuesOf('currency').length",
    "Intl.DateTimeFormat.supportedLocalesOf(['en-US', 'xx'])",
    "(({ language, region, baseName }) => [language, region, baseName])(new Intl.Locale('de-at-u-ca-gregory'))",
    "String(new Intl.Locale('zh').maximize())",
    "['ä', 'a', 'z', 'Z'].sort(new Intl.Collator('sv').compare)",
    "['a10', 'a9', 'b1'].sort(new Intl.Collator(undefined, { numeric: true }).compare)",
    "['résumé', 'resume', 'Resume', 'ab', 'a b', 'a-b', '_', 'B', 'b', '10', '9', '', '€', 'a\\tb'].sort((a, b) => a.localeCompare(b))",
    "'a'.localeCompare('á', 'en', { sensitivity: 'base' })",
    "['istanbul'.toLocaleUpperCase('tr'), 'I'.toLocaleLowerCase('tr'), 'ß'.toLocaleUpperCase()]",
    // Errors
    "new Intl.NumberFormat('en', { style: 'currency' })",
    "new Intl.NumberFormat('en', { maximumFractionDigits: 999 })",
    "new Intl.NumberFormat('en', { maximumFractionDigits: NaN })",
    "new Intl.DateTimeFormat('en', { timeZone: 'Mars/Olympus' })",
    "new Intl.DateTimeFormat('not a locale')",
    "(1).toLocaleString('x')",
    "new Intl.ListFormat('en').format([1])",
    "new Intl.PluralRules('en', { type: 'nope' })",
    "new Intl.DateTimeFormat(null)",
    // Addresses
    "new URL('../c?d=e#f', 'https://u:p@example.com:8443/a/b').href",
    "(({ protocol, host, port, pathname, search, hash, origin }) => [protocol, host, port, pathname, search, hash, origin])(new URL('http://ex.com:80/a b?q=ü'))",
    "[...new URL('http://a/?x=1&y=2&x=3').searchParams]",
    "(() => { const u = new URL('http://a/b'); u.searchParams.set('q', 'a b&c'); u.hash = 'h'; return u.toString() })()",
    "new URLSearchParams({ a: '1', b: 'x y' }).toString()",
    "new URL('nonsense')",
    "[URL.canParse('http://x'), URL.canParse('x')]",
    "new URL('http://bücher.example/').host",
    // Texts and bytes
    "[...new TextEncoder().encode('héllo €😀\\ud800')]",
    "new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x68, 0xff, 0xe2, 0x82]))",
    "new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([0xff]))",
    "new TextDecoder('utf-16le').decode(new Uint8Array([0x68, 0, 0x3d, 0xd8, 0, 0xde]))",
    "new TextDecoder('latin1').decode(new Uint8Array([0xe9, 0x80]))",
    "[btoa('hello'), atob('aGVsbG8='), atob(' aGk ')]",
    "atob('*')",
    "btoa('€')",
    "[Buffer.from('héllo').toString('hex'), Buffer.from('aGk=', 'base64').toString(), Buffer.concat([Buffer.from('a'), Buffer.alloc(2)]).length, Buffer.byteLength('€')]",
    "Buffer.from([1, 2, 3])",
    // The rest
    "structuredClone({ a: [1, undefined], d: new Date(5), n: null, u: new Uint8Array([1, 2]) })",
    "await Array.fromAsync([1, Promise.resolve(2)], (n) => n * 2)",
    "await Array.fromAsync((async function* () { yield 1; yield 2 })())",
    "Buffer.from(await crypto.subtle.digest('SHA-512', new TextEncoder().encode('abc'))).toString('hex')",
    "AbortSignal.abort().reason.name",
    "(() => { const c = new AbortController(); const s = AbortSignal.any([c.signal]); c.abort('why'); return [s.aborted, s.reason] })()",
    "(() => { const t = new EventTarget(); let n = 0; t.addEventListener('x', () => n++, { once: true }); t.dispatchEvent(new Event('x')); t.dispatchEvent(new Event('x')); return n })()",
    "[new DOMException('m', 'AbortError').code, new DOMException('m') instanceof Error, String(new DOMException('m', 'N'))]",
    "process.platform",
    "(() => { const e = {}; Error.captureStackTrace(e); return typeof e.stack })()",
    "[URL, Intl.NumberFormat, TextDecoder, AbortSignal, crypto.randomUUID, structuredClone].map((f) => f.name)",
    "[String(Intl), String(new Intl.NumberFormat())]",
  ])("%s is the same as elsewhere", (expression) => expectSame(harness, expression));
});

describe("globals of the sandbox", () => {
  test.each<[string, unknown]>([
    ["new Intl.NumberFormat().resolvedOptions().locale", "en-US"],
    ["new Intl.NumberFormat('xx-YY').resolvedOptions().locale", "en-US"],
    ["new Intl.DateTimeFormat().resolvedOptions().timeZone", "UTC"],
    ["new Date(0).toString().slice(0, 33)", "Thu Jan 01 1970 00:00:00 GMT+0000"],
    ["[process.env, process.argv, process.cwd(), process.version]", [{}, ["node", "main.ts"], "/", "v22.0.0"]],
    ["globalThis === global && self === global", true],
    ["typeof performance.timeOrigin + typeof performance.mark('a').startTime", "numbernumber"],
    ["performance.measure('m', (performance.mark('a'), 'a')).duration >= 0", true],
    ["/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())", true],
    ["crypto.getRandomValues(new Uint8Array(32)).some((byte) => byte > 0)", true],
    ["typeof navigator + typeof WebAssembly + typeof Bun + typeof Deno", "undefined".repeat(4)],
    ["process.hrtime.bigint() > 0n && process.uptime() > 0", true],
  ])("%s has the sandbox's own value", async (expression, expected) => {
    expect(await harness.value(`return ${expression}`)).toEqual(expected);
  });

  test("the time zone and locale of the machine are not visible", async () => {
    const script = join(import.meta.dir, "machine.ts");
    const env = { TZ: "America/New_York", LANG: "de_DE.UTF-8", LC_ALL: "de_DE.UTF-8", SECRET: "s3cret" };
    const { stdout } = await runProgram([process.execPath, script], { env });
    expect(JSON.parse(stdout)).toEqual([
      "1/1/1970, 12:00:00 AM",
      "Thu Jan 01 1970 00:00:00 GMT+0000",
      "2024-07-01T10:00:00.000Z",
      0,
      "1,234.5",
      "UTC",
      "en-US",
      {},
    ]);
  });

  test.each([
    ["fetch('http://x')", "The sandbox has no network: call a server"],
    ["new WebSocket('ws://x')", "The sandbox has no network: call a server"],
    ["new XMLHttpRequest()", "The sandbox has no network: call a server"],
    ["new Worker('x')", "The sandbox has no threads"],
    ["process.exit(1)", "Use return to end the program"],
  ])("the error of %s has a hint", async (code, hint) => {
    const outcome = await harness.run(code);
    expect(outcome).toMatchObject({ ok: false, reason: "threw" });
    expect(!outcome.ok && outcome.error.message).toContain(hint);
  });

  test("structuredClone copies data and refuses functions", async () => {
    const value = await harness.value(`
      const shared = { n: 1 };
      const original: any = { map: new Map([[shared, new Set([shared])]]), re: /x/gi, error: new RangeError("r", { cause: shared }), views: [] };
      original.self = original;
      const bytes = new Uint8Array([1, 2, 3, 4]);
      original.views.push(bytes, bytes.subarray(1, 3));
      const copy: any = structuredClone(original);
      const [[key, set]] = [...copy.map];
      const refused = (value: unknown) => { try { structuredClone(value); return "copied" } catch (error: any) { return [error.name, error instanceof DOMException] } };
      return [copy.self === copy, key !== shared, set.has(key), copy.map instanceof Map, String(copy.re), copy.error instanceof RangeError,
        copy.error.cause === key, [...copy.views[1]], copy.views[0].buffer === copy.views[1].buffer, copy.views[0] !== bytes,
        refused(() => 1), refused({ a: Symbol("x") }), refused(Promise.resolve())]`);
    const refused = ["DataCloneError", true];
    expect(value).toEqual([
      ...[true, true, true, true, "/x/gi", true, true, [2, 3], true, true],
      ...[refused, refused, refused],
    ]);
  });

  test("AbortSignal.timeout aborts, and code that waits for it continues", async () => {
    expect(
      await harness.value(`
        const signal = AbortSignal.timeout(10);
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return [signal.aborted, signal.reason.name]`),
    ).toEqual([true, "TimeoutError"]);
  });

  test("process.stdout.write and process.stderr.write write lines to the log", async () => {
    const { logs } = await harness.run(
      "process.stdout.write('a'); process.stdout.write('b\\nc'); await 1; process.stderr.write('d\\n')",
    );
    expect(logs).toEqual([
      { level: "log", text: "ab" },
      { level: "log", text: "c" },
      { level: "error", text: "d" },
    ]);
  });
});

// A library of another test file may have replaced the host's own.
test("process.cwd has its name", async () => {
  expect(await harness.value("return process.cwd.name")).toBe("cwd");
});

describe("sorting", () => {
  test("plain ASCII is compared as by the host", async () => {
    const chars = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index));
    let state = 7;
    const pick = (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * below);
    };
    const words = Array.from({ length: 400 }, () =>
      Array.from({ length: pick(6) }, () => (pick(2) ? "aAbB" : chars.join(""))[pick(4)] ?? chars[pick(95)]).join(""),
    );
    const all = [...chars, ...words, ...chars.flatMap((char) => [`a${char}`, `${char}a`, `A${char}b`])];
    const code = `const all: string[] = ${JSON.stringify(all)};
      const signs = all.map((word, index) => Math.sign(word.localeCompare(all[(index * 31 + 7) % all.length]!)));
      return [signs, all.toSorted((a, b) => a.localeCompare(b))]`;
    const signs = all.map((word, index) => Math.sign(word.localeCompare(all[(index * 31 + 7) % all.length]!, "en-US")));
    expect(await harness.value(code)).toEqual([signs, all.toSorted((a, b) => a.localeCompare(b, "en-US"))]);
  });
});

describe("sorting texts beyond ASCII", () => {
  test("texts are compared as by the host", async () => {
    const latin = Array.from({ length: 0x250 - 0x20 }, (_, index) => String.fromCharCode(0x20 + index));
    const others = [
      "\0",
      "\t",
      "\n",
      "\u0301",
      "\u0308",
      "\u0327",
      "\u200b",
      "ａ",
      "ﬁ",
      "я",
      "й",
      "中",
      "😀",
      "\ud800",
    ];
    const chars = [...latin, ...others];
    let state = 11;
    const pick = (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * below);
    };
    // Few letters, so that many words differ in their accents and case only.
    const few = ["o", "O", "ö", "ø", "oe", "œ", "s", "ss", "ß", "o\u0308", "l", "Ł", "d", "đ", " ", "-", "_", "\u0301"];
    const words = Array.from({ length: 600 }, () =>
      Array.from({ length: pick(6) }, () => (pick(5) ? few[pick(few.length)] : chars[pick(chars.length)])).join(""),
    );
    const long = ["ab", "áb", "ac", "AB", "b"].map((end) => `${"Customer ".repeat(12)}${end}`);
    const all = [
      ...chars,
      ...words,
      ...chars.flatMap((char) => [`a${char}`, `${char}a`, `A${char}b`, `z${char}`]),
      ...long,
    ];
    const steps = [1, 2, 3, 5, 17, 31, 263, 592, 1_009];
    const signs = (compare: (left: string, right: string) => number) =>
      steps.map((step) => all.map((word, at) => Math.sign(compare(word, all[(at * 31 + step) % all.length]!))).join());
    const code = `const all: string[] = ${JSON.stringify(all)};
      const steps = ${JSON.stringify(steps)};
      const { compare } = new Intl.Collator();
      const signs = (compare: (left: string, right: string) => number) =>
        steps.map((step) => all.map((word, at) => Math.sign(compare(word, all[(at * 31 + step) % all.length]!))).join());
      return [signs((left, right) => left.localeCompare(right)), signs(compare), all.toSorted((a, b) => a.localeCompare(b))]`;
    const right = signs((left, right) => left.localeCompare(right, "en-US"));
    const sorted = all.toSorted((a, b) => a.localeCompare(b, "en-US"));
    expect(await harness.value(code)).toEqual([right, right, sorted]);
  });

  test("more texts than are kept, and methods that the program replaced, change nothing", async () => {
    const code = `for (const name of ["get", "set", "clear"]) (Map.prototype as any)[name] = () => { throw new Error("called") };
      const names = Array.from({ length: 60_000 }, (_, n) => "Zoë " + ((n * 7_919) % 60_000));
      const before = names.slice(0, 2_000).sort((a, b) => a.localeCompare(b))[0];
      names.forEach((name) => name.localeCompare("Zoë "));
      const after = ["Zoë 999999", "Zoe 999998", "zoë 999997"].sort((a, b) => a.localeCompare(b));
      await null;
      return [before, after, ["b", "á", "a"].sort((a, b) => a.localeCompare(b))]`;
    const after = ["zoë 999997", "Zoe 999998", "Zoë 999999"];
    expect(await harness.value(code)).toEqual(["Zoë 0", after, ["a", "á", "b"]]);
  });
});

describe("compute on the host", () => {
  test.each<[string, string, object]>([
    ["an unknown function", "there is no function", { name: "nope", args: {} }],
    ["a name of the prototype", "there is no function", { name: "constructor", args: {} }],
    ["an unknown type", "has no format", { name: "intl", args: { type: "constructor", method: "format", args: [] } }],
    [
      "a method that is not one of its own",
      "has no constructor",
      { name: "intl", args: { type: "NumberFormat", method: "constructor", args: [] } },
    ],
    [
      "a number of a million digits",
      "too long to format",
      { name: "intl", args: { type: "NumberFormat", method: "format", args: [{ bigint: "9".repeat(1e6) }] } },
    ],
    ["an unknown digest", "There is no digest", { name: "digest", args: { algorithm: "md4", parts: [] } }],
    ["too many random bytes", "Random bytes", { name: "random", args: { bytes: 1e9 } }],
    [
      "a huge input",
      "too large",
      { name: "digest", args: { algorithm: "md5", parts: [{ text: "x".repeat(10_000_001) }] } },
    ],
  ])("refuses %s", (_, message, request) => {
    const { name, args } = request as { name: string; args: object };
    expect(() => compute(name, JSON.stringify(args))).toThrow(message);
  });
});
