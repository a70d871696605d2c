/** Pages at their limits: with nothing, with very much, and with hostile names. */
import { hourMs } from "../../src/base/units.ts";
import { newId } from "../../src/programs/trace/id.ts";
import { recordsKept, writeRecords } from "../../src/programs/trace/store.ts";
import { Scene, type SceneServer } from "../../test/page/scene.ts";
import { callOf, recordOf } from "../../test/programs/trace/records.ts";
import { inStore } from "../../test/support/stored.ts";

export function emptyScene(): Promise<Scene> {
  return Scene.open({});
}

/** Servers, tools of each, and approvals that wait. */
const [manyServers, toolsOfEach, manyApprovals] = [50, 100, 30];

export async function fullScene(): Promise<Scene> {
  const names = Array.from({ length: manyServers }, (_, place) => `server${place}`);
  const tools = Array.from({ length: toolsOfEach }, (_, place) => ({
    name: `list_orders_${place}`,
    description: "List the orders of a customer, newest first, with filters by state, time and amount.",
  }));
  const scene = await Scene.open(
    Object.fromEntries(
      names.map((name): [string, SceneServer] => [name, { entry: { command: `${name}-mcp` }, tools }]),
    ),
  );
  const now = Date.now();
  const records = Array.from({ length: recordsKept.count }, (_, place) => {
    const at = now - place * (hourMs / 60);
    const [server, tool] = [names[place % manyServers]!, tools[place % toolsOfEach]!.name];
    const by = {
      agent: `agent${place % 5} 1.${place % 9}`,
      session: `${place % 97}`.padStart(16, "0"),
      startedBy: "serve",
    } as const;
    return recordOf({
      id: newId(at),
      at,
      config: scene.config,
      ...by,
      durationMs: place,
      timeline: [callOf({ server, tool })],
    });
  });
  await inStore(scene.env, (store) => writeRecords(store, records));
  for (let call = 0; call < manyApprovals; call++) {
    await scene.ask({
      server: names[call]!,
      tool: tools[call]!.name,
      call,
      args: { orders: Array.from({ length: 200 }, (_, at) => at) },
    });
  }
  return scene;
}

export async function hostileScene(): Promise<Scene> {
  const name = `<b>${"long-name-".repeat(12)}\u202Egnp.exe</b>\u200B`;
  const scene = await Scene.open({
    [name]: { entry: { command: name, description: name }, tools: [{ name, description: name.repeat(5) }] },
  });
  await scene.ask({
    server: name,
    tool: name,
    args: { [name]: name.repeat(50) },
    why: name,
    code: name,
    changed: [name],
  });
  await scene.program({
    ...{ name: "hostile", description: name, calls: [name], code: name, number: 2, changes: [] },
    input: { type: "object", properties: { [name]: { description: name, examples: [name] } } },
    from: { url: name, commit: name, path: name },
  });
  await scene.schedule({
    ...{ id: "hostile", cron: name, zone: name, input: { [name]: name } },
    lastRun: { due: 1, startedAt: 1, missed: 1, end: { at: 1, ok: false, message: name } },
  });
  await scene.record({
    ...{ hasContents: true, code: { chars: name.length, lines: 1, text: name }, comment: name },
    ...{ agent: name, folder: `/${name}`, timeline: [callOf({ server: name, tool: name })] },
  });
  return scene;
}
