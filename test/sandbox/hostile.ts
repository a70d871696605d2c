/** Programs that try to escape, to outlive their end, or to break the engine, with the expected outcome of each. */

/** The reason of the failure, or the value. */
export type Expected = { reason: string; message?: string } | { value: unknown };

type Row = [title: string, code: string, expected: Expected];

const value = (v: unknown): Expected => ({ value: v });
const fails = (reason: string, message?: string): Expected =>
  message === undefined ? { reason } : { reason, message };
const threw = (message?: string) => fails("threw", message);

const constructors: Row[] = [
  ["Function constructor", "return Function('return typeof Bun')()", value("undefined")],
  [
    "constructor of a constructor",
    "return ({}).constructor.constructor('return typeof process === \"object\" && process.env.PATH')()",
    value(undefined),
  ],
  ["constructor of a tool", "return test.echo.constructor('return typeof Bun')()", value("undefined")],
  [
    "constructor of a promise of a tool",
    "const p = test.echo({}); await p; return p.constructor.constructor('return typeof Bun')()",
    value("undefined"),
  ],
  ["constructor of console", "return console.log.constructor('return typeof Bun')()", value("undefined")],
  [
    "constructor of an error of a tool",
    "try { await test.fail({}) } catch (e) { return e.constructor.constructor('return typeof Bun')() }",
    value("undefined"),
  ],
  [
    "generator function constructor",
    "return (function* () {}).constructor('return typeof Bun')().next().value",
    value("undefined"),
  ],
  ["async function constructor", "return (async () => {}).constructor('return typeof Bun')()", value("undefined")],
  ["eval", "return eval('typeof Bun')", value("undefined")],
  ["indirect eval", "return (0, eval)('typeof Deno')", value("undefined")],
  ["this of a function", "return (function () { return this === undefined })()", value(true)],
  ["this at the top is the global of the inside", "return this === globalThis && typeof this.Bun", value("undefined")],
  ["arguments.callee", "return (function () { return arguments.callee })()", threw()],
  ["caller", "function f() { return f.caller } return f()", threw()],
  ["timer with text", "setTimeout('throw 1', 1); return 1", threw()],
];

const doors: Row[] = [
  ["the host object is gone", "return typeof __host", value("undefined")],
  ["the guest object is gone", "return typeof __guest", value("undefined")],
  [
    "globals with underscores",
    "return Object.getOwnPropertyNames(globalThis).filter((n) => /^__[hg]/.test(n))",
    value([]),
  ],
  ["WebAssembly", "return typeof WebAssembly", value("undefined")],
  ["SharedArrayBuffer to wait on", "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", threw()],
  ["import of a file", "await import('/etc/passwd')", threw('There is no module "/etc/passwd"')],
  [
    "import of a relative file",
    "await import('../../../etc/passwd')",
    threw('There is no module "../../../etc/passwd"'),
  ],
  ["import of a URL", "await import('https://example.com/x.js')", threw()],
  ["import of data", "await import('data:text/javascript,export default 1')", threw()],
  [
    "import of node:child_process",
    "await import('node:child_process')",
    threw('There is no module "node:child_process"'),
  ],
  ["require of net", "require('net')", threw('There is no module "net"')],
  ["require of worker_threads", "require('node:worker_threads')", threw('There is no module "node:worker_threads"')],
  ["require of bun", "require('bun')", threw('There is no module "bun"')],
  ["import of a name of the prototype", "await import('constructor')", threw('There is no module "constructor"')],
  ["import of __proto__", "await import('__proto__')", threw('There is no module "__proto__"')],
  ["import of an object", "await import({ toString: () => 'net' })", threw("There is no module {}")],
  ["import of an object that throws", "await import({ toString() { throw new Error('mine') } })", threw("mine")],
  ["import of a symbol", "await import(Symbol('x'))", threw()],
  ["an unknown server", "await import('./servers/__proto__')", threw('No server is called "__proto__"')],
  ["a skill outside", "await import('./skills/../../../../etc/passwd')", threw()],
  [
    "a server's prototype",
    "const p = Object.getPrototypeOf(test); return [Object.isFrozen(p), Object.getPrototypeOf(p), Object.keys(p)]",
    value([true, null, []]),
  ],
  ["the prototype of servers cannot be changed", "Object.getPrototypeOf(test).read_resource = 1", threw()],
  ["a server cannot be changed", "test.echo = () => 'mine'; return 1", threw()],
  ["servers cannot be changed", "servers.evil = 1", threw()],
  ["a server cannot be given a prototype", "Object.setPrototypeOf(test, { x: 1 })", threw()],
];

const pollution: Row[] = [
  [
    "Object.prototype through arguments",
    "const a = JSON.parse('{\"__proto__\":{\"polluted\":1}}'); await test.echo(a); return ({}).polluted ?? 'clean'",
    value("clean"),
  ],
  [
    "__proto__ keys go there and back",
    'return JSON.stringify(await test.echo(JSON.parse(\'{"__proto__":{"a":1}}\')))',
    value('{"__proto__":{"a":1}}'),
  ],
  [
    "constructor keys",
    "return await test.echo({ constructor: { prototype: { x: 1 } } })",
    value({ constructor: { prototype: { x: 1 } } }),
  ],
  ["Object.prototype.toJSON", "Object.prototype.toJSON = () => 'mine'; return { a: 1 }", value("mine")],
  ["Array.prototype.map", "Array.prototype.map = () => 'broken'; return (await test.echo({ a: 1 })).a", value(1)],
  ["Promise.prototype.then", "Promise.prototype.then = () => 'broken'; return (await test.echo({ a: 1 })).a", value(1)],
  ["JSON.parse", "JSON.parse = () => 'broken'; return (await test.echo({ a: 1 })).a", value(1)],
  ["JSON.stringify", "JSON.stringify = () => 'broken'; return (await test.echo({ a: 1 })).a", value(1)],
  ["Map", "Map.prototype.get = () => undefined; Map.prototype.set = () => undefined; return 1", value(1)],
  [
    "a getter on Object.prototype",
    "Object.defineProperty(Object.prototype, 'ok', { get: () => false, set() {} }); return 1",
    value(1),
  ],
  ["Object.prototype.then", "Object.prototype.then = function (r) { r('hijacked') }; return 1", value(1)],
  ["Error.prototype.toString", "Error.prototype.toString = () => { throw 1 }; throw new Error('x')", threw("x")],
  [
    "Symbol.iterator of arrays",
    "Array.prototype[Symbol.iterator] = function* () { yield 'x' }; return [1]",
    value([1]),
  ],
];

const crossing: Row[] = [
  ["a getter in arguments that throws", "await test.echo({ get a() { throw new Error('mine') } })", threw()],
  ["toJSON that throws", "await test.echo({ a: { toJSON() { throw new Error('mine') } } })", threw()],
  ["toJSON that lies", "return await test.echo({ a: { toJSON: () => ({ b: 1 }) } })", value({ a: { b: 1 } })],
  ["a proxy as arguments", "return await test.echo(new Proxy({ a: 1 }, {}))", value({ a: 1 })],
  ["a proxy that throws", "await test.echo(new Proxy({}, { ownKeys() { throw new Error('mine') } }))", threw()],
  ["a revoked proxy", "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); await test.echo(proxy)", threw()],
  ["a cycle", "const a = {}; a.a = a; await test.echo(a)", threw()],
  ["a BigInt", "return await test.echo({ a: 1n })", value({ a: 1 })],
  [
    "functions and symbols",
    "return await test.echo({ f() {}, s: Symbol('x'), u: undefined, n: null })",
    value({ n: null }),
  ],
  ["Infinity", "return await test.echo({ a: Infinity, b: NaN, c: -0 })", value({ a: null, b: null, c: 0 })],
  ["a lone surrogate", "return (await test.echo({ a: '\\ud800x' })).a.length", value(2)],
  ["NUL in text", "return (await test.echo({ a: 'a\\0b' })).a.length", value(3)],
  ["a tool's name as an object", "await callTool('test', { toString: () => 'echo' }, {})", value({})],
  [
    "a returned proxy that throws",
    "return new Proxy({}, { ownKeys() { throw new Error('mine') }, get() { throw new Error('mine') } })",
    threw("mine"),
  ],
  ["a returned getter that throws", "return { get a() { throw new Error('mine') } }", threw("mine")],
  ["a thrown proxy", "throw new Proxy(new Error('x'), { get() { throw new Error('inner') } })", threw()],
  [
    "an error with a message that throws",
    "throw Object.defineProperty(new Error(), 'message', { get() { throw 1 } })",
    threw(),
  ],
  ["a thenable that never settles", "return { then() {} }", threw()],
  ["a thenable that settles twice", "return { then(r) { r(1); r(2) } }", value(1)],
  ["a thenable that throws", "return { then() { throw new Error('mine') } }", threw("mine")],
  ["a log that throws", "console.log({ get a() { throw new Error('mine') } }); return 1", { value: 1 }],
  ["a display that is no JSON", "const a = {}; a.a = a; display(a); return 1", value(1)],
  [
    "a rejection with itself",
    "const p = Promise.reject(1); p.catch(() => {}); return await p.catch((e) => e)",
    value(1),
  ],
];

const floods: Row[] = [
  ["for without end", "for (;;);", fails("timeout")],
  ["while in a callback", "[1].forEach(() => { while (true); })", fails("timeout")],
  ["a getter without end", "return { get a() { for (;;); } }", fails("timeout")],
  ["a toJSON without end", "await test.echo({ toJSON() { for (;;); } })", fails("timeout")],
  ["a proxy trap without end", "new Proxy({}, { get() { for (;;); } }).x", fails("timeout")],
  ["a comparator without end", "[1, 2, 3].sort(() => { for (;;); })", fails("timeout")],
  ["a generator without end", "for (const _ of (function* () { for (;;) yield 1 })());", fails("timeout")],
  [
    "an iterator without end",
    "for (const x of { [Symbol.iterator]: () => ({ next: () => ({}) }) });",
    fails("timeout"),
  ],
  ["intervals without end", "setInterval(() => {}, 0); await new Promise(() => {})", fails("timeout")],
  [
    "a timer that starts itself",
    "const f = () => setTimeout(f, 0); f(); await new Promise(() => {})",
    fails("timeout"),
  ],
  [
    "microtasks without end",
    "const f = () => { queueMicrotask(f) }; f(); await new Promise((r) => setTimeout(r, 1))",
    fails("timeout"),
  ],
  ["catching the stop", "for (;;) { try { for (;;); } catch (e) { } finally { for (;;); } }", fails("timeout")],
  ["stopping in a finally", "try { return 1 } finally { for (;;); }", fails("timeout")],
  ["calls without end", "for (;;) await test.echo({})", fails("timeout")],
  ["a regular expression that explodes", "/^(([a-z])+.)+[A-Z]([a-z])+$/.test('a'.repeat(60))", fails("timeout")],
  ["a regular expression that backtracks", "/(x+x+)+y/.test('x'.repeat(40))", fails("timeout")],
  ["a replace that explodes", "'a'.repeat(40).replace(/(a|a)*b/, '')", fails("timeout")],
  ["includes over nothing", "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)", fails("timeout")],
  ["indexOf over nothing", "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)", fails("timeout")],
  ["join over nothing", "Array.prototype.join.call({ length: 2 ** 32 - 2 }, '')", fails("timeout")],
  ["reverse over nothing", "Array.prototype.reverse.call({ length: 2 ** 53 - 1 })", fails("timeout")],
  [
    "fill over nothing",
    "Array.prototype.fill.call(new Proxy({ length: 2 ** 53 - 1 }, { set: () => true }), 1)",
    fails("timeout"),
  ],
  ["a quadratic search", "'a'.repeat(1e7).indexOf('a'.repeat(5e6) + 'b')", fails("timeout")],
  ["dates without end", "for (;;) new Date(Math.random())", fails("timeout")],
];

const memory: Row[] = [
  ["arrays", "const a = []; for (;;) a.push([])", fails("memory")],
  ["typed arrays", "const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))", fails("memory")],
  ["one typed array", "return new Uint8Array(2 ** 30).length", fails("memory")],
  ["one array buffer", "new ArrayBuffer(1e9)", fails("memory")],
  ["a text that doubles", "let s = 'x'; for (;;) s += s", fails("memory")],
  ["repeat", "return 'x'.repeat(2 ** 29).length", fails("memory")],
  ["padStart", "return 'x'.padStart(2 ** 29).length", fails("memory")],
  ["join of a sparse array", "return new Array(2 ** 27).join('x').length", fails("memory")],
  ["concat", "let a = [1]; for (;;) a = a.concat(a)", fails("memory")],
  ["split", "'x'.repeat(2e7).split('')", fails("memory")],
  ["JSON of much", "JSON.stringify(new Array(1e7).fill('xxxxxxxxxx'))", fails("memory")],
  ["closures", "const a = []; for (;;) a.push(() => a)", fails("memory")],
  ["symbols", "const a = []; for (;;) a.push(Symbol('x'.repeat(100)))", fails("memory")],
  ["a map", "const m = new Map(); for (let i = 0; ; i++) m.set(i, {})", fails("memory")],
  ["a string map", "const o = {}; for (let i = 0; ; i++) o['k' + i] = i", fails("memory")],
  ["BigInt", "let n = 2n; for (;;) n *= n", threw()],
  ["a regular expression's matches", "return [...'x'.repeat(3e6).matchAll(/x/g)].length", fails("memory")],
];

const names: Row[] = [
  ["a class called like a server", "class test { static echo() { return 'mine' } } return test.echo()", value("mine")],
  ["a variable called servers", "const servers = 1; return servers", value(1)],
  ["undefined cannot be redefined", "undefined = 1", threw()],
  ["globalThis can be replaced", "globalThis.globalThis = 1; return typeof test.echo", value("function")],
  ["console can be replaced", "globalThis.console = { log: () => 1 }; console.log('x'); return 1", value(1)],
  ["setTimeout can be replaced", "globalThis.setTimeout = () => 'mine'; return setTimeout()", value("mine")],
  ["the marks cannot be replaced", "globalThis.__watch = () => 'mine'", threw()],
  [
    "a name from the prototype",
    "return [typeof test.toString, typeof test.hasOwnProperty, 'valueOf' in test]",
    value(["undefined", "undefined", false]),
  ],
  ["a tool called constructor", "return test.constructor.name", value("constructor")],
  ["deleting a tool", "delete test.echo", threw()],
  ["defining a tool", "Object.defineProperty(test, 'mine', { value: 1 })", threw()],
  ["a server as a prototype", "const o = Object.create(test); return (await o.echo({ a: 1 })).a", value(1)],
  ["spreading a server", "return typeof { ...test }.echo", value("function")],
  ["a server as JSON", "return JSON.stringify(test)", value("{}")],
  ["awaiting a server", "return (await test) === test", value(true)],
  ["a server as text", "return Object.prototype.toString.call(test)", value("[object Object]")],
];

const failures: Row[] = [
  ["a number", "throw 42", threw("42")],
  ["a symbol", "throw Symbol('s')", threw("Symbol(s)")],
  ["a function", "throw function f() {}", threw()],
  ["NaN", "throw NaN", threw("NaN")],
  ["an array", "throw [1, 'a']", threw('[1,"a"]')],
  ["an error with a cause", "throw new Error('outer', { cause: new Error('inner') })", threw("outer")],
  ["several errors", "throw new AggregateError([new Error('a')], 'several')", threw("several")],
  ["an error without a prototype", "throw Object.setPrototypeOf(new Error('x'), null)", threw()],
  ["an error with a false stack", "const e = new Error('x'); e.stack = '/etc/passwd:1'; throw e", threw("x")],
  [
    "an error with a stack that is no text",
    "const e = new Error('x'); e.stack = { toString() { throw 1 } }; throw e",
    threw(),
  ],
  [
    "a rejection in a timer",
    "setTimeout(async () => { throw new Error('late') }, 1); await new Promise((r) => setTimeout(r, 20))",
    threw("late"),
  ],
  ["two rejections", "test.fail({}); test.fail({}); return 1", threw("fail says no")],
  [
    "a rejection that is handled later",
    "const p = Promise.reject(new Error('x')); await null; await p.catch(() => {}); return 1",
    value(1),
  ],
  [
    "a failing call in a loop that goes on",
    "let n = 0; for (let i = 0; i < 50; i++) await test.fail({}).catch(() => n++); return n",
    value(50),
  ],
];

const nested = "The code is nested too deeply, or has an expression that is too long";

const depth: Row[] = [
  [
    "code without an end",
    `return "${"x".repeat(500_000)}"`,
    fails("check", "The code has 500009 characters; the limit is 500000"),
  ],
  ["recursion", "const f = () => f() + 1; f()", fails("stack")],
  ["mutual recursion", "const a = () => b(); const b = () => a(); a()", fails("stack")],
  [
    "recursion that is caught",
    "let n = 0; const f = () => { n++; f() }; try { f() } catch (e) { return n > 100 }",
    value(true),
  ],
  ["a getter of itself", "const o = { get a() { return this.a } }; o.a", fails("stack")],
  ["a proxy of itself", "const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x", fails("stack")],
  ["toString of itself", "const o = { toString() { return '' + this } }; '' + o", fails("stack")],
  ["JSON that is deep", "JSON.parse('['.repeat(1e5) + ']'.repeat(1e5))", fails("stack")],
  ["a deep value", "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return o", fails("stack")],
  ["a deep argument", "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; await test.echo(o)", fails("stack")],
  ...(["{}", "()", "[]"] as const).map(
    ([open = "", close = ""]): Row => [
      `a program that is deep in ${open}${close}`,
      `${open.repeat(7e4)}1${close.repeat(7e4)}`,
      fails("check", nested),
    ],
  ),
  ["an expression that is long", `return 0${"+1".repeat(7e4)}`, value(70_000)],
  ["a class that does not end", "(class{", fails("check")],
  ["an import that does not end", "import a from n", fails("check")],
  ["source that is deep", "eval('('.repeat(1e5) + ')'.repeat(1e5))", fails("stack")],
  [
    "an array in itself as text",
    "const a = []; for (let i = 0, b = a; i < 1e5; i++) { const c = []; b.push(c); b = c } return String(a).length",
    fails("stack"),
  ],
  [
    "flat of what is deep",
    "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a.flat(Infinity).length",
    fails("stack"),
  ],
  ["bind of bind", "let f = () => 1; for (let i = 0; i < 5e3; i++) f = f.bind(null); return f()", fails("memory")],
  [
    "a chain of promises",
    "let p = Promise.resolve(1); for (let i = 0; i < 1e5; i++) p = p.then((x) => x); return await p",
    value(1),
  ],
  ["async recursion", "const f = async (n) => n === 0 ? 'end' : f(n - 1); return await f(300)", value("end")],
];

export const hostile: Record<string, Row[]> = {
  constructors,
  doors,
  pollution,
  crossing,
  names,
  failures,
  floods,
  memory,
  depth,
};
