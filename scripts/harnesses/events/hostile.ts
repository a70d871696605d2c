/** Hostile webhooks at one `serve --http`: each kind for some seconds, while a client pings the same server. */
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { rawSession } from "../../../test/support/http-serve.ts";
import { hasProc, residentMb } from "../../bench/measure.ts";
import type { FloodAnswer, FloodOrder } from "./flood.ts";
import { signedHeaders } from "./senders.ts";
import { Site } from "./site.ts";

/** Time of each kind. */
const seconds = 8;

/** Requests a second of each flood, and its connections. */
const perSecond = 10_000;
const connections = 50;

/** Connections that send large bodies, again and again, and the size of each. */
const largeConnections = 8;
const largeBytes = 100_000_000;

/** Time between two pings, and the time in which half of them must be answered. */
const pingEveryMs = 25;
const pingMs = 100;

interface Attack {
  name: string;
  order: Partial<FloodOrder>;
  /** The statuses of all answers. */
  statuses: readonly number[];
}

/** Prints a line for each kind. Returns the exit code. */
export async function hostile(command: readonly string[]): Promise<number> {
  await using site = await Site.open("single", command, undefined);
  const [serve] = site.serving;
  const { port } = serve!;
  const session = await rawSession(`http://127.0.0.1:${port}/mcp`);
  const actsBefore = site.recorder.acts.length;
  const wrong: string[] = [];
  console.log(
    `${cpus().length} cores, load ${loadavg()
      .map((each) => each.toFixed(1))
      .join(" ")}`,
  );
  for (const attack of [{ name: "nothing", order: {}, statuses: [] }, ...attacksAt(site, port)]) {
    const flooding =
      attack.statuses.length > 0
        ? flood({ port, seconds, perSecond, connections, requests: [], ...attack.order })
        : undefined;
    const pings = await pingsOf(session, serve!.pid);
    const answer = await flooding;
    const count = Object.values(answer?.statuses ?? {}).reduce((sum, each) => sum + each, 0);
    const given = Object.entries(answer?.statuses ?? {}).map(([status, number]) => `${number} of ${status}`);
    const sent = answer && answer.sentMb > 0 ? `, ${answer.sentMb} MB were sent` : "";
    console.log(
      `${attack.name}: ${Math.round(count / seconds)} answers a second (${given.join(", ") || "none"})${sent}; ping: ${pings.text}`,
    );
    const others = Object.keys(answer?.statuses ?? {}).filter((status) => !attack.statuses.includes(Number(status)));
    if (others.length > 0) wrong.push(`${attack.name} was answered with ${others.join(", ")}`);
    if (answer && count === 0) wrong.push(`${attack.name} was not answered`);
    if (pings.medianMs > pingMs) wrong.push(`during ${attack.name}, half of the pings took more than ${pingMs} ms`);
  }
  const acts = site.recorder.acts.slice(actsBefore).filter((key) => key !== "replayed");
  if (acts.some((key) => key.startsWith("forged"))) wrong.push("a forged event was run");
  const replayed = site.recorder.counts.get("replayed") ?? 0;
  if (replayed !== 1) wrong.push(`an event that came again and again was run ${replayed} times`);
  wrong.push(...(await site.stop()));
  for (const each of wrong) console.error(each);
  return wrong.length > 0 ? 1 : 0;
}

function attacksAt({ hooks }: Site, port: number): Attack[] {
  const text = (path: string, headers: Record<string, string>, body: string, length = Buffer.byteLength(body)) =>
    [
      `POST ${path} HTTP/1.1`,
      `host: 127.0.0.1:${port}`,
      ...Object.entries({ ...headers, "content-length": String(length) }).map(([name, value]) => `${name}: ${value}`),
      `\r\n${body}`,
    ].join("\r\n");
  const forged = '{"id":"forged","kind":"acts"}';
  const { github, stripe, slack, standard } = Object.fromEntries(hooks) as Record<
    string,
    { path: string; secret: string }
  >;
  const now = Date.now();
  const guessed = signedHeaders("github", "a guess", forged, "", now);
  const old = signedHeaders("stripe", stripe!.secret, forged, "", now - 3_600_000);
  const replayed = '{"id":"replayed","kind":"acts"}';
  const again = signedHeaders("slack", slack!.secret, replayed, "", now);
  const large = signedHeaders("standard", "a guess", "", "1", now);
  // One chunk as long as the body. Its end never comes.
  const chunked = text(standard!.path, { ...large, "transfer-encoding": "chunked" }, "").replace(
    /content-length: 0\r\n/,
    "",
  );
  return [
    { name: "wrong signatures", order: { requests: [text(github!.path, guessed, forged)] }, statuses: [404, 429] },
    { name: "old timestamps", order: { requests: [text(stripe!.path, old, forged)] }, statuses: [404, 429] },
    { name: "replays", order: { requests: [text(slack!.path, again, replayed)] }, statuses: [202, 429] },
    {
      name: "unknown addresses",
      order: {
        requests: Array.from({ length: 100 }, (_, each) => text(`/hooks/${"x".repeat(40)}${each}`, guessed, forged)),
      },
      statuses: [404],
    },
    {
      name: "bodies of 100 MB",
      order: {
        requests: [text(standard!.path, large, "", largeBytes)],
        connections: largeConnections,
        followedByBytes: largeBytes,
      },
      statuses: [413, 429],
    },
    {
      name: "bodies without an end",
      order: {
        requests: [`${chunked}${largeBytes.toString(16)}\r\n`],
        connections: largeConnections,
        followedByBytes: largeBytes,
      },
      // A server that has read enough ends the connection, and may take the rest of the chunk for a broken request.
      statuses: [413, 429, 400],
    },
  ];
}

async function flood(order: FloodOrder): Promise<FloodAnswer> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "flood.ts"), JSON.stringify(order)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(await child.stdout.text()) as FloodAnswer;
}

async function pingsOf(session: Awaited<ReturnType<typeof rawSession>>, pid: number) {
  const times: number[] = [];
  let peakMb = 0;
  for (let [id, end] = [1, performance.now() + seconds * 1_000]; performance.now() < end; id++) {
    const begin = performance.now();
    const response = await session.post({ jsonrpc: "2.0", id, method: "ping" });
    if (!response.ok) throw new Error(`a ping was answered with ${response.status}`);
    await response.text();
    times.push(performance.now() - begin);
    if (hasProc) peakMb = Math.max(peakMb, Math.round(residentMb(pid)));
    await Bun.sleep(pingEveryMs);
  }
  times.sort((one, other) => one - other);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))]!;
  const shown = [at(0.5), at(0.95), at(1)].map((ms) => ms.toFixed(1));
  return {
    medianMs: at(0.5),
    text: `${shown[0]} ms at the median, ${shown[1]} ms at 95%, ${shown[2]} ms at most of ${times.length}; ${peakMb} MB`,
  };
}
