/** The rules for what the sandbox provides to code: tool calls, files, and the globals of the web and of Node. */

export const apiRules = `
call: await $callexpression
call: $callexpression
call: $v = await $callexpression
call: $callexpression.then($f)
call: try { $v = await $callexpression } catch (error) { $v = error }
call: await Promise.all(Array.from({ length: $small }, (_, i) => test.echo({ i })))
call: for (let i = 0; i < $small; i++) $v = await test.echo({ i, $property })
call: [$e, $e].forEach(async (x) => { await test.$tool({ x }) })
callexpression: test.$tool({ $property, $property })
callexpression: test.$tool({ $property })
callexpression: test.$tool($e)
callexpression: test.$tool()
callexpression: test.$tool.raw($e)
callexpression: test.slow({ ms: $delay, $property })
callexpression: test["with-dash"]({ $property })
callexpression: test.constructor({ $property })
callexpression: servers["my-server"].echo({ $property })
callexpression: servers[$propkey][$propkey]($e)
callexpression: open.$key({ $property })
callexpression: open[$propkey]($e)
callexpression: callTool("test", "$tool", { $property })
callexpression: callTool($e, $e, $e)
callexpression: __mcp_call("test__echo", $e)
callexpression: tools.search($e, $e)
callexpression: tools.describe($e)
callexpression: tools.list($e)
callexpression: test.echo.call($e, $e)
callexpression: Reflect.apply(test.echo, $e, [$e])
callexpression: new Proxy(test.echo, { $trap })({ $property })
tool: echo
tool: echo
tool: text
tool: fail
tool: slow
tool: $key
api: $v = $apiexpression;
api: $v = await $fscall;
api: try { $v = await $fscall } catch (error) { $v = error.code }
api: try { $v = require("node:fs").$fssync($path, $e) } catch (error) { $v = error.message }
api: const $own = new AbortController(); $own.signal.addEventListener("abort", $f); $own.abort($e);
api: const $own = new EventTarget(); $own.addEventListener("a", $f, { once: $bool }); $own.dispatchEvent(new Event("a"));
api: const $own = new (require("events"))(); $own.on("error", $f); $own.emit("error", $e);
api: Math.random = $f;
api: Error.prepareStackTrace = $f; Error.stackTraceLimit = $e;
api: $v = process.$processkey;
api: process.$processmethod($e);
fscall: fs.readFile($path, $e)
fscall: fs.writeFile($path, $e)
fscall: fs.writeFile("./workspace/$key.txt", $e)
fscall: fs.readFile("./workspace/$key.txt", "utf8")
fscall: fs.appendFile("./workspace/$key.txt", $e)
fscall: fs.mkdir($path, { recursive: $bool })
fscall: fs.readdir($path, { recursive: $bool, withFileTypes: $bool })
fscall: fs.rm($path, { recursive: $bool, force: $bool })
fscall: fs.rename($path, $path)
fscall: fs.copyFile($path, $path)
fscall: fs.stat($path)
fscall: fs.symlink($path, $path)
fscall: fs.$key($path)
fssync: readFileSync
fssync: writeFileSync
fssync: existsSync
fssync: mkdirSync
fssync: readdirSync
fssync: statSync
fssync: rmSync
fssync: mkdtempSync
path: "./workspace/$key.txt"
path: "./workspace/$key"
path: "./workspace"
path: "./workspace/../../secret"
path: "/etc/passwd"
path: "./workspace/" + "x/".repeat($small)
path: "./workspace/a\\u0000b"
path: "./registry/x"
path: "workspace/./././$key/../$key"
path: "/proc/self/environ"
path: "./workspace/" + $string
path: $e
path: new URL("file:///etc/passwd")
path: Buffer.from("./workspace/a")
processkey: env
processkey: argv
processkey: platform
processkey: pid
processkey: versions
processkey: stdout
processmethod: exit
processmethod: cwd
processmethod: nextTick
processmethod: on
processmethod: hrtime
processmethod: memoryUsage
apiexpression: Buffer.from($e, $encoding)
apiexpression: Buffer.from($string, $encoding).toString($encoding)
apiexpression: Buffer.alloc($size, $e)
apiexpression: Buffer.concat([$e, $e])
apiexpression: crypto.randomUUID()
apiexpression: crypto.getRandomValues(new $typed($small))
apiexpression: crypto.subtle.digest("SHA-256", $e)
apiexpression: require("node:crypto").createHash($hash).update($e).digest($encoding)
apiexpression: require("node:crypto").randomBytes($size)
apiexpression: new URL($string, "http://a/b?c=d").href
apiexpression: new URL($e)
apiexpression: new URLSearchParams($e)
apiexpression: new TextEncoder().encode($e)
apiexpression: new TextDecoder($encoding, { fatal: $bool }).decode($e)
apiexpression: atob($e)
apiexpression: btoa($e)
apiexpression: new Intl.NumberFormat($locale, { style: $style, currency: "EUR", $property }).format($e)
apiexpression: new Intl.DateTimeFormat($locale, { timeZone: $zone, dateStyle: "full" }).format($e)
apiexpression: new Intl.DateTimeFormat($locale, $e).formatToParts($e)
apiexpression: new Intl.$intl($locale, $e)
apiexpression: Intl.$intl.supportedLocalesOf($e)
apiexpression: new Intl.ListFormat("en", { type: "conjunction" }).format($iterable)
apiexpression: [...new Intl.Segmenter("en", { granularity: "word" }).segment($string)]
apiexpression: ($e).toLocaleString($locale, $e)
apiexpression: new Date($number).toLocaleDateString($locale, { month: "long", $property })
apiexpression: require("util").inspect($e, { depth: $number, $property })
apiexpression: require("util").format($string, $e, $e)
apiexpression: require("util").promisify($f)
apiexpression: require("path").$pathmethod($e, $e)
apiexpression: require("assert").deepStrictEqual($e, $e)
apiexpression: require("os").$key
apiexpression: require("querystring").parse($string)
apiexpression: performance.now()
apiexpression: new DOMException($e, $e)
apiexpression: AbortSignal.timeout($delay)
apiexpression: AbortSignal.any([AbortSignal.abort($e)])
apiexpression: new CustomEvent($e, { detail: $e })
apiexpression: Error.captureStackTrace($v)
apiexpression: fetch($e)
apiexpression: new ToolError({ message: $e, code: $e, hint: $e })
apiexpression: new Worker($e)
apiexpression: new SharedArrayBuffer($size)
encoding: "utf8"
encoding: "hex"
encoding: "base64"
encoding: "base64url"
encoding: "latin1"
encoding: "utf16le"
encoding: $string
hash: "sha256"
hash: "md5"
hash: "sha512"
hash: $e
locale: "en"
locale: "de-DE"
locale: "ar-EG-u-nu-arab"
locale: ["xx", "tlh"]
locale: undefined
locale: $e
style: "currency"
style: "percent"
style: "unit"
style: $e
zone: "Europe/Berlin"
zone: "UTC"
zone: "Mars/Olympus"
zone: $e
intl: Collator
intl: PluralRules
intl: RelativeTimeFormat
intl: DisplayNames
intl: NumberFormat
intl: DateTimeFormat
intl: Locale
pathmethod: join
pathmethod: resolve
pathmethod: relative
pathmethod: basename
pathmethod: normalize
pathmethod: parse
`;
