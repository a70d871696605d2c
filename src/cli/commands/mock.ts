/** `claudikins mock`: plays a server from its recordings, as any MCP server. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ClaudikinsError, messageOf, systemCodeOf } from "../../base/errors.ts";
import { type Recording, readRecording } from "../../programs/recordings/format.ts";
import { answerModes, ImitatedServer } from "../../programs/recordings/imitation.ts";
import { command, option, place, several } from "../command.ts";
import { oneWordOf } from "../flags/flags.ts";

export default command({
  description:
    "Play a recorded server on stdin and stdout: an MCP server that gives the recorded answers. An agent or a client is tested with it, without the server.",
  args: {
    recordings: place("Recordings, or folders of files that end in .recording.json", { complete: "file", ...several }),
    server: option("The server to play (default: the only one in the recordings)", { valueHint: "name" }),
    answers: option(
      "What answers arguments that were never recorded. exact: an error; order: the next answer of the tool; schema: a made-up result (default exact)",
      { valueHint: "mode", ...oneWordOf(answerModes) },
    ),
  },
  examples: ["claudikins mock report.recording.json", "claudikins mock recordings --server demo --answers schema"],
  async run(args, io) {
    const files = (await Promise.all(args.recordings.map((path) => filesAt(resolve(io.cwd, path))))).flat();
    const recordings = await Promise.all(files.map(async (file) => readRecording(await textOf(file), file)));
    const server = serverIn(recordings, args.server);
    const imitated = new ImitatedServer(server, recordings, args.answers ?? "exact");
    const { playServer } = await import("../../programs/recordings/mock-server.ts");
    await playServer(server, imitated, io.interrupted);
    return {};
  },
});

const howToMake = "To make a recording: claudikins exec FILE --record-file NAME.recording.json";

/** Throws USAGE. */
function serverIn(recordings: readonly Recording[], wanted: string | undefined): string {
  const names = [...new Set(recordings.flatMap(({ servers }) => Object.keys(servers)))].sort();
  const [only] = names;
  if (wanted === undefined && only !== undefined && names.length === 1) return only;
  if (wanted !== undefined && names.includes(wanted)) return wanted;
  const known = names.length === 0 ? "The recordings have no server" : `Recorded servers: ${names.join(", ")}`;
  const message =
    wanted === undefined ? "The recordings do not have exactly one server" : `No recording has a server "${wanted}"`;
  throw new ClaudikinsError("USAGE", message, {
    hint: names.length > 1 ? `${known}. Choose one with --server.` : known,
  });
}

/** Throws FILE_NOT_FOUND, and USAGE for a folder without recordings. */
async function filesAt(path: string): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const files = (await readdir(path)).filter((file) => file.endsWith(".recording.json")).sort();
    if (files.length > 0) return files.map((file) => join(path, file));
  } catch (cause) {
    throw notReadable(path, cause);
  }
  throw new ClaudikinsError("USAGE", `${path} has no recordings`, {
    hint: `The names of recordings end in .recording.json. ${howToMake}`,
  });
}

async function textOf(file: string): Promise<string> {
  return readFile(file, "utf8").catch((cause) => {
    throw notReadable(file, cause);
  });
}

function notReadable(path: string, cause: unknown): ClaudikinsError {
  const isMissing = systemCodeOf(cause) === "ENOENT";
  const why = isMissing ? "it does not exist" : messageOf(cause);
  return new ClaudikinsError("FILE_NOT_FOUND", `Cannot read ${path}: ${why}`, {
    ...(isMissing ? { hint: howToMake } : {}),
    cause,
  });
}
