/** `claudikins ui`: opens the local page, which the daemon serves. */
import { about, record, text, yesOrNo } from "../../base/json-shape.ts";
import type { Invitation } from "../../page/user-page.ts";
import { command, flag } from "../command.ts";
import { daemonOf } from "../daemon/with-daemon.ts";
import { configArgs } from "../flags/config-flags.ts";
import { hasBrowser, needsFile, openBrowser, openFile } from "../terminal/browser.ts";
import { saying } from "../terminal/progress.ts";

export default command({
  description:
    "Open a local page in your browser: what waits for your approval, executions, servers, tools with their policy, and what was saved. Only this machine can reach the page, and its address works once, for a minute.",
  args: {
    "no-open": flag("Print the address instead of opening a browser"),
    ...configArgs,
  },
  examples: ["claudikins ui", "claudikins ui --no-open", "claudikins ui --json"],
  json: record({
    url: about("Works once, for a minute", text),
    opened: about("Whether a browser was started; never with --json", yesOrNo),
  }),
  async run(args, io) {
    const { client } = await daemonOf(args, io);
    const opens = !args["no-open"] && !args.json && hasBrowser(io.env);
    const invited = client.post("/ui", { file: opens && needsFile() }, io.interrupted);
    const { port, path, token, file } = (await saying(io.stderr, "Contacting the daemon", invited)) as Invitation;
    const url = new URL(`http://127.0.0.1:${port}${path}#${token}`);
    const opened = opens && (await (file === undefined ? openBrowser(url, io.env) : openFile(file, io.env)));
    if (opened) return { json: { url: url.href, opened }, text: openedText, note: ifNot(url, io.stderr.isTerminal) };
    return { json: { url: url.href, opened: false }, text: `${url.href}\n`, note: withoutBrowser(port) };
  },
});

const openedText = "The page is open in your browser.\n";

const stayText = "The daemon keeps running while the page is open.\n";

/** Some browsers may not read the file that leads to the page. A terminal shows the address to its person only. */
function ifNot({ href }: URL, isTerminal: boolean): string {
  const how = isTerminal
    ? `open this address within a minute. It works once.\n  ${href}\n`
    : "run claudikins ui --no-open.\n";
  return `${stayText}If the browser shows an error instead, ${how}`;
}

function withoutBrowser(port: number): string {
  return `Open this address within a minute. It works once.
If your browser is on another machine, forward the port first: ssh -L ${port}:127.0.0.1:${port} <this machine>
${stayText}`;
}
