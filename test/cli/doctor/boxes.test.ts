/** doctor: sandboxes of servers that root starts. */
import { expect, test } from "bun:test";
import { fixture } from "../../support/servers.ts";
import { patient } from "./patient.ts";

const { doctor, configure } = patient();
const isRoot = process.getuid?.() === 0;
const odd = fixture("odd");

test.skipIf(!isRoot)("root is a warning if a server has a sandbox", async () => {
  configure({ odd: { ...odd, sandbox: true }, free: odd, second: odd }, { sandbox: { network: true } });
  expect((await doctor()).of("sandbox.root")).toMatchObject({
    state: "warning",
    message: "claudikins runs as root, which weakens the sandboxes of servers: odd, free, second",
    repair: "Run claudikins as another user. This is true of containers, too.",
    details: [
      expect.stringMatching(/^files: /),
      expect.stringMatching(/^devices: /),
      expect.stringMatching(/^sockets: /),
    ],
  });
});

test("without a sandbox, or as another user, there is no such warning", async () => {
  configure({ odd, free: { ...odd, sandbox: false } });
  expect((await doctor()).of("sandbox.root")).toBeUndefined();
  configure({ odd: { ...odd, sandbox: true } });
  if (!isRoot) expect((await doctor()).of("sandbox.root")).toBeUndefined();
});

test("a server whose sandbox opens a closed place is a problem that names the place", async () => {
  configure({ odd: { ...odd, sandbox: { read: ["/proc"] } } });
  const { of, exitCode } = await doctor([]);
  expect(exitCode).not.toBe(0);
  expect(of("server.odd")?.message).toMatch(/its sandbox cannot be made/);
});
