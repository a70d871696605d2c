/** Tells others what has become of a program: by a command, a webhook, or a tool. */
import { isWithinReach, kindsOfHost } from "../../base/address-reach.ts";
import { durationText } from "../../base/duration.ts";
import { messageOf } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { oneLine } from "../../base/visible-text.ts";
import type { Environment } from "../../config/environment.ts";
import { homeOf } from "../../config/locations.ts";
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import { childEnvironment } from "../../servers/process/child-environment.ts";
import type { AttemptEnd, StoredDelivery } from "../../store/deliveries.ts";
import { codeWithInput } from "../saved/inputs.ts";
import { failed } from "./attempts.ts";
import { inputFor } from "./conditions.ts";
import { referencedValue } from "./referenced-value.ts";
import { sendWebhook } from "./send-webhook.ts";
import type { Receiver, Trigger, WebhookReceiver } from "./stored-triggers.ts";

/** Time for a command. */
const commandMs = 60_000;

/** Characters of what a command says about its failure. */
const maxFailureChars = 200;

export type Notification = Trigger & { notify: Receiver };
type Told = Pick<StoredDelivery, "id" | "program" | "payload" | "attempts">;

interface NotifyOptions {
  place: SavedProgramsPlace;
  env: Environment;
  now: () => number;
}

/** Runs the command, or sends the request. Never rejects. */
export async function notify(
  trigger: Notification,
  delivery: Told,
  { place, env, now }: NotifyOptions,
): Promise<AttemptEnd> {
  const { notify: to } = trigger;
  const event = JSON.parse(delivery.payload) as JsonObject;
  const given = { trigger, delivery, event, now: now() };
  try {
    if (to.kind === "webhook") return await post(to, given, env);
    if (to.kind !== "command") return { state: "done" };
    // Many people can write to a database of a team. None of them may run commands on its machines with that.
    if (!place.documents.areFiles) return { state: "dead", message: "commands are not run for a database" };
    return await runCommand(to.command, given, env);
  } catch (error) {
    return { state: "dead", message: messageOf(error) };
  }
}

interface Given {
  trigger: Notification;
  delivery: Told;
  event: JsonObject;
  now: number;
}

/** Nobody knows what a command that fails has done, so it is not run again. */
async function runCommand(command: string, { delivery, event }: Given, env: Environment): Promise<AttemptEnd> {
  const isWindows = process.platform === "win32";
  const shell = isWindows ? ["cmd.exe", "/d", "/s", "/c", `"${command}"`] : ["/bin/sh", "-c", command];
  const { program, state, execution = "" } = event as Record<string, string>;
  const about = { CLAUDIKINS_PROGRAM: program!, CLAUDIKINS_STATE: state!, CLAUDIKINS_EXECUTION: execution };
  const child = Bun.spawn(shell, {
    cwd: homeOf(env),
    env: childEnvironment(env, about),
    stdin: new Blob([JSON.stringify({ id: delivery.id, ...event })]),
    stdout: "ignore",
    stderr: "pipe",
    // A group of its own, so that what the command has started ends with it.
    detached: true,
    windowsHide: true,
    // The shell reads the command as its user has written it.
    windowsVerbatimArguments: isWindows,
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    endGroup(child);
  }, commandMs);
  const said = lastWords(child.stderr);
  await child.exited;
  clearTimeout(timer);
  if (isLate) return { state: "dead", message: `the command took longer than ${durationText(commandMs)}` };
  if (child.exitCode === 0) return { state: "done" };
  const how = child.exitCode === null ? `ended with ${child.signalCode}` : `ended with exit code ${child.exitCode}`;
  const words = await Promise.race([said, Bun.sleep(100).then(() => "")]);
  return { state: "dead", message: `the command ${how}${words === "" ? "" : `: ${words}`}` };
}

function endGroup(child: { pid: number; kill: (signal: "SIGKILL") => void }): void {
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    child.kill("SIGKILL");
  }
}

/** Everything is read, so that the command does not wait for a reader. */
async function lastWords(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) text = (text + decoder.decode(chunk, { stream: true })).slice(-2 * maxFailureChars);
  return oneLine(text.trim().split("\n").at(-1) ?? "", maxFailureChars);
}

/** Sends the request, unless its address has come nearer since the user named it. */
async function post(to: WebhookReceiver, given: Given, env: Environment): Promise<AttemptEnd> {
  const { trigger, delivery, event, now } = given;
  const url = new URL(await referencedValue(to.url, "Its address", env));
  const again = "add the notification again";
  if (url.origin !== to.origin) return { state: "dead", message: `Its address is no longer at ${to.origin}: ${again}` };
  if (!(await kindsOfHost(url)).every((kind) => isWithinReach(kind, to.reach))) {
    const message = `${to.origin} is now an address that only this machine or its network can reach: ${again}`;
    return { state: "dead", message };
  }
  const own = inputFor(trigger, event);
  const timestamp = new Date(now).toISOString();
  const usual = { type: `program.${String(event["state"])}`, timestamp, data: event };
  const body = JSON.stringify(Object.keys(own).length > 0 ? own : usual);
  const secret = to.secret === undefined ? undefined : await referencedValue(to.secret, "Its secret", env);
  const end = await sendWebhook(url, { id: delivery.id, body, now, secret });
  return end.isSent ? { state: "done" } : failed(end.message, delivery.attempts, now, end.mayRetry);
}

/** The program that calls the tool: as an execution of its own, it is made once, waits for a person, and is judged by the rules. */
export function callRequest(trigger: Trigger, delivery: Pick<StoredDelivery, "payload">) {
  const { notify: to, id } = trigger;
  if (to?.kind !== "tool") throw new Error(`${id} does not notify by a tool`);
  const input = inputFor(trigger, JSON.parse(delivery.payload) as JsonObject);
  const code = `return await servers[${JSON.stringify(to.server)}][${JSON.stringify(to.tool)}](input);`;
  const calls = [`${to.server}.${to.tool}`];
  // No saved program has such a name.
  const program = { name: `notify ${id}`, calls, owner: undefined, labels: undefined, pins: {}, depth: 1 };
  return { source: codeWithInput(code, input), program };
}
