/** Generated files that are run as programs: the daemon that calls for them keeps to the config, and nobody can be asked. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generatedProject } from "../support/daemon.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(60_000);

test("allowed, denied and to be confirmed; and another policy needs no gen", async () => {
  await using project = await generatedProject((folder) => ({
    rec: {
      ...fixture("recording", join(folder, "got.jsonl")),
      category: "test",
      deny: ["remove-it"],
      confirm: { "plain-it": "always" },
    },
  }));
  const record = join(project.path, "got.jsonl");
  const got = () =>
    existsSync(record)
      ? readFileSync(record, "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line).name)
      : [];
  const run = async (tool: string) => {
    const { exitCode, stdout, stderr } = await project.run(join("..", "rec", tool), {});
    return { exitCode, stdout, error: stderr === "" ? undefined : JSON.parse(stderr.trim().split("\n").at(-1)!) };
  };
  expect(await run("read_it")).toEqual({ exitCode: 0, stdout: '"did read-it"\n', error: undefined });
  expect(await run("remove_it")).toEqual({
    exitCode: 2,
    stdout: "",
    error: {
      code: "POLICY_DENIED",
      error: 'rec.remove-it is denied in the config by mcpServers.rec.deny[0], "remove-it"',
    },
  });
  expect(await run("plain_it")).toEqual({
    exitCode: 2,
    stdout: "",
    error: {
      code: "POLICY_DENIED",
      error: "rec.plain-it has to be confirmed by a person, and nobody can be asked here",
      suggestion:
        'It is called without a question where mcpServers.rec of the config has "confirm": { "plain-it": "never" }',
    },
  });
  expect(got()).toEqual(["read-it"]);

  const config = JSON.parse(readFileSync(project.config, "utf8"));
  const { rec } = config.mcpServers;
  writeFileSync(
    project.config,
    JSON.stringify({ mcpServers: { ...config.mcpServers, rec: { ...rec, deny: ["read-it"], confirm: "never" } } }),
  );
  expect((await run("remove_it")).exitCode).toBe(0);
  expect((await run("plain_it")).exitCode).toBe(0);
  expect((await run("read_it")).error).toMatchObject({ code: "POLICY_DENIED" });
  expect(got()).toEqual(["read-it", "remove-it", "plain-it"]);
});
