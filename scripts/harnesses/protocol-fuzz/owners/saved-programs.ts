/** Owners save, replace, call, list, share and run programs of the same names. Each program returns a mark of its owner. */
import type { Random } from "../../random.ts";
import { callOf } from "./honest.ts";
import type { Owner } from "./owner.ts";

/** Every owner uses these names. */
const names = ["report", "nightly", "helper"];

async function saves(owner: Owner, random: Random): Promise<void> {
  const name = random.pick(names);
  await save(owner, random, name, owner.text());
  await call(owner, random, name);
}

async function calls(owner: Owner, random: Random): Promise<void> {
  await call(owner, random, random.pick(names));
}

/** A program with an input, which it sends to the server. */
async function savesWithInput(owner: Owner, random: Random): Promise<void> {
  const [first, second] = [owner.text(), owner.text()];
  await owner.execute(random, { code: `return (await ${callOf(owner, "note", first)}).mark` });
  const saved = await owner.execute(random, {
    code: `return await programs.save({ name: "sends", input: { mark: "${first}" } })`,
  });
  if (!/"saved"/.test(saved)) throw new Error(`it was not saved: ${saved.slice(0, 500)}`);
  const got = await owner.execute(random, { code: `return await programs.sends({ mark: "${second}" })` });
  if (!got.includes(second))
    throw new Error(`${second} was expected from the program, and there came ${got.slice(0, 500)}`);
}

/** Reads everything about programs. Nothing of it may be of others. */
async function reads(owner: Owner, random: Random): Promise<void> {
  const name = random.pick(names);
  const code = random.pick([
    `return await programs.runs({ name: "${name}" })`,
    `return [await tools.list("programs").catch(String), await tools.search("weekly report of an owner")]`,
    `return await tools.describe("programs.${name}").catch(String)`,
    `return await servers.programs["${name}"]()`,
    `return await callTool("programs", "${name}", {})`,
    `return await programs.sends({ mark: "${owner.text()}" })`,
    `const all = []; const walk = async (at) => { for (const each of await fs.readdir(at, { withFileTypes: true })) { const to = at + "/" + each.name; if (each.isDirectory()) await walk(to); else all.push(to, await fs.readFile(to, "utf8").catch(String)); } }; await walk("./workspace").catch(String); await walk("./registry").catch(String); return all.join("\\n").slice(0, 100_000)`,
  ]);
  await owner.execute(random, { code });
}

/**
 * An administrator shares a program, whose text is for everybody. The owner's next one of the same name is not. Others then
 * call their own program by the name, or the shared one.
 */
async function shares(owner: Owner, random: Random): Promise<void> {
  if (random.chance(0.6)) return await calls(owner, random);
  const name = random.pick(names);
  await save(owner, random, name, `a text for everybody, ${random.below(1_000_000)}`);
  const shared = await owner.site.command("programs", "share", name, "--of", owner.id, "--door", owner.door, "--yes");
  if (shared.exitCode !== 0) throw new Error(`it was not shared: ${shared.stderr}`);
  await save(owner, random, name, owner.text());
  await call(owner, random, name);
}

/** An administrator runs, shows or removes what is there. */
async function administers(owner: Owner, random: Random): Promise<void> {
  if (random.chance(0.6)) return await reads(owner, random);
  const name = random.pick(names);
  const verb = random.pick(["run", "show", "remove"]);
  await owner.site.command("programs", verb, name, "--door", owner.door);
}

export const savedProgramSteps = [saves, saves, calls, savesWithInput, reads, reads, shares, administers];

async function save(owner: Owner, random: Random, name: string, mark: string): Promise<void> {
  const number = random.below(1_000_000);
  const code = `/** Makes the weekly report of an owner. */\nconst { mark } = await owned.note({ caller: ${owner.number}, mark: "" }); return [mark, ${number}, "${mark}"]`;
  const ran = await owner.execute(random, { code });
  if (!ran.includes(mark))
    throw new Error(`${mark} was expected before it is saved, and there came ${ran.slice(0, 500)}`);
  const saved = await owner.execute(random, { code: `return await programs.save({ name: "${name}" })` });
  if (!/"saved"/.test(saved)) throw new Error(`it was not saved: ${saved.slice(0, 500)}`);
  owner.saved.set(name, mark);
}

/** An owner's own program is called, also if another one of the name is shared. */
async function call(owner: Owner, random: Random, name: string): Promise<void> {
  const mark = owner.saved.get(name);
  const got = await owner.execute(random, { code: `return await programs.${name}()` });
  if (mark !== undefined && !got.includes(mark)) {
    throw new Error(`${mark} was expected from the program, and there came ${got.slice(0, 500)}`);
  }
}
