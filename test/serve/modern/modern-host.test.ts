/** Questions to a host of MCP 2026-07-28 while claudikins ends. */
import { expect, test } from "bun:test";
import { ModernHost } from "../../../src/serve/modern/modern-host.ts";
import { failureOf } from "../../support/pool.ts";

const params = { message: "Who?", requestedSchema: { type: "object" as const, properties: {} } };

test("a question stays open when claudikins ends, until its call is ended: a refusal would be a result of the call", async () => {
  const [closing, call] = [new AbortController(), new AbortController()];
  const host = new ModernHost({ elicitation: { form: {} } }, closing.signal);
  closing.abort();
  const question = host.elicit(params, { server: "shop", signal: call.signal });
  expect(await Promise.race([question, Bun.sleep(20).then(() => "open")])).toBe("open");
  call.abort();
  expect(await failureOf(question)).toMatchObject({ code: "CANCELLED" });
});

test("a question without an open request is refused while claudikins runs", async () => {
  const host = new ModernHost({ elicitation: { form: {} } }, new AbortController().signal);
  const question = host.elicit(params, { server: "shop", signal: new AbortController().signal });
  await expect(question).rejects.toThrow("no open request");
});
