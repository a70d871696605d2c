/** The tool that fails now and then, and the one that takes long. */
import { expect, test } from "bun:test";
import { openShop } from "../../src/demo/shop.ts";
import { slowAudit } from "../../src/demo/tools/audit.ts";
import { startDemoClient } from "./demo-client.ts";

test("every third rate fails with an error that says to try again, whatever the currencies", async () => {
  await using demo = await startDemoClient();
  const outcomes: boolean[] = [];
  for (const to of ["USD", "GBP", "CHF", "SEK", "PLN", "JPY", "DKK", "NOK", "CZK"]) {
    outcomes.push((await demo.call("get_exchange_rate", { from: "EUR", to })).isError ?? false);
  }
  expect(outcomes).toEqual([false, false, true, false, false, true, false, false, true]);
});

test("rates are cross rates, and a wrong currency does not count as a call", async () => {
  await using demo = await startDemoClient();
  expect(await demo.value<object>("get_exchange_rate", { from: "EUR", to: "USD" })).toEqual({ rate: 1.16 });
  expect(await demo.value<object>("get_exchange_rate", { from: "USD", to: "SEK" })).toEqual({ rate: 9.525862 });
  expect(await demo.failure("get_exchange_rate", { from: "euro", to: "USD" })).toStartWith(
    'from is "euro". It must match {"type":"string","enum":["CHF","CZK","DKK","EUR",',
  );
  expect(await demo.failure("get_exchange_rate", { from: "EUR", to: "EUR" })).toBe(
    "Temporary error: the exchange rate service did not answer. Please try again.",
  );
  expect(await demo.value<object>("get_exchange_rate", { from: "EUR", to: "EUR" })).toEqual({ rate: 1 });
});

test("slow_audit reports its progress every 100 ms and then what it checked", async () => {
  await using demo = await startDemoClient();
  const seen: number[] = [];
  const startedMs = performance.now();
  const result = await demo.client.callTool({ name: "slow_audit", arguments: { seconds: 0.5 } }, undefined, {
    onprogress: ({ progress, total }) => {
      expect(total).toBe(2400);
      seen.push(progress);
    },
  });
  expect(performance.now() - startedMs).toBeGreaterThan(490);
  expect(seen).toEqual([0, 480, 960, 1440, 1920]);
  expect(result["content"]).toEqual([{ type: "text", text: '{"checked":2400}' }]);
});

test("a cancelled slow_audit stops, and the server continues", async () => {
  await using demo = await startDemoClient();
  const cancel = new AbortController();
  const audit = demo.client.callTool({ name: "slow_audit", arguments: { seconds: 30 } }, undefined, {
    signal: cancel.signal,
    onprogress: () => cancel.abort("enough"),
  });
  expect(await audit.catch((error) => String(error))).toContain("enough");
  expect(await demo.value<object>("slow_audit", { seconds: 0 })).toEqual({ checked: 2400 });
  expect(await demo.failure("slow_audit", { seconds: -1 })).toBe(
    'seconds is -1. It must match {"type":"number","minimum":0,"maximum":600,' +
      '"description":"How long it is to take, in seconds."}',
  );
});

test("slow_audit checks nothing after it was cancelled", async () => {
  const cancel = new AbortController();
  const seen: number[] = [];
  const audit = slowAudit.call(
    { seconds: 0.5 },
    {
      shop: openShop(),
      signal: cancel.signal,
      async progress(done) {
        seen.push(done);
        if (seen.length === 2) cancel.abort();
      },
    },
  );
  expect(await audit.catch((error) => error)).toMatchObject({ name: "AbortError" });
  expect(seen).toEqual([0, 480]);
});
