/** `claudikins people delete`: deletes what is kept of people. */

import { counted } from "../../base/counted.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { about, list as listOf, number, record, texts, type ValueOf } from "../../base/json-shape.ts";
import { visibleText } from "../../base/visible-text.ts";
import { savedProgramsOfAll } from "../../config/saved-programs-place.ts";
import { command, flag } from "../command.ts";
import { requireConsent } from "../prompt.ts";
import { chosenPeople, labelOf, peopleArgs, peopleJson, signedInShape } from "./chosen.ts";
import { sharedFolders } from "./shared-folders.ts";

const deletedShape = record({
  person: about("As the person was before", signedInShape),
  executions: number,
  approvals: about("Calls that waited for a decision, and decisions", number),
  records: about("Records of executions, which claudikins executions shows", number),
  files: about("Files of the person that replicas share in a database", number),
  folders: about("The workspaces and registries of the person on this machine", texts),
});

export const deletePeople = command({
  description:
    "Delete everything that is kept of people: names, executions, approvals, records, credentials and files on this machine. It is only done for revoked people; they stay revoked, under an id without a name. The audit log keeps its lines.",
  args: {
    ...peopleArgs,
    revoke: flag("Revoke those who are not revoked"),
    yes: flag("Delete without asking", { short: "y" }),
  },
  examples: ["claudikins people delete ann@example.com --revoke", "claudikins people delete 3f0c52b9a1d4 --yes"],
  json: record({ deleted: listOf(deletedShape) }),
  async run(args, io) {
    const chosen = await chosenPeople(args, io);
    const active = chosen.filter(({ revokedAt }) => revokedAt === null);
    if (active.length > 0 && !args.revoke) {
      throw new ClaudikinsError("USAGE", `These people are not revoked: ${active.map(labelOf).join(", ")}`, {
        hint: "To revoke them first, add --revoke",
      });
    }
    await requireConsent(io, args.yes, {
      question: `Delete everything that is kept of ${chosen.map(labelOf).join(", ")}? It cannot be restored.`,
      needed: "Data is deleted only with your consent",
      hint: "Run the command at a terminal, or add --yes",
      refused: "Nothing was deleted",
    });
    const shared = await sharedFolders(args.config, io);
    const { loadConfig } = await import("../../config/load.ts");
    const whole = await loadConfig({ flag: args.config, cwd: io.cwd, env: io.env });
    const programs = savedProgramsOfAll(whole, io.env);
    const [{ changePeople }, { deletePerson }] = await Promise.all([
      import("../../serve/people.ts"),
      import("../../serve/delete-person.ts"),
    ]);
    const before = await peopleJson(chosen, io);
    const revoked = new Map((await changePeople(active, "revoked", io.env)).map((each) => [each.id, each]));
    const json: { deleted: ValueOf<typeof deletedShape>[] } = { deleted: [] };
    for (const person of before) {
      const stored = revoked.get(person.id) ?? chosen.find(({ id }) => id === person.id)!;
      json.deleted.push({ person, ...(await deletePerson(stored, { shared, programs, env: io.env })) });
    }
    return { json, text: json.deleted.map(deletedText).join("") };
  },
});

function deletedText({ person, executions, approvals, records, files, folders }: ValueOf<typeof deletedShape>): string {
  const counts = [counted(executions, "execution"), counted(approvals, "approval"), counted(records, "record")];
  if (files > 0) counts.push(counted(files, "shared file"));
  const lines = [
    `Deleted ${visibleText(person.name)} (${person.id}): ${counts.join(", ")}`,
    ...(person.servers.length > 0 ? [`  credentials for ${person.servers.map(visibleText).join(", ")}`] : []),
    ...folders.map((folder) => `  ${visibleText(folder)}`),
  ];
  return lines.map((line) => `${line}\n`).join("");
}
