/** doctor: the registry, its files, and the runtimes that run them. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../../src/base/version.ts";
import { stripsTypes } from "../../../src/cli/doctor/registry.ts";
import { fixture } from "../../support/servers.ts";
import { patient } from "./patient.ts";

const home = patient();
const { at, run, doctor, configure, program } = home;

describe("the registry", () => {
  const index = () => at(".claudikins/registry/index.json");

  test("is reported before gen, after gen, and after a change of the config", async () => {
    configure({ odd: fixture("odd", home.folder.path), other: fixture("echo", home.folder.path) });
    expect((await doctor()).of("registry.index")).toEqual({
      state: "ok",
      message: "No tools are known yet: the first search fetches them from the servers",
    });
    await run(["gen"]);
    const after = await doctor();
    expect(after.of("registry.index")).toMatchObject({
      state: "ok",
      message: expect.stringMatching(/^\d+ tools of 2 servers: FOLDER\/.claudikins\/registry$/),
    });
    expect(after.findings.filter(({ area, state }) => area === "registry" && state !== "ok")).toEqual([]);

    configure({ odd: fixture("odd", home.folder.path, "another"), "new one": fixture("echo", home.folder.path) });
    const { of, exitCode } = await doctor();
    expect(exitCode).toBe(0);
    expect(of("registry.missing")).toEqual({
      state: "warning",
      message: "The registry does not have the tools of new one",
      repair: "claudikins gen --server 'new one'",
    });
    expect(of("registry.outdated")).toEqual({
      state: "warning",
      message: "The registry is out of date, because the config entry or the version has changed: odd",
      repair: "claudikins gen --server odd",
    });
    expect(of("registry.gone")).toEqual({
      state: "warning",
      message: "The registry has servers that are no longer in the config: other",
      repair: "claudikins gen",
    });
  });

  test("is reported if it is damaged", async () => {
    configure({ odd: fixture("odd", home.folder.path) });
    home.folder.write(".claudikins/registry/index.json", "{");
    const { of, exitCode } = await doctor();
    expect([exitCode, of("registry.index")]).toEqual([
      2,
      {
        state: "problem",
        message: "FOLDER/.claudikins/registry/index.json is damaged or from another version",
        repair: "claudikins gen",
        code: "REGISTRY_INVALID",
      },
    ]);
    expect(index()).toBe(at(".claudikins/registry/index.json"));
  });

  test("is reported if files are outdated, missing, or start a missing program", async () => {
    configure({ odd: fixture("odd", home.folder.path) });
    await run(["gen"]);
    const file = Bun.file(at(".claudikins/registry/other/odd/client.ts"));
    await Bun.write(file, `${await file.text()}// older\n`);
    expect((await doctor()).of("registry.files")).toEqual({
      state: "warning",
      message: "Generated files differ from what this version writes: other/odd/client.ts",
      repair: "claudikins gen",
    });
    rmSync(at(".claudikins/registry/_runtime/bridge-code.js"));
    const gone = await doctor();
    expect([gone.exitCode, gone.of("registry.files")]).toEqual([
      1,
      {
        state: "problem",
        message: "Generated files cannot be called: _runtime/bridge-code.js is missing",
        repair: "claudikins gen",
        code: "REGISTRY_STALE",
      },
    ]);
    const notes = at(".local/share/claudikins");
    for (const name of readdirSync(join(notes, "registries"))) {
      home.folder.write(`.local/share/claudikins/registries/${name}`, { command: [at("no/claudikins")] });
    }
    expect((await doctor()).of("registry.command")).toEqual({
      state: "problem",
      message: "Generated files start a program that no longer exists: FOLDER/no/claudikins",
      repair: "claudikins gen",
      code: "REGISTRY_STALE",
    });
    program("bin/claudikins", version);
    expect((await doctor(undefined, { env: { PATH: `${at("bin")}:/usr/bin:/bin` } })).of("registry.command")).toEqual({
      state: "warning",
      message:
        "Generated files start a program that no longer exists: FOLDER/no/claudikins; they use FOLDER/bin/claudikins from the PATH",
      repair: "claudikins gen",
    });
    rmSync(notes, { recursive: true });
    expect((await doctor()).of("registry.command")?.message).toBe(
      "The command that generated files start is not recorded",
    );
  });

  test("is reported with the runtimes that run its programs", async () => {
    configure({ odd: fixture("odd", home.folder.path) });
    await run(["gen"]);
    const withNode = async (said: string) => {
      program("bin/node", said);
      return (await doctor(undefined, { env: { PATH: at("bin") } })).of("registry.runtime");
    };
    expect(await withNode("v22.18.0")).toEqual({
      state: "ok",
      message: "Generated files run with node 22.18.0",
    });
    expect(await withNode("v20.1.0")).toBeUndefined();
    program("bin/claudikins", version);
    expect(await withNode("v20.1.0")).toEqual({
      state: "ok",
      message:
        "Generated files run with claudikins itself, because node 20.1.0 is too old for them: FOLDER/bin/claudikins",
    });
    rmSync(at("bin/node"));
    expect((await doctor(undefined, { env: { PATH: at("bin") } })).of("registry.runtime")).toEqual({
      state: "ok",
      message: "Generated files run with claudikins itself: FOLDER/bin/claudikins",
    });
    expect(["22.17.9", "22.18.0", "23.5.0", "23.6.0", "24.0.0", "18.0.0", ""].map(stripsTypes)).toEqual([
      false,
      true,
      false,
      true,
      true,
      false,
      false,
    ]);
  });
});

test("a check that throws becomes a finding and does not stop the others", async () => {
  configure({ odd: fixture("odd", home.folder.path) });
  await run(["gen"]);
  // A folder in place of a file.
  rmSync(at(".claudikins/registry/_runtime/bridge-code.js"));
  mkdirSync(at(".claudikins/registry/_runtime/bridge-code.js"));
  const { of, findings, exitCode } = await doctor();
  expect([exitCode, of("registry.check")]).toEqual([
    2,
    {
      state: "problem",
      message: expect.stringContaining("This check failed: Cannot read FOLDER/.claudikins/registry/_runtime"),
      code: "FILE_NOT_FOUND",
    },
  ]);
  expect(findings.filter(({ area }) => area === "registry").length).toBe(1);
  expect(findings.some(({ area }) => area === "daemon")).toBe(true);
});
