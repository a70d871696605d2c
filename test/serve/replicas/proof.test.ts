/** The header of a request that one replica passes on to another. */
import { expect, setSystemTime, test } from "bun:test";
import { forwardedOf, forwardHeader, forwardProof } from "../../../src/serve/http/replicas/replicas.ts";

const key = new Uint8Array(32).fill(7);
const about = { to: "replica", address: "10.0.0.9" };

function request(
  url = "http://mcp.example.com/mcp?a=1",
  method = "POST",
  headers: Record<string, string> = {},
): Request {
  return new Request(url, { method, headers: { host: new URL(url).host, ...headers } });
}

/** Gives the request a header that was made for `request()`, and reads it. Returns the status of a refusal. */
function read(received: Request, header = forwardProof(request(), about, key)): unknown {
  received.headers.set(forwardHeader, header);
  try {
    return forwardedOf(received, key);
  } catch (error) {
    return (error as { status: number }).status;
  }
}

test("a header proves which client has sent a request, and for which replica it is", () => {
  expect(forwardedOf(request(), key)).toBe(undefined);
  expect(read(request())).toEqual(about);
});

test("a header counts for one request, and only with the key of the database", () => {
  expect(read(request("http://mcp.example.com/other?a=1"))).toBe(403);
  expect(read(request("http://mcp.example.com/mcp?a=2"))).toBe(403);
  expect(read(request(undefined, "DELETE"))).toBe(403);
  expect(read(request("http://other.example.com/mcp?a=1"))).toBe(403);
  expect(read(request(), forwardProof(request(), about, new Uint8Array(32)))).toBe(403);
  const [, code] = forwardProof(request(), about, key).split(".");
  const [text] = forwardProof(request(), { ...about, address: "10.0.0.1" }, key).split(".");
  for (const forged of [`${text}.${code}`, `${text}.`, `.${code}`, ".", "", "x"])
    expect(read(request(), forged)).toBe(403);
});

test("a header counts for a minute", () => {
  const header = forwardProof(request(), about, key);
  try {
    setSystemTime(Date.now() + 59_000);
    expect(read(request(), header)).toEqual(about);
    setSystemTime(Date.now() + 3_000);
    expect(read(request(), header)).toBe(403);
  } finally {
    setSystemTime();
  }
});
