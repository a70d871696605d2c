/** Node's modules in the sandbox return what Node's do, and know nothing of the machine. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { expectSame } from "./compare.ts";
import { Harness } from "./harness.ts";

setDefaultTimeout(60_000);

const harness = new Harness();
afterAll(() => harness[Symbol.dispose]());

describe("Node's modules", () => {
  test.each([
    // path
    "require('path').join('a', '..', 'b', 'c.txt')",
    "require('node:path').parse('/a/b.tar.gz')",
    "require('path').relative('/a/b', '/a/c/d')",
    "[require('path').extname('x.md'), require('path').basename('/a/b.ts', '.ts'), require('path').sep]",
    "require('path').posix.resolve('/x', '../y')",
    // crypto
    "['md5', 'sha1', 'sha256', 'sha512'].map((name) => require('crypto').createHash(name).update('héllo').digest('hex'))",
    "require('crypto').createHash('SHA256').update('a').update(Buffer.from([255, 0])).digest('base64')",
    "require('crypto').createHash('sha256').update('6162', 'hex').digest().length",
    "require('crypto').createHmac('sha256', 'key').update('data').digest('hex')",
    "require('crypto').createHmac('sha1', Buffer.from([1, 2])).update(new Uint8Array(5)).digest('base64url')",
    "require('crypto').timingSafeEqual(Buffer.from('a'), Buffer.from('a'))",
    "require('crypto').randomBytes(8).length + require('crypto').randomInt(5, 6)",
    "require('crypto').createHash('nope')",
    // util
    "require('util').inspect({ a: { b: { c: { d: 1 } } }, s: 'x', f() {}, m: new Map([[1, [2]]]) })",
    "require('util').inspect('it\\'s')",
    "require('util').format('%s|%d|%i|%f|%j|%%|%s', 'a', '1.5', 1.9, '2.5', { a: 1 }, 'b', 'c', { d: 1 })",
    "await require('util').promisify((a, callback) => callback(null, a + 1))(1)",
    "await require('util').promisify((callback) => callback(new TypeError('x')))()",
    "require('util').isDeepStrictEqual({ a: [1, new Set([{ b: 1 }])] }, { a: [1, new Set([{ b: 1 }])] })",
    "require('util').isDeepStrictEqual([0], [-0])",
    "(() => { function A() {} function B() {} require('util').inherits(A, B); return new A() instanceof B && A.super_ === B })()",
    "[require('util').types.isDate(new Date()), require('util').types.isRegExp({}), require('util').types.isAsyncFunction(async () => {})]",
    "require('util').inspect.custom.toString()",
    // assert
    "require('assert')(1)",
    "require('assert').ok(0)",
    "require('assert').equal(1, '1')",
    "require('assert').strictEqual(1, '1')",
    "require('assert/strict').equal(1, '1')",
    "require('assert').deepEqual({ a: 1, b: [1, { c: new Date(5) }] }, { b: [1, { c: new Date(5) }], a: 1 })",
    "require('assert').deepStrictEqual({ a: 1 }, { a: '1' })",
    "require('assert').deepStrictEqual(new Map([[{ a: 1 }, 1]]), new Map([[{ a: 1 }, 1]]))",
    "require('assert').deepStrictEqual([1, , 2], [1, undefined, 2])",
    "require('assert').notDeepStrictEqual({ a: 1 }, { a: 1 })",
    "require('assert').throws(() => { throw new TypeError('bad thing') }, /bad/)",
    "require('assert').throws(() => { throw new TypeError('bad thing') }, { name: 'TypeError', message: /thing/ })",
    "require('assert').throws(() => { throw new TypeError('bad') }, TypeError)",
    "require('assert').throws(() => { throw new TypeError('bad') }, RangeError)",
    "require('assert').throws(() => 1)",
    "await require('assert').rejects(Promise.reject(new Error('no')), /no/)",
    "await require('assert').rejects(async () => 1)",
    "require('assert').match('abc', /x/)",
    "require('assert').fail('why')",
    "(() => { try { require('assert').strictEqual(1, 2, 'said') } catch (e) { return [e.name, e.code, e.actual, e.expected, e.operator] } })()",
    // The rest
    "require('os').EOL",
    "require('buffer').Buffer.from('a').toString('base64')",
    "new (require('url').URL)('http://a/b').pathname",
    "(() => { const { EventEmitter } = require('events'); const e = new EventEmitter(); const seen = []; e.on('x', (v) => seen.push(v)); e.once('x', (v) => seen.push(-v)); e.emit('x', 1); e.emit('x', 2); return [seen, e.listenerCount('x')] })()",
    "await (() => { const { EventEmitter, once } = require('events'); const e = new EventEmitter(); setTimeout(() => e.emit('x', 5), 1); return once(e, 'x') })()",
    "require('querystring').parse('a=1&b=x%20y&a=2')",
    "require('querystring').stringify({ a: ['1', '2'], b: 'x y' })",
    "(() => { const d = new (require('string_decoder').StringDecoder)('utf8'); return [d.write(Buffer.from([0xe2, 0x82])), d.write(Buffer.from([0xac])), d.end()] })()",
    "await require('timers/promises').setTimeout(1, 'value')",
    "await new Promise((resolve) => setTimeout(resolve, Infinity, 'soon'))",
    "await require('timers/promises').setTimeout(1_000, 0, { signal: AbortSignal.abort() })",
    "await (async () => { let n = 0; for await (const v of require('timers/promises').setInterval(1, 'x')) if (++n === 3) return v + n })()",
    "typeof require('perf_hooks').performance.now()",
    "require('process').platform + require('node:process').argv.length",
  ])("%s is the same as elsewhere", (expression) => expectSame(harness, expression));
});

test("every form of import returns the same modules", async () => {
  expect(
    await harness.value(`
      import path, { join } from "node:path";
      import * as util from "util";
      import assert, { strictEqual } from "node:assert/strict";
      import { setTimeout as sleep } from "timers/promises";
      import EventEmitter, { once } from "node:events";
      const { createHash } = await import("node:crypto");
      await sleep(1);
      strictEqual(path.join, join);
      assert(true);
      return [util.inspect([1]), createHash("md5").update("").digest("hex").slice(0, 4), typeof once, new EventEmitter().emit("x")]`),
  ).toEqual(["[ 1 ]", "d41d", "function", false]);
});

test("modules contain nothing of the machine", async () => {
  expect(
    await harness.value(`
      const os = require("os"), process = require("process");
      return [os.hostname(), os.cpus(), os.homedir(), os.networkInterfaces(), os.userInfo().username, process.env, process.cwd()]`),
  ).toEqual(["sandbox", [{ model: "", speed: 0, times: expect.anything() }], "/", {}, "user", {}, "/"]);
});

test("assertion errors name the expected and the actual value", async () => {
  const said = async (assertion: string) => {
    const outcome = await harness.run(`const assert = require("assert");\nassert.${assertion}`);
    return outcome.ok ? "nothing" : outcome.error.message;
  };
  // As in Node; Bun compares deeply without converting.
  expect(await said("deepEqual([1], ['1'])")).toBe("nothing");
  expect(await said("strictEqual(1, 2)")).toBe("Expected values to be strictly equal:\n\n1 !== 2");
  expect(await said("deepStrictEqual({ a: 1 }, { a: [2] }, undefined)")).toBe(
    "Expected values to be strictly deep-equal:\n\n{ a: 1 } should equal { a: [ 2 ] }",
  );
  expect(await said("ok(0, 'zero')")).toBe("zero");
  expect(await said("ok(null)")).toBe("The expression evaluated to a falsy value: null");
});

test("paths convert to URLs and back, and other URLs are refused", async () => {
  const url = (code: string) => harness.run(`return require("url").${code}`);
  expect(await url("fileURLToPath(new URL('file:///a%20b/c'))")).toMatchObject({ value: "/a b/c" });
  expect(await url("pathToFileURL('./workspace/a#?%.md').href")).toMatchObject({
    value: "file:///workspace/a%23%3F%25.md",
  });
  expect(await url("fileURLToPath('https://example.com/a')")).toMatchObject({ ok: false });
  expect(await url("fileURLToPath('file://host/a')")).toMatchObject({ ok: false });
});
