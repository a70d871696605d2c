/**
 * Tells an address of the user's choice that a call waits for a decision: ntfy, Slack, or any webhook. The process that asks the question
 * sends the message, if nobody has decided soon. Without `contents`, it has names and ids alone.
 */
import { kindsOfHost } from "../../base/address-reach.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { minuteMs } from "../../base/units.ts";
import { oneLine } from "../../base/visible-text.ts";
import type { ApprovalNotice } from "../../config/approval-notice.ts";
import type { Environment } from "../../config/environment.ts";
import type { Approval } from "../../store/approval.ts";
import { referencedValue } from "../events/referenced-value.ts";
import { type SendEnd, sendWebhook } from "../events/send-webhook.ts";

/** The milliseconds before each further attempt, if the address could not be reached. */
const pausesMs = [10_000, minuteMs, 5 * minuteMs];

/** Characters of a name in a message for people. */
const maxNameChars = 100;

/** Characters of the reason and of the arguments in a message for people. */
const maxSaidArgumentChars = 1_000;

interface NewsOptions {
  env: Environment;
  log: Log;
  /** Read for each message, because the config may change. */
  settings(): { notice: ApprovalNotice | undefined; link: ((id: string) => string) | undefined };
}

type Waiting = Pick<
  Approval,
  "id" | "server" | "tool" | "execution" | "door" | "personName" | "why" | "excerpt" | "askedAt" | "expiresAt"
>;

export class ApprovalNews implements Disposable {
  readonly #options: NewsOptions;
  /** By the ids of open approvals that are told soon, or again. */
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(options: NewsOptions) {
    this.#options = options;
  }

  /** Hears of each row of this process that opens or closes. */
  changed(row: Waiting & Pick<Approval, "state">): void {
    const { notice } = this.#options.settings();
    if (row.state !== "open") this.#forget(row.id);
    else if (notice) this.#later(row, notice.afterSeconds * 1_000, 0);
  }

  [Symbol.dispose](): void {
    for (const id of [...this.#timers.keys()]) this.#forget(id);
  }

  #later(row: Waiting, ms: number, attempts: number): void {
    const timer = setTimeout(() => void this.#tell(row, attempts), ms);
    // Nobody waits for a message.
    timer.unref();
    this.#timers.set(row.id, timer);
  }

  #forget(id: string): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  async #tell(row: Waiting, attempts: number): Promise<void> {
    const { env, log, settings } = this.#options;
    const { notice, link } = settings();
    if (!notice) return this.#forget(row.id);
    const end = await sent(row, notice, link?.(row.id), env).catch(
      (error: unknown): SendEnd => ({ isSent: false, message: messageOf(error), mayRetry: false }),
    );
    // It may have been decided meanwhile.
    if (!this.#timers.has(row.id)) return;
    if (end.isSent) return this.#forget(row.id);
    log.warn(`nobody was told that ${row.id} waits for approval: ${end.message}`);
    const pause = pausesMs[attempts];
    if (end.mayRetry && pause !== undefined) this.#later(row, pause, attempts + 1);
    else this.#forget(row.id);
  }
}

async function sent(
  row: Waiting,
  notice: ApprovalNotice,
  link: string | undefined,
  env: Environment,
): Promise<SendEnd> {
  const url = new URL(await referencedValue(notice.url, "approvals.notify.url", env));
  if (!["http:", "https:"].includes(url.protocol)) throw new Error("approvals.notify.url is not an address of the web");
  if ((await kindsOfHost(url)).includes("forbidden")) throw new Error(`${url.origin} may not be reached`);
  const secret =
    notice.secret === undefined ? undefined : await referencedValue(notice.secret, "approvals.notify.secret", env);
  return sendWebhook(url, { id: `approval_${row.id}`, now: Date.now(), secret, ...messageFor(row, notice, link) });
}

/** The body of the request and its own headers. */
export function messageFor(
  row: Waiting,
  { as, contents }: Pick<ApprovalNotice, "as" | "contents">,
  link: string | undefined,
): { body: string; headers?: Record<string, string> } {
  if (as === "slack") return { body: JSON.stringify({ text: forSlack(textOf(row, contents, link)) }) };
  if (as === "ntfy") {
    const headers = {
      "content-type": "text/plain; charset=utf-8",
      title: "A call waits for your approval",
      ...(link === undefined ? {} : { click: link }),
    };
    return { body: textOf(row, contents, link), headers };
  }
  const { id, server, tool, execution, door, personName, why, excerpt, askedAt, expiresAt } = row;
  const data = {
    approval: id,
    server,
    tool,
    execution,
    ...(door === null ? {} : { door }),
    askedAt,
    expiresAt,
    ...(link === undefined ? {} : { link }),
    ...(contents ? { why, arguments: excerpt, ...(personName === null ? {} : { person: personName }) } : {}),
  };
  return { body: JSON.stringify({ type: "approval.waiting", timestamp: new Date(askedAt).toISOString(), data }) };
}

/** For people. Names of servers are one line, and cannot look like another line. */
function textOf({ id, server, tool, door, personName, why, excerpt }: Waiting, hasContents: boolean, link?: string) {
  const name = oneLine(`${server}.${tool}`, maxNameChars);
  const behind = door === null ? "" : ` behind the door ${oneLine(door, maxNameChars)}`;
  const whose = hasContents && personName !== null ? ` for ${oneLine(personName, maxNameChars)}` : "";
  const contents = hasContents
    ? [`Because ${oneLine(why, maxSaidArgumentChars)}`, oneLine(excerpt, maxSaidArgumentChars)]
    : [];
  return [
    `${name} waits for your approval${behind}${whose}.`,
    ...contents,
    link ?? `claudikins approvals show ${id}`,
  ].join("\n");
}

/** https://docs.slack.dev/messaging/formatting-message-text: these three make links and mentions. */
function forSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
