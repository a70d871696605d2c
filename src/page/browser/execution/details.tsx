/** The details of each call. The script of the page takes them from a template and shows them beside the rows. */

/** @jsxImportSource preact */
import { Fragment } from "preact";
import { grouped } from "../../../base/counted.ts";
import { durationText } from "../../../base/duration.ts";
import { indentedJson } from "../../../base/json-object.ts";
import type { Excerpt, RecordedCall } from "../../../programs/trace/record.ts";
import { tookMs, toolOf } from "../../../programs/trace/record-text.ts";
import { ScrolledText, Text } from "../text.tsx";

interface DetailsProps {
  call: RecordedCall;
  /** Its place in the timeline. */
  place: number;
  /** Whether its line is on the page. */
  hasLine: boolean;
}

export function Details({ call, place, hasLine }: DetailsProps) {
  const { outcome, message, arguments: args, result } = call;
  return (
    <>
      <Text in="h3">{toolOf(call)}</Text>
      <p class={`badge ${outcome}`}>{outcome}</p>
      <dl>
        {factsOf(call, place).map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{name === "Line" && hasLine ? <a href={`#L${value}`}>{value}</a> : value}</dd>
          </Fragment>
        ))}
      </dl>
      {message !== undefined && <Content title="Error" text={message} />}
      {args && <Content title={`Arguments${args.isWhole ? "" : beginning}`} text={textOf(args)} />}
      {result && <Content title={`Result${result.isWhole ? "" : beginning}`} text={textOf(result)} />}
    </>
  );
}

function factsOf(call: RecordedCall, place: number): [name: string, value: string][] {
  const { line, startMs, endMs, outcome, argumentChars, resultChars, code, waitedMs } = call;
  const facts: [string, string | undefined][] = [
    ["Call", grouped(place + 1)],
    ["Line", line === undefined ? undefined : String(line)],
    ["Took", durationText(tookMs(call))],
    ["Waited for a person", waitedMs ? durationText(waitedMs) : undefined],
    ["From", durationText(startMs)],
    ["To", durationText(endMs)],
    ["Arguments", `${grouped(argumentChars)} characters`],
    ["Result", outcome === "ok" ? `${grouped(resultChars)} characters` : undefined],
    ["Error", code],
  ];
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
}

const beginning = " (beginning)";

function Content({ title, text }: { title: string; text: string }) {
  return (
    <>
      <h4>{title}</h4>
      <ScrolledText>{text}</ScrolledText>
    </>
  );
}

/** JSON is shown over several lines, unless it was cut. */
export const textOf = ({ text, isWhole }: Excerpt) => (isWhole ? indentedJson(text) : text);
