/** Notifications to an agent that reads them more slowly than servers send them. */
import { expect, test } from "bun:test";
import type { Notification } from "@modelcontextprotocol/server";
import { HostLog } from "../../../src/serve/proxy/notices.ts";
import { directCall } from "../../../src/serve/proxy/observed-request.ts";

/** An agent that reads nothing until `read`. */
class SlowAgent {
  readonly sent: Notification[] = [];
  readonly #writing: (() => void)[] = [];

  readonly send = (notification: Notification): Promise<void> => {
    this.sent.push(notification);
    return new Promise((resolve) => this.#writing.push(resolve));
  };

  async read(): Promise<void> {
    for (const resolve of this.#writing.splice(0)) resolve();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("log messages that an agent does not read are left out, and the agent is told how many", async () => {
  const agent = new SlowAgent();
  const log = new HostLog(agent.send);
  for (let each = 0; each < 10_000; each++) log.pass("noisy", { level: "info", data: each });
  expect(agent.sent).toHaveLength(100);
  await agent.read();
  const data = "9900 log messages were left out: they came faster than they could be sent";
  expect(agent.sent.slice(100).map(({ params }) => params)).toEqual([{ level: "warning", logger: "claudikins", data }]);
  log.pass("noisy", { level: "info", data: "later" });
  expect(agent.sent.at(-1)?.params).toMatchObject({ data: "later", logger: "noisy" });
});

test("progress that an agent does not read is left out", async () => {
  const agent = new SlowAgent();
  const sendProgress = (progress: object) => agent.send({ method: "notifications/progress", params: { ...progress } });
  const { onProgress } = directCall({ app: { pool: {} }, identity: {}, params: {}, sendProgress } as never, undefined);
  for (let progress = 0; progress < 10_000; progress++) onProgress?.({ progress });
  expect(agent.sent).toHaveLength(100);
  await agent.read();
  onProgress?.({ progress: 10_000 });
  expect(agent.sent.at(-1)?.params).toMatchObject({ progress: 10_000 });
});
