/** `claudikins doctor`: checks everything that claudikins depends on, and suggests fixes. */
import { diagnose } from "../../doctor/diagnose.ts";
import { exitCodeOf } from "../../doctor/finding.ts";
import { hasColours } from "../colours.ts";
import { command, commonArgs } from "../command.ts";
import { findingsShape, findingsText, sumText } from "../doctor-report.ts";
import { openScene } from "../doctor-scene.ts";
import { Progress } from "../progress.ts";
import { record, yesOrNo } from "../shapes.ts";
import { trustArgs } from "../trust-prompt.ts";

export default command({
  description:
    "Check the whole setup and suggest fixes: the executable, the config, each server, sign-ins, folders, the registry, your agents and the daemon. Nothing is changed. The exit code is 0 if there are no problems, else 2 (config), 4 (a server cannot be reached), 3 (a sign-in is needed) or 1.",
  args: {
    "no-servers": { type: "boolean", description: "Do not start any server" },
    config: commonArgs.config,
    ...trustArgs,
    json: { type: "boolean", description: "Print one JSON document and nothing else, even if there are problems" },
  },
  examples: ["claudikins doctor", "claudikins doctor --no-servers", "claudikins doctor --json"],
  json: record({ ok: yesOrNo, findings: findingsShape }),
  async run(args, io) {
    const withServers = !args["no-servers"];
    await using opened = await openScene(io, args, { withServers, asks: false });
    const { toolbox } = opened.scene;
    const total = withServers ? (toolbox?.config.servers.size ?? 0) : 0;
    const progress = new Progress(args.json || total === 0 ? undefined : io.stderr, "servers", total);
    const findings = await diagnose({ ...opened.scene, onServer: (name) => progress.advance(name) });
    progress.end();
    const exitCode = exitCodeOf(findings);
    if (args.json) {
      await io.stdout.write(`${JSON.stringify({ ok: exitCode === 0, findings })}\n`);
      return exitCode;
    }
    await io.stdout.write(findingsText(findings, hasColours(io.stdout, io)));
    await io.stderr.write(`\n${sumText(findings)}\n`);
    return exitCode;
  },
});
