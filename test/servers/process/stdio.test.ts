/** The stdio transport: lines in and out, and how a process ended. */

import { heapStats } from "bun:jsc";
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { NotWritten } from "../../../src/servers/process/outgoing-lines.ts";
import { StdioTransport } from "../../../src/servers/process/stdio.ts";
import { eventually } from "../../support/eventually.ts";
import { processesLeft } from "../../support/process.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

const ping = { jsonrpc: "2.0", method: "ping" } as const;

let open: StdioTransport[] = [];
afterEach(async () => {
  await Promise.all(open.map((transport) => transport.close()));
  open = [];
});

/** Starts a shell script; returns its messages and its end. */
async function start(script: string, maxMessageBytes?: number) {
  const transport = new StdioTransport({
    command: "sh",
    args: ["-c", script],
    cwd: "/",
    env: { PATH: process.env["PATH"] ?? "" },
    ...(maxMessageBytes === undefined ? {} : { maxMessageBytes }),
  });
  open.push(transport);
  const [closed, first] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const heard: unknown[] = [];
  const hear = (what: unknown) => {
    heard.push(what);
    first.resolve();
  };
  transport.onmessage = hear;
  transport.onerror = (error) => hear(error.message);
  transport.onclose = () => closed.resolve();
  await transport.start();
  return { transport, heard, first: first.promise, closed: closed.promise };
}

describe("the output of a server", () => {
  test("has one message per line, in any chunks; other lines are reported", async () => {
    const { heard, closed } = await start(String.raw`
      printf '{"jsonrpc":"2.0","method":"a"}\n\n  \r\nINFO: x\n{"jsonrpc":"2.0","method":"b"}\r\n{"no":"rpc"}\n{"jsonrpc":"2.0","meth'
      sleep 0.05
      printf 'od":"\303'
      sleep 0.05
      printf '\251"}\n{"jsonrpc":"2.0","method":"never ended"'`);
    await closed;
    expect(heard).toEqual([
      { jsonrpc: "2.0", method: "a" },
      "not a JSON-RPC message: INFO: x",
      { jsonrpc: "2.0", method: "b" },
      'not a JSON-RPC message: {"no":"rpc"}',
      { jsonrpc: "2.0", method: "é" },
      'not a JSON-RPC message: {"jsonrpc":"2.0","method":"never ended"',
    ]);
  });

  test("may have byte order marks, in one chunk or several, before a small message or a large one", async () => {
    const { heard, closed } = await start(String.raw`
      printf '\357\273\277{"jsonrpc":"2.0","method":"a"}\n\357\273'
      sleep 0.05
      printf '\277{"jsonrpc":"2.0","method":"b"}\n\357\273\277{"jsonrpc":"2.0","method":"c","params":{"text":"'
      head -c 200000 /dev/zero | tr '\0' x
      printf '"}}\n'`);
    await closed;
    // The large one is decoded in another thread.
    await eventually(() => heard.length === 3);
    expect(heard).toMatchObject([{ method: "a" }, { method: "b" }, { params: { text: "x".repeat(200_000) } }]);
  });

  test("on stderr is kept for the last five lines", async () => {
    const { transport, closed } = await start("seq 1 3000 >&2; printf '\\n\\nlast\\n\\n' >&2; exit 3");
    expect(transport.ended).toBe("");
    await closed;
    expect(transport.lastLines()).toEqual(["2997", "2998", "2999", "3000", "last"]);
    expect(transport.ended).toBe("exited with code 3");
  });
});

describe("the last words", () => {
  test("are lines of stdout if stderr is empty and no message was sent", async () => {
    const silent = await start("echo 'usage: x'; echo; echo 'error: no port'; exit 2");
    const spoken = await start(`echo 'usage: x'; echo '${JSON.stringify(ping)}'; echo 'data'; exit 2`);
    await Promise.all([silent.closed, spoken.closed]);
    expect([silent.transport.lastLines(), spoken.transport.lastLines()]).toEqual([["usage: x", "error: no port"], []]);
  });

  test("leave out stack traces", async () => {
    const script = "console.error('warming up'); null.x";
    for (const program of ["node", "bun"]) {
      const { transport, closed } = await start(`exec ${program} -e "${script}"`);
      await closed;
      const lines = transport.lastLines();
      expect(lines.join("\n")).toMatch(/^TypeError: .*null/m);
      expect(lines.filter((line) => /^\s+at /.test(line))).toEqual([]);
    }
  });

  test("leave out the news of npm about itself", async () => {
    const news = ["npm notice", "npm notice New minor version of npm available! 11.19.1 -> 11.21.2", "npm notice"];
    const lines = ["npm error code E404", ...news, "npm error A complete log of this run can be found in: /x"];
    const { transport, closed } = await start(`printf '%s\\n' ${lines.map((line) => `'${line}'`).join(" ")} >&2`);
    await closed;
    expect(transport.lastLines()).toEqual([lines[0] ?? "", lines.at(-1) ?? ""]);
  });

  test("are shown without colours and overwritten text, and cut if they are long", async () => {
    const { transport, closed } = await start(
      String.raw`printf '10%%\r100%%\r\n\033[31mred\033[0m\a\n' >&2; head -c 9000 /dev/zero | tr '\0' x >&2`,
    );
    await closed;
    expect(transport.lastLines()).toEqual(["100%", "red", `${"x".repeat(300)}…`]);
  });
});

test("a server that writes without pause does not block others, and is reported at most a hundred times", async () => {
  const { heard, first, transport } = await start("yes");
  await first;
  for (const _ of [1, 2, 3]) await new Promise((resolve) => setTimeout(resolve, 1));
  await transport.close();
  expect(heard).toHaveLength(101);
  expect(heard.at(-1)).toBe("further lines like this are not logged");
});

test("an invalid answer fails its request", async () => {
  const answers = [
    '"result":null',
    '"x":1',
    '"error":{}',
    '"error":null',
    '"result":"x"',
    '"result":[]',
    '"result":{}',
  ];
  const lines = answers.map((answer, id) => `{"jsonrpc":"2.0","id":${id},${answer}}`);
  const text = [...lines, '{"jsonrpc":"2.0","id":null,"result":{}}'].join("\n");
  const { heard, closed } = await start(`cat <<'END'\n${text}\nEND`);
  await closed;
  const error = (why: string) => ({ code: -32_700, message: `its answer is not MCP: ${why}` });
  expect(heard).toEqual([
    ...[0, 1, 2, 3].map((id) => ({ jsonrpc: "2.0", id, error: error("it has no result or error") })),
    ...[4, 5].map((id) => ({ jsonrpc: "2.0", id, error: error("its result is not an object") })),
    { jsonrpc: "2.0", id: 6, result: {} },
    'not a JSON-RPC message: {"jsonrpc":"2.0","id":null,"result":{}}',
  ]);
});

test("an answer that was written by hand is read as it is meant", async () => {
  const results = [
    '{"jsonrpc":"2.0","id":0,"result":{"a":1},"error":null}',
    '{"jsonrpc":"2.0","id":1,"result":{"a":1,"_meta":null}}',
  ];
  const errors = ['"x"', '{"code":"E","message":"x"}', '{"code":5}', '{"code":1,"message":"x","data":[1],"more":2}'];
  const lines = errors.map((error, index) => `{"jsonrpc":"2.0","id":${2 + index},"error":${error}}`);
  const strays = ['{"id":8,"error":"x"}', '{"id":9,"result":{"a":1}}'];
  const { heard, closed } = await start(`cat <<'END'\n${[...results, ...lines, ...strays].join("\n")}\nEND`);
  await closed;
  expect(heard).toEqual([
    ...[0, 1].map((id) => ({ jsonrpc: "2.0", id, result: { a: 1 } })),
    { jsonrpc: "2.0", id: 2, error: { code: -32_603, message: "x" } },
    { jsonrpc: "2.0", id: 3, error: { code: -32_603, message: "x" } },
    { jsonrpc: "2.0", id: 4, error: { code: 5, message: '{"code":5}' } },
    { jsonrpc: "2.0", id: 5, error: expect.objectContaining({ code: 1, message: "x", data: [1] }) },
    ...strays.map((line) => `not a JSON-RPC message: ${line}`),
  ]);
});

test("the last line needs no end", async () => {
  const message = '{"jsonrpc":"2.0","id":1,"result":{}}';
  const answered = await start(`printf '%s' '${message}'`);
  const asked = await start("printf 'Your key: '");
  await Promise.all([answered.closed, asked.closed]);
  expect(answered.heard).toEqual([JSON.parse(message)]);
  expect(asked.transport.lastLines()).toEqual(["Your key:"]);
});

describe("an endless line", () => {
  const most = 1_048_576;

  test("ends the process with this reason", async () => {
    const { transport, heard, closed } = await start(
      String.raw`printf '{"jsonrpc":"2.0","method":"a"}\n{"'; tr '\0' x </dev/zero`,
      most,
    );
    await closed;
    expect(heard).toEqual([{ jsonrpc: "2.0", method: "a" }]);
    expect(transport.ended).toBe("sent more than 1 MB in one message");
  });

  test("is measured per line: many large messages are allowed, and so is one of exactly the maximum", async () => {
    // Three messages of half a megabyte, and other text of exactly the maximum.
    const { transport, heard, closed } = await start(
      `for i in 1 2 3; do printf '{"jsonrpc":"2.0","method":"'; head -c ${most / 2} /dev/zero | tr '\\0' x; printf '"}\\n'; done
      head -c ${most} /dev/zero | tr '\\0' x; printf '\\n{"jsonrpc":"2.0","method":"last"}\\n'`,
      most,
    );
    await closed;
    const large = { jsonrpc: "2.0", method: "x".repeat(most / 2) };
    expect(heard).toEqual([
      ...Array(3).fill(large),
      `not a JSON-RPC message: ${"x".repeat(200)}`,
      { jsonrpc: "2.0", method: "last" },
    ]);
    expect(transport.ended).toBe("exited with code 0");
  });
});

describe("send", () => {
  test("writes one line of JSON", async () => {
    const { transport, heard, first } = await start("cat");
    await transport.send({ ...ping, params: { text: "a\nb\u2028" } });
    await first;
    expect(heard).toEqual([{ ...ping, params: { text: "a\nb\u2028" } }]);
  });

  test("fails after the process that stopped reading has ended, so that its end can be reported", async () => {
    const { transport, first } = await start("exec 0<&-; echo ready; sleep 0.2; echo 'last words' >&2; exit 9");
    await first;
    await expect(transport.send(ping)).rejects.toThrow(NotWritten);
    await expect(transport.send(ping)).rejects.toThrow(NotWritten);
    expect([transport.ended, transport.lastLines()]).toEqual(["exited with code 9", ["last words"]]);
  });

  test("knows for each message whether it was read when the process ends", async () => {
    const { transport } = await start(`exec head -n 2`);
    const large = { ...ping, params: { text: "x".repeat(3_000_000) } };
    const all = await Promise.allSettled([ping, ping, large, ping].map((each) => transport.send(each)));
    const said = (each: PromiseSettledResult<void>) => (each.status === "rejected" ? each.reason.name : "written");
    expect(all.map(said)).toEqual(["written", "written", "NotWritten", "NotWritten"]);
  });

  test("does not call messages unread that were written together with others", async () => {
    // The pipe is full before they are written, and accepts some when the process reads.
    const { transport, first } = await start("echo ready; sleep 0.2; head -c 3100000 >/dev/null");
    await first;
    const sized = (size: number) => ({ ...ping, params: { text: "x".repeat(size) } });
    const sending = [sized(3_000_000), ...Array(12).fill(sized(30_000))].map((each) => transport.send(each));
    const names = (await Promise.allSettled(sending)).map((each) =>
      each.status === "rejected" ? each.reason.name : "written",
    );
    // The last message of the failed write, and all later ones, are certainly unread.
    expect(names.map((name) => name[0]).join("")).toMatch(/^w+E*N+$/);
  });

  test("fails before the start", async () => {
    const transport = new StdioTransport({ command: "true", args: [], cwd: "/", env: {} });
    await expect(transport.send(ping)).rejects.toThrow("not started");
    await transport.close();
  });
});

describe("the end", () => {
  test("is reported although a child keeps the pipes open, and the child is ended", async () => {
    // A unique number, by which the process is found.
    const child = `sleep ${1_000 + process.pid}.${Date.now()}`;
    const { transport, closed } = await start(`${child} & echo 'going' >&2; exit 4`);
    await closed;
    expect(await processesLeft(child)).toEqual([]);
    expect([transport.ended, transport.lastLines()]).toEqual(["exited with code 4", ["going"]]);
  });

  test("by a signal has the name of the signal", async () => {
    const { transport, closed } = await start("kill -9 $$");
    await closed;
    expect(transport.ended).toBe("was ended by SIGKILL");
  });

  test("gives the memory of the process back, even if the transport is kept", async () => {
    const processes = () => heapStats().objectTypeCounts["Subprocess"] ?? 0;
    Bun.gc(true);
    const before = processes();
    const ended = await Promise.all(Array.from({ length: 10 }, () => start("echo ready >&2")));
    await Promise.all(ended.map(({ closed }) => closed));
    await Bun.sleep(0);
    Bun.gc(true);
    // The stack may still refer to one.
    expect(processes() - before).toBeLessThan(5);
    const [{ transport }] = ended as [(typeof ended)[0]];
    expect([transport.pid, transport.lastLines()]).toEqual([expect.any(Number), ["ready"]]);
    await expect(transport.send(ping)).rejects.toThrow(NotWritten);
  });
});
