/** Changed lists of servers start programs: when they are announced, and when they were made while no process was watching. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { silentLog } from "../../../src/base/log.ts";
import { eventually } from "../../support/eventually.ts";
import { fixture } from "../../support/servers.ts";
import { EventPlace, type OpenPlace } from "./place.ts";

setDefaultTimeout(60_000);

const tool = (name: string, description = "") => ({ name, description, inputSchema: { type: "object" } });

function prepared() {
  const place = new EventPlace();
  const write = (...tools: object[]) => place.folder.write("tools.json", JSON.stringify({ tools }));
  const entry = {
    ...fixture("changing", "stdio", write(tool("a"), tool("b"))),
    definitions: "trust",
    deny: ["hidden*"],
  };
  place.folder.configure({ counting: fixture("counting", place.counts), changing: entry });
  return { place, write };
}

const save = (place: EventPlace) =>
  place.save(
    "note",
    "const { list, added, removed, changed } = input.event; return counting.act({ name: JSON.stringify({ list, added, removed, changed }) });",
  );

/** Looks until this number of programs has run. */
const ran = (one: OpenPlace, place: EventPlace, count: number) =>
  eventually(async () => {
    await one.events.look();
    const states = (await one.deliveries()).map(({ state }) => state);
    return place.calls.length >= count && states.every((state) => state === "done");
  });

test("a change of tools that is announced starts the program once, and one that was made meanwhile does, too", async () => {
  const { place, write } = prepared();
  using _ = place;
  await save(place);
  const on = { kind: "list", server: "changing", list: "tools" } as const;
  {
    await using one = await place.open();
    await one.on("note", { on });
    const { Triggers } = await import("../../../src/programs/events/stored-triggers.ts");
    await eventually(async () => {
      await one.events.look();
      return new Triggers(one.app.config.savedPrograms).seenFiles("note");
    });
    // The list that was there is no event.
    expect(await one.deliveries()).toEqual([]);
    write(tool("a", "does more"), tool("c"), tool("hidden-1"));
    await one.app.pool.callTool("changing", "announce", {});
    await ran(one, place, 1);
    expect(place.calls).toEqual([
      `act ${JSON.stringify({ list: "tools", added: ["c"], removed: ["b"], changed: ["a"] })}`,
    ]);
    // An announcement without a change starts nothing, and denied tools are not seen.
    write(tool("a", "does more"), tool("c"), tool("hidden-2"));
    await one.app.pool.callTool("changing", "announce", {});
    await one.app.pool.callTool("changing", "announce", {});
    for (let look = 0; look < 5; look++) {
      await one.events.look();
      await Bun.sleep(20);
    }
    expect(await one.deliveries()).toHaveLength(1);
  }
  write(tool("a"), tool("b"));
  await using two = await place.open();
  await ran(two, place, 2);
  expect(place.calls[1]).toContain('"added":["b"],"removed":["c"],"changed":["a"]');
  // The same change again is another event.
  write(tool("a"), tool("c"));
  await two.app.pool.callTool("changing", "announce", {});
  await ran(two, place, 3);
  write(tool("a"), tool("b"));
  await two.app.pool.callTool("changing", "announce", {});
  await ran(two, place, 4);
  expect(place.calls[3]).toContain('"added":["b"],"removed":["c"]');
});

test("a list of resources starts a program, and a server without the list is named in the log", async () => {
  using place = new EventPlace();
  const shop = { ...fixture("protocol", "stdio", place.folder.path), labels: {} };
  place.folder.configure({ counting: fixture("counting", place.counts), shop });
  await save(place);
  const warned: string[] = [];
  const log = { ...silentLog, warn: (line: string) => void warned.push(line) };
  await using one = await place.open({ log });
  for (const list of ["resources", "prompts"] as const)
    await one.on("note", { on: { kind: "list", server: "shop", list } });
  const { Triggers } = await import("../../../src/programs/events/stored-triggers.ts");
  const triggers = new Triggers(one.app.config.savedPrograms);
  await eventually(async () => {
    await one.events.look();
    return triggers.seenFiles("note") && warned.length > 0;
  });
  expect(warned).toEqual([expect.stringContaining("The trigger note-2 cannot list the prompts of shop: ")]);
  const resources = (await one.app.pool.listResources("shop")).map(({ uri }) => String(uri));
  expect([...triggers.seenFiles("note")!.keys()].filter((key) => key !== "").toSorted()).toEqual(resources.toSorted());
  const noted = triggers.seenFiles("note")!;
  noted.delete(resources[0]!);
  await triggers.noteFiles("note", noted);
  await using two = await place.open();
  await ran(two, place, 1);
  expect(place.calls).toEqual([
    `act ${JSON.stringify({ list: "resources", added: [resources[0]], removed: [], changed: [] })}`,
  ]);
});
