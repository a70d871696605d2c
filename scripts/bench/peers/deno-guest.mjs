/**
 * Runs under Deno without permissions: executes one program, which is the first line of stdin together with the names
 * of the servers. Tool calls are lines of stdout, and their answers are lines of stdin.
 */
const lines = readLines(Deno.stdin.readable);
const waiting = new Map();
let last = 0;

async function* readLines(stream) {
  const decoder = new TextDecoder();
  let pending = [];
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      pending.push(decoder.decode(chunk.subarray(start, end), { stream: true }));
      yield pending.join("");
      pending = [];
      start = end + 1;
    }
    if (start < chunk.length) pending.push(decoder.decode(chunk.subarray(start), { stream: true }));
  }
}

function namespaceOf(server) {
  const call = (tool, args) => {
    const { promise, resolve, reject } = Promise.withResolvers();
    waiting.set(++last, { resolve, reject });
    console.log(JSON.stringify({ call: last, server, tool, args }));
    return promise;
  };
  return new Proxy({}, { get: (_, tool) => (args) => call(tool, args) });
}

async function settleAll() {
  for await (const line of lines) {
    const { settle, value, error } = JSON.parse(line);
    const { resolve, reject } = waiting.get(settle);
    waiting.delete(settle);
    if (error === undefined) resolve(value);
    else reject(new Error(error));
  }
}

const { value: first } = await lines.next();
const { code, servers } = JSON.parse(first);
void settleAll();
const AsyncFunction = (async () => {}).constructor;
try {
  const value = await new AsyncFunction(...servers, code)(...servers.map(namespaceOf));
  console.log(JSON.stringify({ done: value ?? null }));
} catch (error) {
  console.log(JSON.stringify({ failed: String(error) }));
}
Deno.exit();
