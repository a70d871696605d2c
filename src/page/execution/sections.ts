/** The sections around the waterfall: figures, code, logs, the returned value and the receipt. */

import { counted, grouped } from "../../base/counted.ts";
import { durationText } from "../../base/duration.ts";
import { keptOut } from "../../programs/outcome-text.ts";
import { mostAtOnce } from "../../programs/trace/overlap.ts";
import type { ExecutionRecord } from "../../programs/trace/record.ts";
import {
  configText,
  failureOf,
  outcomeWord,
  protocolsText,
  timeText,
  tookMs,
  toolOf,
} from "../../programs/trace/record-text.ts";
import { escaped, Html, html } from "./html.ts";
import { indented } from "./waterfall.ts";

export function titleOf({ calls, durationMs }: ExecutionRecord): string {
  return `${counted(calls, "call")} in ${durationText(durationMs)}`;
}

export function headerOf(record: ExecutionRecord): Html {
  const { id, door, config, at, ok } = record;
  const protocols = protocolsText(record);
  return html`<header>
<div><p class="brand">claudikins trace</p>
<h1>${titleOf(record)} <span class="badge ${ok ? "good" : "bad"}">${outcomeWord(record)}</span></h1>
<p class="about">${door} · <bdi>${configText(config)}</bdi> · ${timeText(at)} · ${id}</p>${protocols === "" ? undefined : html`<p class="about"><bdi>${protocols}</bdi></p>`}</div>
<button type="button" id="theme" class="theme" hidden>Dark</button>
</header>`;
}

export function figuresOf(record: ExecutionRecord): Html {
  const { calls, failures, durationMs, beforeMs, charsIn, charsOut, code, timeline } = record;
  const most = mostAtOnce(timeline);
  const kept = keptOut(record);
  const figure = (name: string, value: string, more: string) =>
    html`<div><dt>${name}</dt><dd><strong>${value}</strong><span>${more}</span></dd></div>`;
  const callsMore = [
    ...(most > 1 ? [`${grouped(most)} at once`] : []),
    ...(failures > 0 ? [`${grouped(failures)} failed`] : []),
  ];
  return html`<dl class="figures">
${figure("Calls", grouped(calls), callsMore.join(", ") || "none failed")}
${figure("Time", durationText(durationMs), beforeMs >= 1 ? `after ${durationText(beforeMs)} of fetching tools` : "to run the code")}
${figure("Kept out of the context", grouped(kept), `of ${grouped(charsIn)} characters; ${grouped(charsOut)} were returned`)}
${figure("Code", counted(code.lines, "line"), `${grouped(code.chars)} characters`)}
</dl>`;
}

export function failureSection(record: ExecutionRecord): Html {
  const { error } = record;
  if (!error) return html``;
  const { line, hint } = error;
  const where = line === undefined ? html`` : html` <a href="#L${line}">line ${line}</a>`;
  return html`<section class="failure" aria-label="Failure"><p><strong>${failureOf(record)}</strong>${where}</p>${hint === undefined ? undefined : html`<p class="hint">${hint}</p>`}</section>`;
}

const notRecorded = "Only sizes were recorded. With --record, exec and serve also record contents.";

/** `byLine` has the rows of the calls in each line. */
export function codeOf(record: ExecutionRecord, byLine: ReadonlyMap<number, number[]>): Html {
  const { code, error } = record;
  const marks = [...byLine].sort(([a], [b]) => a - b);
  if (code.text === undefined) {
    const lines = marks.map(
      ([line, rows]) =>
        html`<li id="L${line}"><a class="mark" href="#c${rows[0]}" data-line="${line}">line ${line}: ${counted(rows.length, "call")}</a></li>`,
    );
    return section(
      "Code",
      html`<p class="note">${notRecorded}</p>${lines.length > 0 ? html`<ul class="lines">${lines}</ul>` : undefined}`,
    );
  }
  const lines = highlighted(code.text.replace(/\n$/, "")).map((text, index) => {
    const line = index + 1;
    const rows = byLine.get(line);
    const mark =
      rows &&
      html`<a class="mark" href="#c${rows[0]}" data-line="${line}" aria-label="Line ${line}: ${counted(rows.length, "call")}">${counted(rows.length, "call")}</a>`;
    const kind = error?.line === line ? "failing" : rows ? "calling" : "";
    return html`<li id="L${line}" class="${kind}"><code>${text}</code>${mark}</li>
`;
  });
  return section("Code", html`<ol class="code" tabindex="0" aria-label="Code">${lines}</ol>`);
}

export function logsOf({ logs }: ExecutionRecord): Html {
  if (logs.lines === 0) return html``;
  const size = `${counted(logs.lines, "line")}, ${grouped(logs.chars)} characters`;
  if (!logs.entries) return section("Logs", html`<p class="note">${size}</p>`);
  const entries = logs.entries.map(
    ({
      level,
      text,
    }) => html`<li><span class="level level-${level}">${level}</span><span class="text">${text}</span></li>
`,
  );
  return section("Logs", html`<ol class="logs">${entries}</ol>`);
}

export function returnedOf({ value }: ExecutionRecord): Html {
  if (!value) return html``;
  const { text, isWhole } = indented(value);
  return section(
    "Returned",
    html`<pre tabindex="0">${text}</pre>${isWhole ? undefined : html`<p class="note">Only the beginning was recorded.</p>`}`,
  );
}

export function receiptOf({ timeline, receipt, moreCalls }: ExecutionRecord): Html {
  if (timeline.length === 0) return html``;
  const tools = Map.groupBy(timeline, toolOf);
  const rows = [...tools].map(([name, calls]) => {
    const sum = (pick: (call: (typeof calls)[number]) => number) =>
      calls.reduce((total, call) => total + pick(call), 0);
    const failed = calls.filter(({ outcome }) => outcome === "failed").length;
    return html`<tr><th scope="row"><bdi>${name}</bdi></th><td>${grouped(calls.length)}</td><td>${failed > 0 ? grouped(failed) : ""}</td><td>${durationText(sum(tookMs))}</td><td>${grouped(sum(({ resultChars }) => resultChars))}</td></tr>
`;
  });
  const of =
    moreCalls > 0
      ? html`<p class="note">Only the first ${grouped(timeline.length)} calls are included.</p>`
      : undefined;
  return section(
    "Receipt",
    html`<div class="scroll" tabindex="0" role="region" aria-label="Receipt"><table><thead><tr><th scope="col">Tool</th><th scope="col">Calls</th><th scope="col">Failed</th><th scope="col">Total time</th><th scope="col">Result characters</th></tr></thead><tbody>${rows}</tbody></table></div>${of}<p class="note">Receipt id: ${receipt}</p>`,
  );
}

export function section(title: string, content: Html): Html {
  const id = `s-${title.toLowerCase()}`;
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${content}</section>`;
}

const token = new RegExp(
  [
    String.raw`(?<comment>\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))`,
    String.raw`(?<string>"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|${"`"}(?:\\[\s\S]|[^${"`"}\\])*${"`"}?)`,
    String.raw`(?<number>\b\d[\w.]*)`,
    String.raw`(?<keyword>\b(?:${"as async await break case catch class const continue default delete do else export extends false finally for from function if import in instanceof interface let new null of return switch this throw true try type typeof undefined using var void while yield".replaceAll(" ", "|")})\b)`,
    String.raw`(?<word>[$_\p{L}][$\w]*)`,
  ].join("|"),
  "gu",
);

function highlighted(code: string): Html[] {
  let result = "";
  let done = 0;
  for (const { 0: text, index, groups = {} } of code.matchAll(token)) {
    const [kind] = Object.entries(groups).find(([, found]) => found !== undefined) ?? ["word"];
    result += escaped(code.slice(done, index)) + (kind === "word" ? escaped(text) : spans(text, kind));
    done = index + text.length;
  }
  return (result + escaped(code.slice(done))).split("\n").map((line) => new Html(line));
}

/** One span for each line of the text. */
function spans(text: string, kind: string): string {
  return text
    .split("\n")
    .map((line) => `<span class="${kind}">${escaped(line)}</span>`)
    .join("\n");
}
