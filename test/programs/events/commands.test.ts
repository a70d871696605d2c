/** `claudikins programs on`, `off`, `deliveries` and `retry` refuse what is wrong, and say what to do. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { cli } from "../../cli/in-memory.ts";
import { EventPlace } from "./place.ts";

setDefaultTimeout(60_000);

let place: EventPlace;
beforeAll(async () => {
  place = new EventPlace();
  await place.save("take", "return input.event;");
});
afterAll(() => place[Symbol.dispose]());

const run = (...argv: string[]) => cli(["programs", ...argv], { cwd: place.folder.path });

test.each([
  [[], "Nothing starts the program"],
  [["--webhook", "github", "--file", "*.csv"], "A trigger has one source"],
  [["--file", "*.csv", "--secret", "A"], "--secret and --answer are for --webhook"],
  [["--file", "*.csv", "--if", "done"], "--if is for --after"],
  [["--webhook", "gitlab"], "--webhook takes github, stripe, slack or standard"],
  [["--webhook", "stripe"], "The secret of stripe is missing"],
  [["--webhook", "github", "--secret", "sk live"], "--secret takes the name of a secret"],
  [["--webhook", "github", "--secret", "MISSING"], "The secret MISSING is not set"],
  [["--file", "*.csv", "--map", "path"], "--map path has no name and expression"],
  [["--file", "*.csv", "--map", "path=event.path"], "take has no input path"],
  [["--file", "*.csv", "--map", "name=event."], "The input name=event."],
  [["--file", "*.csv", "--filter", "other == 1"], "The filter other == 1"],
  [["--file", "*.csv", "--limit", "0"], "--limit takes"],
  [["--file", "*.csv", "--as", "A B"], "cannot be the name of a trigger"],
  [["--resource", "counting"], "names no server"],
  [["--resource", "counting=no uri"], "is not the URI of a resource"],
  [["--list", "counting=things"], '--list takes tools, resources, prompts of a server; got "counting=things"'],
  [["--list", "tools"], "names no server"],
  [["--after", "take"], '"take" would start itself'],
])("programs on with %j is refused", async (flags, message) => {
  const { exitCode, stderr } = await run("on", "take", ...flags);
  expect([exitCode === 0, stderr]).toEqual([false, expect.stringContaining(message)]);
  expect(await run("off", "take")).toMatchObject({ stderr: expect.stringContaining('No trigger is called "take"') });
});

test("the path of a folder stands for the files in it", async () => {
  place.folder.write("inbox/first.csv", "1");
  const about = async (path: string) => {
    const { stdout } = await run("on", "take", "--file", path, "--json");
    await run("off", "take");
    return JSON.parse(stdout).trigger.about;
  };
  expect(await about(`${place.folder.path}/inbox`)).toBe(`file ${place.folder.path}/inbox/*`);
  expect(await about(`${place.folder.path}/later/`)).toBe(`file ${place.folder.path}/later/*`);
});

test("a path and a glob become a folder and a pattern", async () => {
  const { stdout } = await run("on", "take", "--file", `${place.folder.path}/in/*/b.csv`, "--json");
  expect(JSON.parse(stdout).trigger.about).toBe(`file ${place.folder.path}/in/*/b.csv`);
  const again = await run("on", "take", "--file", "notes.md", "--limit", "5", "--json");
  expect(JSON.parse(again.stdout).trigger).toMatchObject({
    id: "take-2",
    about: expect.stringMatching(/\/workspace\/notes\.md$/),
    perMinute: 5,
  });
  expect((await run("list")).stdout).toContain("in/*/b.csv");
  expect(JSON.parse((await run("off", "take", "take-2", "--json")).stdout)).toEqual({
    removed: [
      { id: "take", deliveries: 0 },
      { id: "take-2", deliveries: 0 },
    ],
  });
});

test("a delivery that is not known, and one that is not dead, cannot begin again", async () => {
  expect((await run("retry", "nothing")).stderr).toContain('There is no delivery "nothing"');
  await using one = await place.open();
  const { id } = await one.offer(await one.webhook("take"), { name: "1", content: {} });
  expect((await run("retry", id)).stderr).toContain(`The delivery ${id} is waiting. Only a dead one can begin again`);
  expect((await run("deliveries", "take")).stdout).toContain("waiting");
});
