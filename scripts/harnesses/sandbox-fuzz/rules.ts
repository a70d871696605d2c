/**
 * The grammar of random programs: `$name` is replaced by a line of the rule `name`. `$fresh` is an unused name, `$own`
 * is a name that is the same within its line, and `$v` is one of the variables with which every program begins.
 * `$$name` is inside a function that cannot await. A line that occurs twice is chosen more often.
 */
import { apiRules } from "./rules-api.ts";

/** At the maximum depth, the rule that replaces a rule. */
export const leafOf: Record<string, string> = { e: "leaf", s: "simple", block: "simple", type: "plaintype" };

const statements = `
const $fresh = $e;
let $fresh: $type = $e;
$v = $e;
$v = $e;
$e;
$call;
$api;
var $fresh = $e, $fresh;
if ($e) { $block } else { $block }
for (let $own = 0; $own < $small; $own++) { $block }
for (let i = 0; i < $small; i++) { $block }
for (const $fresh of $iterable) { $block }
for (const $fresh in $e) { $block }
for await (const $fresh of $iterable) { $block }
$own: for (let i = 0; i < 4; i++) { for (const j of $iterable) { if ($e) continue $own; if ($e) break $own; $block } }
$own: { $block if ($e) break $own; $block }
let $own = 0; while ($own++ < $small) { $block }
let $own = 0; do { $block } while ($own++ < $small && $e);
try { $block } catch { $block }
try { $block } catch ($fresh) { $block console.log($v) }
try { $block } catch (error) { $v = error } finally { $block }
try { throw $e } catch ({ message, stack, ...rest }) { $v = [message, stack, rest] }
switch ($e) { case $leaf: $block case $leaf: $block break; default: $block }
function $fresh($$params) { $$block return $$e }
function $fresh(x) { $$block return new.target ?? arguments }
async function $fresh($$params) { $block return $e }
function* $fresh() { $$block const x = yield $$e; yield* $$iterable; return x }
async function* $fresh() { $block yield $e; yield await $e }
class $fresh { $member $member $member }
class $fresh extends $class { $member $member constructor(...all) { super(...all); $$block } }
$v = new (class { $member $member $member $member })($args);
const { $key: $fresh = $e, ...$fresh } = $e;
const [$fresh, , $fresh = $e, ...$fresh] = $iterable;
[$v, $v] = [$v, $v];
({ $key: $v, [$propkey]: $v = $e } = $e);
interface $fresh { a: $type; b?: $type }
type $fresh<T = unknown> = T extends $type ? $type : never;
enum $fresh { A, B = 5, C = "c" }
$v[$propkey] = $e;
$v.$key = $e;
delete $v.$key;
delete $v[$propkey];
Object.defineProperty($v, $propkey, { $descriptor });
$proto.$key = $e;
$proto[$propkey] = $f;
Object.defineProperty($proto, $propkey, { $descriptor });
Object.setPrototypeOf($v, $e);
Object.assign($v, $e);
Object.freeze($v);
await $promise;
await Promise.$combinator([$promise, $promise, $e]);
$v = await $promise;
queueMicrotask(() => { $$block });
setTimeout(() => { $$block }, $delay);
setTimeout(async () => { $block }, $delay);
const $own = setInterval(() => { $$block }, $delay); setTimeout(() => clearInterval($own), 5);
void (async () => { $block await $promise; $block })();
const $fresh = (async () => { for (let i = 0; i < $small; i++) await null; $block })();
console.$log($e, $e);
console.$log($e);
display($e);
throw $thrown;
if ($e) throw $thrown;
if ($e) return $e;
globalThis.$key = $e;
globalThis[$propkey] = $e;
eval($source);
Function($source)();
const { $key: $fresh } = await import($module);
$v = require($module);
$v = structuredClone($e);
using $fresh = { [Symbol.dispose]() { $$block } };
let $own = $string; for (let i = 0; i < $doublings; i++) $own += $own; $v = $own.length;
let $own = [$e]; for (let i = 0; i < $doublings; i++) $own = $own.concat($own); $v = $own.length;
let $own: any = $e; for (let i = 0; i < $depth; i++) $own = [$own]; $v = $own;
let $own: any = $e; for (let i = 0; i < $depth; i++) $own = { $key: $own }; $v = $own;
let $own: any = $e; for (let i = 0; i < $depth; i++) $own = new Error("deep", { cause: $own }); throw $own;
let $own: any = $f; for (let i = 0; i < $depth; i++) $own = $own.bind($v); $v = $own;
for (;;) { $block }
while (true);
const $own = () => queueMicrotask($own); $own();
const $own = () => { setTimeout($own, 0); $$block }; $own();
const $own = (n) => n <= 0 ? $$e : $own(n - 1); $v = $own($depth);
const $own = async (n) => n <= 0 ? $e : await $own(n - 1); $v = await $own($depth);
`;

const expressions = `
$leaf
$leaf
$v
$v
$v.$key
$v[$propkey]
$v?.$key?.[$propkey]
$v?.($args)
$e $binary $e
$e $binary $e
($e $logical ($e))
($v $assign $e)
$unary ($e)
$update
$e ? $e : $e
[$e, $e, ...$iterable]
[, $e, , ]
({ $property, $property, ...$e })
($e, $e)
$f
$f($args)
$v($args)
new $v($args)
new $class($args)
$class.prototype
$e instanceof $class
$propkey in $v
typeof $e
await $promise
\`a\${$e}b\${$e}\`
String.raw\`\\u\${$e}\`
$array.$arraymethod($f)
$array.$arraymethod($e, $e)
$string.$stringmethod($e, $e)
$string.$stringmethod($regexp, $f)
$regexp.exec($string)
$number.$numbermethod($e)
Object.$objectmethod($e)
Object.$objectmethod($e, $f)
Reflect.$reflectmethod($v, $propkey, $e, $e)
new Proxy($target, { $trap, $trap })
Proxy.revocable($target, { $trap }).proxy
JSON.stringify($e, $f, $small)
JSON.parse($json)
JSON.parse($json, $f)
Symbol($e)
Symbol.for($string)
new Map([[$e, $e], [$e, $e]])
new Set($iterable)
new WeakMap([[{}, $e]])
new WeakRef({}).deref()
new $typed($iterable)
new $typed(new ArrayBuffer($size, { maxByteLength: $size }), $small)
new ArrayBuffer($size, { maxByteLength: $size })
new ArrayBuffer($size).transfer($size)
new DataView(new ArrayBuffer(16)).getFloat64($number)
new Date($e)
new Date($number, $number, $number).$datemethod($e)
Math.$mathmethod($e, $e)
BigInt.asUintN($small, $e)
$e as any
$e as $type
($e)!
<T,>(x: T): T => x
$iterable
$promise
$callexpression
$apiexpression
new Function($source)
(0, eval)($source)
(() => { $$block return $$e })()
(async () => { $block return $e })()
((function* () { yield $$e; yield $$e })())
[...$iterable].$arraymethod($f)
structuredClone($e)
globalThis[$propkey]
new Error($e, { cause: $e })
new AggregateError([$e, $e], $e)
Array.from({ length: $size }, $f)
await Array.fromAsync($iterable)
Iterator.from($iterable).map($f).toArray()
this
import.meta
`;

const parts = `
simple: $v = $leaf;
simple: $v.$key = $leaf;
simple: console.log($v);
simple: $call;
simple: $v = $leaf;
simple: $api;
block: $s
block: $s $s
block: $s $s $s
type: $plaintype
type: $type[]
type: { a: $type; b?: $type }
type: Record<string, $type>
type: Promise<$type>
type: ($fresh: $type) => $type
type: $type | $type
plaintype: any
plaintype: unknown
plaintype: string
plaintype: number
plaintype: never
v: a
v: b
v: c
v: d
v: e
v: f
params: x
params: x, y = $$e
params: { $key: x = $$e, ...rest } = {}
params: [x, ...rest] = $$iterable
params: ...all
params: x: $type, y?: $type
args: $e
args: $e, $e
args: ...$iterable
f: (x) => $$e
f: (x, y) => { $$block return $$e }
f: function () { return arguments }
f: async (x) => $e
f: function () { $$block return this }
f: function* () { yield $$e }
f: () => { throw $$thrown }
f: $v
f: String
f: Number
f: $class
class: Object
class: Array
class: Map
class: Set
class: Error
class: Promise
class: Date
class: RegExp
class: Uint8Array
class: ArrayBuffer
class: Proxy
class: Function
class: Symbol
class: BigInt
class: URL
class: $v
class: (class { $member })
class: null
proto: Object.prototype
proto: Array.prototype
proto: Function.prototype
proto: Promise.prototype
proto: String.prototype
proto: Number.prototype
proto: Map.prototype
proto: RegExp.prototype
proto: Error.prototype
proto: Date.prototype
proto: (async function* () {}).constructor.prototype
proto: Object.getPrototypeOf(Uint8Array.prototype)
proto: Object.getPrototypeOf([][Symbol.iterator]())
proto: $class.prototype
proto: JSON
proto: Math
proto: Reflect
proto: console
proto: Promise
proto: globalThis
member: $field = $$e;
member: #$own = $$e; get $field() { return this.#$own } set $field(x) { this.#$own = x; $$block }
member: static #$own = $$e; static $field() { return this.#$own }
member: static { $$block }
member: static $field = $$e;
member: $field($$params) { $$block return $$e }
member: async $field() { $block return await $promise }
member: *[Symbol.iterator]() { yield $$e }
member: async *$field() { yield $e }
member: get $field() { $$block return $$e }
member: get $field() { throw $$thrown }
member: [$propkey] = $$e;
member: private readonly $field: $type = $$e;
member: toJSON() { return $$e }
member: has(x: any) { return #$own in x } #$own = $$e;
member: $field() { return super.$field }
property: $key: $e
property: $key: $e
property: [$propkey]: $e
property: get $key() { $$block return $$e }
property: get $key() { throw $$thrown }
property: set $key(x) { $$block }
property: toJSON() { return $$e }
property: toString() { return $$e }
property: [Symbol.toPrimitive]: $f
property: [Symbol.iterator]: function* () { yield $$e }
property: async $key() { $block }
property: then(resolve, reject) { $$block resolve($$e) }
property: "__proto__": $e
property: ...$v
descriptor: value: $e, writable: $bool, enumerable: $bool, configurable: $bool
descriptor: value: $e, configurable: true
descriptor: get: $f, configurable: true
descriptor: get: $f, set: $f, enumerable: true
trap: get: (t, k, r) => $$e
trap: get(t, k, r) { $$block return Reflect.get(t, k, r) }
trap: has: () => $bool
trap: set: () => $bool
trap: ownKeys: () => [$propkey, $propkey]
trap: getOwnPropertyDescriptor: () => ({ $descriptor })
trap: deleteProperty: () => { throw $$thrown }
trap: apply: $$f
trap: construct: () => ({ $property })
trap: getPrototypeOf: () => $proto
trap: defineProperty: () => $bool
trap: isExtensible: () => $bool
target: {}
target: []
target: $f
target: $v
promise: $v
promise: $e
promise: Promise.resolve($e)
promise: Promise.reject($e)
promise: new Promise((resolve, reject) => { $$block resolve($$e) })
promise: new Promise((resolve) => setTimeout(resolve, $delay, $e))
promise: Promise.$combinator([$promise, $promise])
promise: Promise.resolve($e).then($f, $f)
promise: Promise.reject($thrown).catch($f)
promise: Promise.reject($thrown).finally($f)
promise: { then(resolve) { $$block resolve($$e) } }
promise: $callexpression
promise: $callexpression.catch($f)
promise: Promise.withResolvers().promise
promise: (async () => { $block return $e })()
combinator: all
combinator: allSettled
combinator: any
combinator: race
iterable: [$e, $e]
iterable: $string
iterable: $v
iterable: new Set([$e])
iterable: (function* () { yield $$e; $$block })()
iterable: { [Symbol.iterator]: $f }
iterable: { *[Symbol.iterator]() { try { yield $$e } finally { $$block } } }
iterable: { async *[Symbol.asyncIterator]() { yield $e } }
iterable: { length: $number, 0: $e }
iterable: Array($small)
array: [$e, $e, $e]
array: $v
array: Array($size)
array: Array($small).fill($e)
array: new $typed($small)
array: Array.prototype
thrown: $e
thrown: new Error($e)
thrown: new TypeError($string)
thrown: Object.assign(new Error($string), { $property })
thrown: null
thrown: $v
thrown: new Proxy(new Error("p"), { $trap })
thrown: Object.setPrototypeOf(new Error("x"), $e)
bool: true
bool: false
update: $v++
update: --$v
logical: &&
logical: ||
logical: ??
assign: =
assign: +=
assign: ??=
assign: ||=
assign: **=
assign: >>>=
unary: !
unary: -
unary: +
unary: ~
unary: typeof
unary: void
leaf: $number
leaf: $string
leaf: $v
leaf: null
leaf: undefined
leaf: $bool
leaf: []
leaf: {}
leaf: $bigint
leaf: $regexp
leaf: Symbol.iterator
leaf: Symbol.toStringTag
leaf: $class
leaf: globalThis
leaf: (() => $v)
key: a
key: b
key: length
key: name
key: constructor
key: __proto__
key: prototype
key: then
key: toJSON
key: toString
key: valueOf
key: message
key: stack
key: code
key: hint
key: get
key: value
key: next
key: map
key: push
key: echo
key: $fresh
field: a
field: b
field: length
field: name
field: __proto__
field: then
field: toJSON
field: toString
field: valueOf
field: message
field: stack
field: code
field: hint
field: get
field: value
field: next
field: map
field: push
field: echo
field: $fresh
propkey: "$key"
propkey: "$key"
propkey: $string
propkey: $number
propkey: Symbol.iterator
propkey: Symbol.toPrimitive
propkey: Symbol.toStringTag
propkey: Symbol.species
propkey: Symbol.hasInstance
propkey: Symbol.asyncIterator
propkey: Symbol.for("nodejs.util.inspect.custom")
propkey: $e
small: 0
small: 1
small: 3
small: 10
small: 100
size: 0
size: 8
size: 1000
size: 100000
size: 2 ** 20
size: $number
depth: 10
depth: 100
depth: 1000
depth: 100000
doublings: 3
doublings: 12
doublings: 18
doublings: 40
delay: 0
delay: 1
delay: 5
delay: -1
delay: $e
bigint: 0n
bigint: -1n
bigint: 2n ** 64n
bigint: 10n ** 400n
json: "{\\"a\\":[1,2,{\\"__proto__\\":{\\"x\\":1}}]}"
json: "[".repeat($depth) + "]".repeat($depth)
json: $string
json: JSON.stringify($e)
json: '{"a":1,"a":2,"b":1e999,"c":"\\\\ud800"}'
source: "return 1"
source: "$v = 1; $v"
source: $string
source: "$binary"
source: "(".repeat($depth) + ")".repeat($depth)
source: "var " + $string + " = 1"
source: "for (const x of [1, 2]) $v = x; this"
source: \`(\${$f})()\`
source: "await 1"
source: "import('node:fs')"
module: "node:fs"
module: "fs/promises"
module: "node:path"
module: "node:crypto"
module: "util"
module: "events"
module: "buffer"
module: "assert"
module: "os"
module: "url"
module: "./servers/test"
module: "./servers/open/$key"
module: "./skills/$key"
module: "../../../etc/passwd"
module: "bun"
module: $e
module: $string
`;

const words: Record<string, string> = {
  binary: "+ - * / % ** == === != !== < > <= >= & | ^ << >> >>> && || in instanceof",
  typed:
    "Uint8Array Int8Array Uint8ClampedArray Uint16Array Int32Array Uint32Array Float32Array Float64Array BigInt64Array",
  arraymethod:
    "map filter reduce reduceRight forEach some every find findLast findIndex flatMap flat sort toSorted splice toSpliced slice concat join includes indexOf lastIndexOf fill copyWithin with at entries keys values push unshift pop shift reverse toReversed toString toLocaleString",
  stringmethod:
    "replace replaceAll match matchAll search split padStart padEnd repeat slice substring at charCodeAt codePointAt concat localeCompare normalize indexOf lastIndexOf includes startsWith trim toUpperCase toLocaleUpperCase isWellFormed toWellFormed",
  numbermethod: "toFixed toPrecision toExponential toString toLocaleString valueOf",
  objectmethod:
    "keys values entries fromEntries assign create freeze seal preventExtensions getOwnPropertyNames getOwnPropertySymbols getOwnPropertyDescriptors getPrototypeOf setPrototypeOf groupBy is isFrozen hasOwn defineProperties",
  reflectmethod:
    "get set has deleteProperty ownKeys getPrototypeOf setPrototypeOf defineProperty apply construct getOwnPropertyDescriptor preventExtensions",
  datemethod:
    "toISOString toJSON toString toLocaleString toLocaleDateString setFullYear setMonth setTime setUTCHours getTimezoneOffset getDay valueOf toUTCString",
  mathmethod: "max min pow hypot imul fround clz32 atan2 sign trunc random f16round sumPrecise",
  log: "log info debug warn error trace dir table assert count group groupEnd time timeEnd dirxml",
};

/** Used unchanged, whatever they contain. */
const verbatim: Record<string, string[]> = {
  number: ["0", "-0", "1", "-1", "0.1", "7", "255", "NaN", "Infinity", "-Infinity", "2 ** 31", "2 ** 32 - 1"].concat([
    "2 ** 53",
    "2 ** 53 - 1",
    "1e21",
    "1e308",
    "5e-324",
    "0xff",
    "1_000",
    "8.64e15",
  ]),
  string: ['""', '"a"', '"abc"', '"\\u0000"', '"\\ud800"', '"\\udc00x"', '"\\u{1f600}"', '"__proto__"', '"constructor"']
    .concat(['"then"', '"../../etc/passwd"', '"%s %d %o %j %"', '"\\n"', '"2024-02-30T25:00"', '"x".repeat(1e4)'])
    .concat(['"\\u202e\\ufeff"', '"toString"', '"é".repeat(99)', '"</script>"', '"1e1000"', '"[object Object]"']),
  regexp: ["/(a+)+$/", "/(?<x>.)\\k<x>/u", "/[\\s\\S]*?/g", "/(?<=a)b/", "/^(([a-z])+.)+[A-Z]([a-z])+$/", "/./gsuy"]
    .concat(["/(?:)/g", "/\\p{L}+/v", "/(x+x+)+y/", "/(a|aa)+$/i", "/[^]/d", "new RegExp($string, 'g')"])
    .concat(["new RegExp('('.repeat($depth) + ')'.repeat($depth))", "/\\u{10ffff}/u", "/(?=(a*))\\1b/"]),
};

function ruleLines(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

function namedRules(text: string): Record<string, string[]> {
  const rules: Record<string, string[]> = {};
  for (const line of ruleLines(text)) {
    const [, name = "", body = ""] = /^(\w+): (.*)$/.exec(line) ?? [];
    rules[name] ??= [];
    rules[name].push(body);
  }
  return rules;
}

export const rules: Readonly<Record<string, readonly string[]>> = {
  s: ruleLines(statements),
  e: ruleLines(expressions),
  ...namedRules(parts),
  ...namedRules(apiRules),
  ...Object.fromEntries(Object.entries(words).map(([name, text]) => [name, text.split(" ")])),
  ...verbatim,
};
