/** The version, the daemons, the secrets and the audit log for the page. The commands use the same functions. */

import { grouped } from "../base/counted.ts";
import { version } from "../base/version.ts";
import { homeOf, secretsFile } from "../config/locations.ts";
import { removeNamedSecrets, setNamedSecret } from "../config/secrets/change.ts";
import { listedSecrets } from "../config/secrets/listed.ts";
import { managedText, ownInstallation } from "../setup/upgrade/installation.ts";
import { askForNews, knownNews } from "../setup/upgrade/news.ts";
import { scopeText } from "../store/approval.ts";
import { type AuditLine, decisions } from "../store/audit/event.ts";
import { deciderText, newestEntries, subjectOf } from "../store/audit/read.ts";
import { verify } from "../store/audit/verify.ts";
import type { Body } from "./bodies.ts";
import { changeWords } from "./change-words.ts";
import { inHome } from "./executions.ts";
import { RefusedRequest } from "./guard.ts";
import type { PageParts } from "./parts.ts";
import type {
  PageAudit,
  PageAuditCheck,
  PageAuditEntry,
  PageDaemons,
  PageSecretRemoved,
  PageSecretSet,
  PageSecrets,
  PageVersion,
} from "./system-contract.ts";

/** Entries of the audit log that are shown at once. `claudikins audit export` has all. */
const maxShownEntries = 1_000;

/** Time for the server of releases to answer. */
const releaseAnswerMs = 30_000;

export class SystemView {
  readonly #options: PageParts;
  /** The last answer about the audit log, which counts until an entry is added. */
  #audit: { stamp: string; answer: PageAudit } | undefined;

  constructor(options: PageParts) {
    this.#options = options;
  }

  /** Asks no other machine. The newest version is the one that the last check has found. */
  version(): PageVersion {
    const { news, checkedAt } = knownNews(this.#options.env);
    const installation = ownInstallation();
    const { path, kind } = installation;
    return {
      version,
      installed: kind === "script" ? "It was installed by install.sh or from an archive." : managedText(installation),
      path: this.#shown(path),
      ...(news && checkedAt !== undefined ? { newest: { version: news.to, isNewer: news.available, checkedAt } } : {}),
      ...(news?.available ? { command: news.command ?? "claudikins upgrade" } : {}),
    };
  }

  /** Asks the server of releases. Throws the errors of `findRelease`. */
  async checkVersion(): Promise<PageVersion> {
    await askForNews(undefined, { env: this.#options.env, signal: AbortSignal.timeout(releaseAnswerMs) });
    return this.version();
  }

  async daemons(): Promise<PageDaemons> {
    const { running, silent } = await this.#options.daemons.list();
    const shown = running.map(({ held, page, config, ...daemon }) => ({
      ...daemon,
      config: this.#configText(config),
      servers: held.map(({ server, pid }) => ({ name: server, pid })),
      hasPage: page,
      isOwn: daemon.pid === process.pid,
    }));
    return {
      running: shown.sort((one, other) => Number(other.isOwn) - Number(one.isOwn) || one.startedAt - other.startedAt),
      silent: silent.map(({ pid, config, log }) => ({
        pid,
        config: config === undefined ? undefined : this.#configText(config),
        log: this.#shown(log),
      })),
    };
  }

  async secrets(): Promise<PageSecrets> {
    const { app, env } = this.#options;
    const { origin } = app.config;
    const flag = origin.kind === "demo" ? undefined : origin.file;
    const listed = await listedSecrets({ flag, cwd: "/", env });
    return {
      secrets: listed.map(({ servers, ...secret }) => ({ ...secret, users: servers })),
      file: this.#shown(secretsFile(env)),
    };
  }

  /** Throws the errors of `setNamedSecret`. */
  async setSecret({ name, value, inFile }: Body<"secret">): Promise<PageSecretSet> {
    const { env } = this.#options;
    const { where, note } = await setNamedSecret(name, value, { inFile, env });
    return { where: this.#shown(where), note };
  }

  /** Throws the errors of `removeNamedSecrets`. */
  async removeSecret(name: string): Promise<PageSecretRemoved> {
    return { note: await removeNamedSecrets([name], this.#options.env) };
  }

  /** Throws RefusedRequest. */
  async audit(search: URLSearchParams): Promise<PageAudit> {
    const most = Number(/^\d{1,4}$/.exec(search.get("most") ?? "50")?.[0]);
    const decision = search.get("decision") ?? undefined;
    if (!(most >= 1 && most <= maxShownEntries)) {
      throw new RefusedRequest(400, `The number of entries is from 1 to ${grouped(maxShownEntries)}`);
    }
    if (decision !== undefined && !(decisions as readonly string[]).includes(decision)) {
      throw new RefusedRequest(400, "The audit log has no such decision");
    }
    const { audit } = this.#options.app.store;
    // Pages ask again and again, and a rare decision is looked for in the whole log.
    const stamp = `${await audit.lastPlace()} ${most} ${decision}`;
    if (this.#audit?.stamp !== stamp) {
      const found = await newestEntries(audit, { decision }, most + 1);
      const entries = found.slice(0, most).map((line) => this.#entry(line));
      this.#audit = { stamp, answer: { entries, hasMore: found.length > most, decisions } };
    }
    return this.#audit.answer;
  }

  /** Throws RefusedRequest. */
  async verifyAudit(search: URLSearchParams): Promise<PageAuditCheck> {
    const wanted = search.get("contains") ?? undefined;
    if (wanted !== undefined && !/^[0-9a-f]{64}$/.test(wanted)) {
      throw new RefusedRequest(400, "A hash has 64 hexadecimal digits");
    }
    return verify(this.#options.app.store.audit, wanted);
  }

  #entry(line: AuditLine): PageAuditEntry {
    const { entry, at, decision, scope, execution, by, changes = [], previous } = line;
    const facts: [name: string, value: string | undefined][] = [
      ["Config", line.config === undefined ? undefined : this.#shown(line.config)],
      ["Door", line.door],
      ["Call", line.call === undefined ? undefined : String(line.call)],
      ["Line", line.line === undefined ? undefined : String(line.line)],
      ["Servers", line.servers?.join(", ")],
      ["Reason", line.why],
      ...changes.map(({ at: place, before, after }): [string, string] => [
        place,
        `${before ?? "nothing"} → ${after ?? "nothing"}`,
      ]),
      [
        "Arguments",
        line.arguments && `${grouped(line.arguments.bytes)} bytes with the SHA-256 ${line.arguments.sha256}`,
      ],
      ["Process", `${by.pid} of ${by.user}${by.terminal ? " at a terminal" : ""}`],
      ["Hash of the entry before", previous],
    ];
    return {
      entry,
      at,
      decision,
      scope: scopeText(scope).trim(),
      about:
        changes.length > 0
          ? `${changeWords(changes)} (${this.#configText(line.config ?? null)})`
          : this.#shown(subjectOf(line)),
      by: deciderText(line),
      place: by.place,
      execution,
      facts: facts.flatMap(([name, value]) => (value === undefined || value === "" ? [] : [{ name, value }])),
    };
  }

  #configText(config: string | null): string {
    return config === null ? "the demo" : this.#shown(config);
  }

  /** The home folder as ~. */
  #shown(path: string): string {
    return inHome(path, homeOf(this.#options.env));
  }
}
