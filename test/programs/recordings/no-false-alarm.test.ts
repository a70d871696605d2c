/** Programs that use the time, chance and languages are replayed on a machine with another time zone and language. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { cli } from "../../cli/in-memory.ts";
import { claudikinsCommand } from "../../support/command.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { runProgram } from "../../support/process.ts";

setDefaultTimeout(120_000);

const folder = ownFolder();

const programs: Record<string, string> = {
  time: `const now = new Date();
const { total } = await demo.list_orders({ to: now.toISOString().slice(0, 10), limit: 1 });
const later = performance.now() > 0 ? Date.now() - now.getTime() : -1;
return { total, now, later, text: now.toLocaleString(), zone: now.getTimezoneOffset(), day: now.getDay() };`,
  chance: `const id = crypto.randomUUID();
const picked = Array.from({ length: 3 }, () => Math.ceil(Math.random() * 9));
const customers = await Promise.all(picked.map((each) => demo.get_customer({ customer_id: \`cus_000\${each}\` })));
return { id, bytes: [...crypto.getRandomValues(new Uint8Array(4))], names: customers.map(({ name }) => name).sort() };`,
  language: `const { orders } = await demo.list_orders({ limit: 3 });
const cents = orders.map(({ total_cents }) => (total_cents / 100).toLocaleString("de-DE", { style: "currency", currency: "EUR" }));
return { cents, plain: (1234.5).toLocaleString(), sorted: ["ä", "z", "a"].sort((a, b) => a.localeCompare(b)) };`,
  waiting: `const slow = async () => { await sleep(300); return (await demo.list_tickets()).tickets.length; };
const quick = demo.list_products();
const first = await Promise.race([quick.then(() => "call"), sleep(20_000).then(() => "timer")]);
const started = Date.now();
const total = await slow();
return { first, total, waited: Date.now() - started };`,
  failing: `const wrong = await demo.get_order({ order_id: "none" }).catch(({ code, message }) => ({ code, message }));
const raw = await demo.list_orders.raw({ limit: 1 });
return { wrong, kinds: raw.content.map(({ type }) => type) };`,
};

test("50 replays of unchanged programs pass, in another time zone and language", async () => {
  for (const [name, code] of Object.entries(programs)) {
    folder.write(`${name}.ts`, code);
    for (const argv of [
      ["save", `${name}.ts`, "--name", name],
      ["record", name],
    ]) {
      const done = await cli(["programs", ...argv], { cwd: folder.path });
      expect([argv, done.exitCode, done.exitCode === 0 ? "" : done.stderr]).toEqual([argv, 0, ""]);
    }
  }
  await cli(["programs", "export", "--to", "out"], { cwd: folder.path });
  for (const name of Object.keys(programs)) {
    const text = await Bun.file(join(folder.path, "out", `${name}.recording.json`)).text();
    for (let copy = 2; copy <= 10; copy++) folder.write(`out/${name}.${copy}.recording.json`, text);
  }
  // The machine has neither the servers nor the saved programs.
  const home = join(folder.path, "elsewhere");
  folder.write("elsewhere/empty", "");
  const env = { PATH: "/usr/bin:/bin", HOME: home, TZ: "Asia/Kolkata", LANG: "de_DE.UTF-8", LC_ALL: "de_DE.UTF-8" };
  const argv = ["programs", "test", "--all", "--from", join(folder.path, "out"), "--json"];
  const { stdout, exitCode } = await runProgram([...claudikinsCommand, ...argv], { cwd: home, env });
  const { passed, tests } = JSON.parse(stdout);
  expect(tests.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([]);
  expect([passed, exitCode]).toEqual([50, 0]);
});
