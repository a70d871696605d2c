/** `claudikins doctor`: checks everything that claudikins depends on, and suggests fixes. */

import type { App } from "../../app/app.ts";
import { counted } from "../../base/counted.ts";
import { type ClaudikinsError, toClaudikinsError } from "../../base/errors.ts";
import { list, record, yesOrNo } from "../../base/json-shape.ts";
import { openLog } from "../../base/log.ts";
import { serverFolder } from "../../config/discover.ts";
import { credentialsFile } from "../../config/locations.ts";
import { command, flag } from "../command.ts";
import { diagnose } from "../doctor/diagnose.ts";
import { type CheckContext, exitCodeOf, type Finding, type FindingState, findingShape } from "../doctor/finding.ts";
import { type ConfigFlags, configArgs } from "../flags/config-flags.ts";
import type { Io } from "../io.ts";
import { openApp } from "../open-app.ts";
import { countingServers } from "../terminal/progress.ts";
import { cyan, green, red, yellow } from "../terminal/terminal-output.ts";

export const findingsShape = list(findingShape);

export default command({
  description:
    "Check the whole setup and suggest fixes: the executable, the config, each server, sign-ins, folders, the registry, your agents and the daemon. Nothing is changed. The exit code is 0 if there are no problems, else 2 (config), 4 (a server cannot be reached), 3 (a sign-in is needed) or 1.",
  args: {
    "no-servers": flag("Do not start any server"),
    ...configArgs,
    json: flag("Print one JSON document and nothing else, even if there are problems"),
  },
  examples: ["claudikins doctor", "claudikins doctor --no-servers", "claudikins doctor --json"],
  json: record({ ok: yesOrNo, findings: findingsShape }),
  async run(args, io) {
    const withServers = !args["no-servers"];
    await using opened = await openScene(io, args, { withServers, asks: false });
    const { scene } = opened;
    const total = withServers ? (scene.app?.config.servers.size ?? 0) : 0;
    const findings = await countingServers(args.json ? undefined : io.stderr, total, (onServer) =>
      diagnose({ ...scene, onServer }),
    );
    const exitCode = exitCodeOf(findings);
    return {
      json: { ok: exitCode === 0 && !io.interrupted.aborted, findings },
      text: findingsText(findings),
      note: `\n${sumText(findings)}\n`,
      exitCode,
    };
  },
});

interface OpenedScene extends AsyncDisposable {
  scene: CheckContext;
  /** Undefined if the config cannot be read. */
  app: App | undefined;
}

/** Opens what doctor and setup look at: the surroundings, and the config if it can be read. `asks` is passed to `openApp`. */
export async function openScene(
  io: Io,
  flags: ConfigFlags,
  { withServers, asks }: { withServers: boolean; asks: boolean },
): Promise<OpenedScene> {
  let app: App | undefined;
  let configError: ClaudikinsError | undefined;
  try {
    app = await openApp(io, flags, { asks });
  } catch (thrown) {
    configError = toClaudikinsError(thrown);
  }
  const scene: CheckContext = {
    env: io.env,
    cwd: io.cwd,
    platform: process.platform,
    configFlag: flags.config,
    app,
    configError,
    credentialsFile: credentialsFile(io.env),
    serverFolder: serverFolder(app?.config.origin ?? { kind: "demo" }, io.cwd, io.env),
    withServers,
    signal: io.interrupted,
    log: await openLog(io.env["CLAUDIKINS_LOG"]),
  };
  return { scene, app, [Symbol.asyncDispose]: async () => app?.[Symbol.asyncDispose]() };
}

const colourOf: Record<FindingState, (text: string) => string> = { ok: green, warning: yellow, problem: red };

/** Areas whose title differs from their name in the JSON output. */
const titles: Partial<Record<Finding["area"], string>> = { hosts: "agents" };

/** All findings, or with `onlyFaults` the warnings and problems. */
export function findingsText(findings: readonly Finding[], onlyFaults = false): string {
  const shown = onlyFaults ? findings.filter(({ state }) => state !== "ok") : findings;
  const areas = Map.groupBy(shown, ({ area }) => area);
  return [...areas]
    .map(([area, group]) => `${titles[area] ?? area}\n${group.map((each) => lines(each)).join("")}`)
    .join("\n");
}

const width = "problem".length;

function lines({ state, message, details = [], repair }: Finding): string {
  const space = " ".repeat(width + 4);
  const mark = colourOf[state](state) + " ".repeat(width - state.length);
  return [
    `  ${mark}  ${message}`,
    ...details.map((line) => `${space}  ${line}`),
    ...(repair === undefined || state === "ok" ? [] : [`${space}${cyan("fix")}: ${repair}`]),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

/** `2 problems and 1 warning.` or `No problems found.` */
export function sumText(findings: readonly Finding[]): string {
  const count = (wanted: FindingState) => findings.filter(({ state }) => state === wanted).length;
  const parts = (["problem", "warning"] as const).flatMap((state) =>
    count(state) === 0 ? [] : [counted(count(state), state)],
  );
  return parts.length === 0 ? "No problems found." : `${parts.join(" and ")}.`;
}
