/** A workspace in the database of several replicas. Each replica has a folder of its own. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync } from "node:fs";
import { dirname, join } from "node:path";
import { megabyte } from "../../../src/base/units.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../../support/postgres.ts";
import { config, person, workspaceReplicas } from "./replicas.ts";

setDefaultTimeout(60_000);

describe.skipIf(postgresNote !== "")(`a shared workspace${postgresNote}`, () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await postgresFixture();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const replicas = () => workspaceReplicas(server);

  test("has files and folders of one replica at the others, and what is removed is removed there", async () => {
    await using team = await replicas();
    const [one, other] = [team.start("one"), team.start("other")];
    one.write("notes.txt", "first");
    one.write("deep/er/empty.txt", "");
    mkdirSync(one.at("folder"));
    expect(await one.workspace.keep()).toEqual([]);
    await other.workspace.bring();
    const all = { "notes.txt": "first", deep: null, "deep/er": null, "deep/er/empty.txt": "", folder: null };
    expect(other.files()).toEqual(all);
    other.remove("deep");
    other.write("notes.txt", "second, and longer");
    expect(await other.workspace.keep()).toEqual([]);
    await one.workspace.bring();
    expect(one.files()).toEqual({ "notes.txt": "second, and longer", folder: null });
    // A file takes the place of a folder, and a folder that of a file.
    one.remove("folder");
    one.remove("notes.txt");
    one.write("folder", "a file");
    one.write("notes.txt/now", "in a folder");
    expect(await one.workspace.keep()).toEqual([]);
    await other.workspace.bring();
    expect(other.files()).toEqual({ folder: "a file", "notes.txt": null, "notes.txt/now": "in a folder" });
    expect(team.warnings).toEqual([]);
  });

  test("transfers nothing if nothing has changed, and each content once", async () => {
    await using team = await replicas();
    const [one, other] = [team.start("one"), team.start("other")];
    one.write("notes.txt", "text");
    await one.workspace.keep();
    await other.workspace.bring();
    const state = () =>
      server.run(team.url, "SELECT workspaces.version, content FROM claudikins.workspaces, claudikins.files");
    const before = await state();
    const { mtimeMs, ino } = lstatSync(other.at("notes.txt"));
    for (const each of [one, other, team.start("one"), team.start("other")]) {
      await each.workspace.bring();
      expect(await each.workspace.keep()).toEqual([]);
    }
    // The same content, written again.
    other.write("notes.txt", "text");
    await other.workspace.keep();
    expect(await state()).toEqual(before);
    expect(lstatSync(other.at("notes.txt")).ino).toBe(ino);
    expect(Math.abs(lstatSync(one.at("notes.txt")).mtimeMs - mtimeMs)).toBeLessThanOrEqual(1);
    expect(await server.run(team.url, "SELECT count(*)::int AS parts FROM claudikins.file_parts")).toEqual([
      { parts: 1 },
    ]);
  });

  test("keeps both of two changes of one file: the first has the name, and the second is told its own", async () => {
    await using team = await replicas();
    const [one, other] = [team.start("one"), team.start("other")];
    one.write("shared.txt", "before");
    await one.workspace.keep();
    await one.workspace.during(async () => {
      one.write("shared.txt", "of one");
      await other.workspace.during(async () => {
        other.write("shared.txt", "of the other");
        other.write("other.txt", "only there");
        expect(await other.workspace.keep()).toEqual([]);
      });
      await one.workspace.bring();
      expect(one.files()).toEqual({ "shared.txt": "of one", "other.txt": "only there" });
      expect(await one.workspace.keep()).toEqual([]);
    });
    await other.workspace.bring();
    const [told, ...more] = one.workspace.takeConflicts();
    const [, aside = ""] =
      /^\.\/workspace\/shared\.txt was changed by .+ is in \.\/workspace\/(shared\.conflict-\w{8}\.txt)$/.exec(told!)!;
    expect([more, one.workspace.takeConflicts(), other.workspace.takeConflicts()]).toEqual([[], [], []]);
    for (const each of [one, other])
      expect(each.files()).toEqual({ "shared.txt": "of the other", [aside]: "of one", "other.txt": "only there" });
    // From here on, there is nothing between them.
    one.write("shared.txt", "again of one");
    await one.workspace.keep();
    await other.workspace.bring();
    expect([one.workspace.takeConflicts(), other.files()["shared.txt"]]).toEqual([[], "again of one"]);
  });

  test("keeps a file that one program has changed and another has removed, and takes the same change of both as one", async () => {
    await using team = await replicas();
    const [one, other] = [team.start("one"), team.start("other")];
    for (const name of ["kept.txt", "same.txt", "gone.txt"]) one.write(name, "before");
    await one.workspace.keep();
    await one.workspace.during(async () => {
      await other.workspace.during(async () => {
        other.write("kept.txt", "changed");
        other.write("same.txt", "changed");
        other.write("new.txt", "of the other");
        other.remove("gone.txt");
        await other.workspace.keep();
      });
      one.remove("kept.txt");
      one.write("same.txt", "changed");
      one.write("gone.txt", "changed here");
      one.write("new.txt", "of one");
      expect(await one.workspace.keep()).toEqual([]);
    });
    const told = one.workspace.takeConflicts().sort();
    expect(told[0]).toBe("./workspace/kept.txt was changed by another program at the same time: it was not removed");
    const [, aside = ""] = /workspace\/(new\.conflict-\w{8}\.txt)$/.exec(told[1]!)!;
    expect(told).toHaveLength(2);
    await other.workspace.bring();
    const both = { "gone.txt": "changed here", "kept.txt": "changed", "same.txt": "changed" };
    for (const each of [one, other])
      expect(each.files()).toEqual({ ...both, "new.txt": "of the other", [aside]: "of one" });
  });

  test("finds nothing between replicas that mount one folder", async () => {
    await using team = await replicas();
    const [one, other] = [team.start("one"), team.start("one")];
    const isOver = Promise.withResolvers<void>();
    // Programs that run all the time.
    const running = [one, other].map((each) => each.workspace.during(() => isOver.promise));
    for (let round = 0; round < 6; round++) {
      const each = round % 2 === 0 ? one : other;
      await each.workspace.during(async () => {
        each.write("shared.txt", `round ${round}`);
        await each.workspace.keep();
        each.write("shared.txt", `again in round ${round}`);
        await each.workspace.keep();
      });
    }
    isOver.resolve();
    await Promise.all(running);
    expect([...one.workspace.takeConflicts(), ...other.workspace.takeConflicts()]).toEqual([]);
    expect(one.files()).toEqual({ "shared.txt": "again in round 5" });
  });

  test("ends when two replicas change one file again and again, and loses nothing of them", async () => {
    await using team = await replicas();
    const [one, other] = [team.start("one"), team.start("other")];
    const rounds = 8;
    const work = async (replica: typeof one, name: string) => {
      for (let round = 0; round < rounds; round++)
        await replica.workspace.during(async () => {
          replica.write("shared.txt", `${name} ${round}`);
          await replica.workspace.keep();
        });
    };
    await Promise.all([work(one, "one"), work(other, "other")]);
    for (const each of [one, other]) await each.workspace.bring();
    expect(one.files()).toEqual(other.files());
    const told = [...one.workspace.takeConflicts(), ...other.workspace.takeConflicts()];
    expect(Object.keys(one.files())).toHaveLength(1 + told.length);
  });

  test("is never older after a start: a replica that was away takes what others have stored, and clocks may differ", async () => {
    await using team = await replicas();
    const [one, other] = [team.start("one"), team.start("other")];
    const hour = 3_600_000;
    // The clock of this replica is an hour ahead of that of the other one.
    one.write("notes.txt", "old", Date.now() + hour);
    one.write("gone.txt", "old", Date.now() + hour);
    one.write("own.txt", "old");
    await one.workspace.keep();
    await other.workspace.bring();
    other.write("notes.txt", "new");
    other.remove("gone.txt");
    await other.workspace.keep();
    // Killed before it could store this.
    one.write("own.txt", "changed before the end", Date.now() + 2 * hour);
    one.write("more.txt", "made before the end");
    const again = team.start("one");
    await again.workspace.bring();
    const files = { "notes.txt": "new", "own.txt": "changed before the end", "more.txt": "made before the end" };
    expect(again.files()).toEqual(files);
    await again.workspace.keep();
    await other.workspace.bring();
    expect(other.files()).toEqual(files);
  });

  test("is not emptied by a folder that is gone", async () => {
    await using team = await replicas();
    const one = team.start("one");
    one.write("notes.txt", "text");
    await one.workspace.keep();
    rmSync(one.path, { recursive: true });
    expect(await one.workspace.keep()).toEqual([]);
    expect(one.files()).toEqual({ "notes.txt": "text" });
  });

  test("has large files, and nobody sees a part of one", async () => {
    await using team = await replicas();
    const [one, other] = [team.start("one"), team.start("other")];
    const large = (letter: string) => Buffer.alloc(5 * megabyte + 3, letter);
    one.write("large.bin", large("a"));
    await one.workspace.keep();
    await other.workspace.bring();
    expect(readFileSync(other.at("large.bin")).equals(large("a"))).toBe(true);
    // Both write all the time, and a third one reads.
    const third = team.start("third");
    const writing = [one, other].map(async (each, index) => {
      for (let round = 0; round < 6; round++) {
        await each.workspace.during(async () => {
          each.write("large.bin", large("bcdefghijklm"[2 * round + index]!));
          expect(await each.workspace.keep()).toEqual([]);
        });
      }
    });
    let isOver = false;
    const all = Promise.all(writing).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await third.workspace.bring();
      const bytes = readFileSync(third.at("large.bin"));
      expect(bytes.equals(Buffer.alloc(5 * megabyte + 3, bytes[0]))).toBe(true);
    }
    await all;
    for (const each of [one, other, third]) await each.workspace.bring();
    expect(readFileSync(one.at("large.bin")).equals(readFileSync(other.at("large.bin")))).toBe(true);
    expect(readFileSync(third.at("large.bin")).equals(readFileSync(other.at("large.bin")))).toBe(true);
    const count = Object.keys(one.files()).length;
    const isStored = "content IN (SELECT content FROM claudikins.files)";
    const statement = `SELECT count(*)::int AS parts FROM claudikins.file_parts WHERE ${isStored}`;
    expect(await server.run(team.url, statement)).toEqual([{ parts: 6 * count }]);
  });

  test("has limits, beyond which files stay at one replica", async () => {
    await using team = await replicas();
    const [one, other] = [team.start("one"), team.start("other")];
    one.write("small.txt", "small");
    one.write("large.bin", "");
    truncateSync(one.at("large.bin"), 50 * megabyte + 1);
    one.write("aux.txt", "a device of Windows");
    symlinkSync("/etc/passwd", one.at("link"));
    expect((await one.workspace.keep()).sort()).toEqual([
      "./workspace/aux.txt is on this replica alone: Windows has a device or a drive with this name",
      "./workspace/large.bin is on this replica alone: files have at most 50 MB",
    ]);
    // Told once.
    expect(await one.workspace.keep()).toEqual([]);
    await other.workspace.bring();
    expect(other.files()).toEqual({ "small.txt": "small" });
    for (let file = 0; file < 11; file++) {
      one.write(`part-${file}.bin`, "");
      truncateSync(one.at(`part-${file}.bin`), 50 * megabyte);
    }
    const full = "Replicas share a workspace with at most 500 MB and 10000 files and folders";
    const problem = `what was changed in ./workspace is on this replica alone: ${full}`;
    expect(await one.workspace.keep()).toEqual([problem]);
    expect(readFileSync(one.at("small.txt"), "utf8")).toBe("small");
    const stored = await server.run(team.url, "SELECT path FROM claudikins.files ORDER BY path");
    expect(stored).toEqual([{ path: "small.txt" }]);
  });

  test("does not grow beyond its limit when several replicas fill it", async () => {
    await using team = await replicas();
    const { store } = team.start("one");
    const place = { id: "a", config, person: undefined };
    const row = (path: string, size: number) =>
      ({ path, kind: "file", size, sha256: "00", content: null, base: null, changedAt: 1 }) as const;
    await store.files.commit(place, [row("a", 6)], { entries: 2, bytes: 10 });
    const refused = { code: "FILE_NOT_WRITABLE" };
    await expect(store.files.commit(place, [row("b", 6)], { entries: 2, bytes: 10 })).rejects.toMatchObject(refused);
    await expect(
      store.files.commit(place, [row("b", 1), row("c", 1)], { entries: 2, bytes: 10 }),
    ).rejects.toMatchObject(refused);
    expect(await store.files.changes("a", 0)).toMatchObject({ version: 1, rows: [{ path: "a" }] });
  });

  test("takes no path from the database that leads out of the folder", async () => {
    await using team = await replicas();
    const [one, other] = [team.start("one"), team.start("other")];
    one.write("good.txt", "text");
    await one.workspace.keep();
    mkdirSync(other.at("."), { recursive: true });
    const outside = join(other.path, "..", "outside");
    mkdirSync(outside);
    symlinkSync(outside, other.at("link"));
    const paths = [
      ...[
        "../out.txt",
        "/out.txt",
        "a/../../out.txt",
        "./out.txt",
        "a//out.txt",
        "",
        ".",
        "..",
        "a\\out.txt",
        "out.txt/",
      ],
      ...["C:/out.txt", "c:out.txt", "nul", "a/con.txt", "out.txt ", "out.", "out\u202e.txt", "link/out.txt", "link"],
      `.claudikins-${crypto.randomUUID()}.tmp`,
      `${"long/".repeat(250)}out.txt`,
    ];
    for (const path of paths) {
      const literal = `'${path}'`;
      await server.run(
        team.url,
        `INSERT INTO claudikins.files SELECT workspace, ${literal}, 2, kind, size, sha256, content, changed_at
         FROM claudikins.files WHERE path = 'good.txt'`,
      );
    }
    await server.run(team.url, "UPDATE claudikins.workspaces SET version = 2");
    await other.workspace.bring();
    expect(other.files()).toEqual({ "good.txt": "text", link: null });
    expect(readdirSync(outside)).toEqual([]);
    expect(readdirSync(join(outside, "..")).sort()).toEqual(["outside", "workspace"]);
    expect(team.warnings).toHaveLength(paths.length);
    // Nothing was removed either.
    await server.run(team.url, "UPDATE claudikins.files SET kind = 'removed', version = 3 WHERE path <> 'good.txt'");
    await server.run(team.url, "UPDATE claudikins.workspaces SET version = 3");
    await other.workspace.bring();
    expect(lstatSync(other.at("link")).isSymbolicLink()).toBe(true);
    expect(readdirSync(outside)).toEqual([]);
    expect(readdirSync(join(outside, "..")).sort()).toEqual(["outside", "workspace"]);
  });

  test("does nothing through a link in the place of the folder, and says so without paths of the machine", async () => {
    await using team = await replicas();
    const [one, other] = [team.start("one"), team.start("other")];
    one.write("notes.txt", "text");
    await one.workspace.keep();
    const elsewhere = join(one.path, "..", "elsewhere");
    mkdirSync(elsewhere);
    mkdirSync(dirname(other.path));
    symlinkSync(elsewhere, other.path);
    const error = await other.workspace.bring().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "FILE_NOT_WRITABLE",
      message: expect.stringContaining("./workspace cannot be shared: ./workspace is a symbolic link"),
    });
    const [problem = ""] = await other.workspace.keep();
    expect(problem).toContain("is a symbolic link");
    expect(problem).not.toContain(dirname(elsewhere));
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(await server.run(team.url, "SELECT kind FROM claudikins.files")).toEqual([{ kind: "file" }]);
  });

  test("leaves a file as it is if its content in the database is not whole", async () => {
    await using team = await replicas();
    const [one, other] = [team.start("one"), team.start("other")];
    one.write("notes.txt", "text");
    await one.workspace.keep();
    await other.workspace.bring();
    one.write("notes.txt", "text of the second version");
    await one.workspace.keep();
    await server.run(team.url, "UPDATE claudikins.file_parts SET bytes = 'half of it'");
    await other.workspace.bring();
    expect(other.files()).toEqual({ "notes.txt": "text" });
    expect(team.warnings).toEqual(["The content of ./workspace/notes.txt is not stored any more"]);
  });

  test("is cleared for all replicas with its person, and does not come back from a replica that was away", async () => {
    await using team = await replicas();
    const [one, other] = [team.start("one"), team.start("other")];
    one.write("folder/notes.txt", "private");
    await one.workspace.keep();
    await other.workspace.bring();
    await Bun.sleep(5);
    expect(await one.store.files.clear({ config, person: person.id }, Date.now())).toBe(1);
    expect(await one.store.files.cleared(config)).toMatchObject([{ person: person.id }]);
    const count =
      "SELECT (SELECT count(*) FROM claudikins.files)::int + (SELECT count(*) FROM claudikins.file_parts)::int AS rows";
    expect(await server.run(team.url, count)).toEqual([{ rows: 0 }]);
    const again = team.start("one");
    for (const each of [again, other]) {
      each.write("new.txt", "of somebody new", Date.now() + 1_000);
      await each.workspace.bring();
      expect(Object.values(each.files())).not.toContain("private");
      expect(await each.workspace.keep()).toEqual([]);
    }
    expect(await server.run(team.url, "SELECT path FROM claudikins.files")).toEqual([{ path: "new.txt" }]);
  });

  test("is tidied: removed files and unfinished contents do not stay", async () => {
    await using team = await replicas();
    const one = team.start("one");
    one.write("notes.txt", "text");
    one.write("gone.txt", "text");
    await one.workspace.keep();
    one.remove("gone.txt");
    await one.workspace.keep();
    await one.store.files.addParts([{ content: "unfinished", part: 0, bytes: Buffer.from("x") }]);
    await one.store.files.tidy(Date.now());
    const parts = async () => (await server.run(team.url, "SELECT content FROM claudikins.file_parts")).length;
    expect(await parts()).toBe(2);
    await server.run(team.url, "UPDATE claudikins.file_parts SET added_at = now() - interval '2 hours'");
    await one.store.files.tidy(Date.now() + 31 * 86_400_000);
    expect(await parts()).toBe(1);
    expect(await server.run(team.url, "SELECT path FROM claudikins.files")).toEqual([{ path: "notes.txt" }]);
  });
});
