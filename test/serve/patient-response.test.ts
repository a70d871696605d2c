/** The response to a request whose result takes long. */
import { expect, test } from "bun:test";
import { patientResponse } from "../../src/serve/http/modern-requests.ts";

const times = { quickMs: 10, aliveMs: 10 };
const alive = ": still here\n\n";

/** A response that comes when `come` is called. */
function late() {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  return { answering: promise, come: resolve, fail: reject };
}

test("a response that comes soon is passed on with its status", async () => {
  const soon = Response.json({ error: 1 }, { status: 400 });
  expect(await patientResponse(Promise.resolve(soon))).toBe(soon);
});

test("a late result is the only event of a stream that shows signs of life meanwhile", async () => {
  const { answering, come } = late();
  const response = await patientResponse(answering, times);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader.read()).value).toBe(alive);
  expect((await reader.read()).value).toBe(alive);
  come(Response.json({ jsonrpc: "2.0", id: 1, result: {} }));
  let rest = "";
  for (let next = await reader.read(); !next.done; next = await reader.read()) rest += next.value;
  expect(rest.replaceAll(alive, "")).toBe('event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
});

test("a late stream is continued", async () => {
  const { answering, come } = late();
  const response = await patientResponse(answering, times);
  come(new Response("data: 1\n\ndata: 2\n\n", { headers: { "content-type": "text/event-stream" } }));
  expect((await response.text()).replaceAll(alive, "")).toBe("data: 1\n\ndata: 2\n\n");
});

test("a late failure ends the stream with an error", async () => {
  const { answering, fail } = late();
  const response = await patientResponse(answering, times);
  fail(new Error("it is gone"));
  expect(response.text()).rejects.toThrow("it is gone");
});
