/** The public conformance data of CEL, https://github.com/google/cel-spec, for every expression that a condition may contain. */
import { expect, test } from "bun:test";
import { tests } from "@bufbuild/cel-spec/testdata/conformance.js";
import type { SerializedIncrementalTestSuite } from "@bufbuild/cel-spec/testdata/tests.js";
import { readDuration, readTimestamp } from "../../../src/config/cel/time.ts";
import { Fields, type Key, List, TypeName, typeOf, type Value } from "../../../src/config/cel/values.ts";
import { Undecidable, Work } from "../../../src/config/cel/work.ts";
import { languageOf } from "../../../src/config/condition.ts";
import { shown } from "./shown.ts";

/** A value as the data writes it. */
type Written = Record<string, unknown>;

interface Case {
  name: string;
  expr: string;
  bindings?: Record<string, { value?: Written }>;
  /** The result, and `true` if there is neither a value nor an error. */
  value?: Written;
  evalError?: object;
  checkOnly?: boolean;
  typedResult?: { result?: Written };
}

function casesOf(suite: SerializedIncrementalTestSuite, path: readonly string[] = []): Case[] {
  const own = (suite.tests ?? []).map(({ original }) => {
    const each = original as unknown as Case;
    return { ...each, name: [...path, each.name].join("/") };
  });
  return [...own, ...(suite.suites ?? []).flatMap((each) => casesOf(each, [...path, each.name]))];
}

/** Undefined for a value that conditions do not have, such as a message of Protocol Buffers. */
function readValue(written: Written): Value | undefined {
  const [[kind, value] = []] = Object.entries(written);
  switch (kind) {
    case "nullValue":
      return null;
    case "boolValue":
    case "stringValue":
      return value as boolean | string;
    case "int64Value":
      return BigInt(value as string);
    case "doubleValue":
      return Number(value);
    case "typeValue":
      return new TypeName(value as string);
    case "listValue": {
      const items = ((value as { values?: Written[] }).values ?? []).map(readValue);
      return items.every((each) => each !== undefined) ? List.of(items) : undefined;
    }
    case "mapValue": {
      const { entries = [] } = value as { entries?: { key: Written; value: Written }[] };
      const pairs = entries.map(({ key, value: each }) => [readValue(key), readValue(each)] as [Key, Value]);
      return pairs.every((pair) => pair.every((each) => each !== undefined)) ? Fields.of(new Map(pairs)) : undefined;
    }
    case "objectValue": {
      const { "@type": type, value: text } = value as { "@type": string; value: string };
      if (type.endsWith(".Timestamp")) return readTimestamp(text);
      return type.endsWith(".Duration") ? readDuration(text) : undefined;
    }
    default:
      return undefined;
  }
}

/** The data says something else than conditions do about these, each with the reason. */
const exact = "a double is compared with an integer exactly, and not after a conversion that loses digits";
const containers = "conditions have no containers";
const known: Readonly<Record<string, string>> = {
  "comparisons/gt_literal/not_gt_dyn_big_double_int": exact,
  "comparisons/gte_literal/gte_dyn_int_big_lossy_double": exact,
  "comparisons/lt_literal/not_lt_dyn_int_big_lossy_double": exact,
  "comparisons/lte_literal/lte_dyn_big_double_int": exact,
  "namespace/namespace/self_eval_container_lookup": containers,
  "namespace/namespace/self_eval_container_lookup_unchecked": containers,
};

test("conditions have the values that the conformance data of CEL says", () => {
  /** Each with what is different. */
  const different: Record<string, string> = {};
  let compared = 0;
  for (const { name, expr, bindings = {}, value, evalError, checkOnly, typedResult } of casesOf(tests)) {
    if (checkOnly) continue;
    const expected = evalError ? undefined : readValue(value ?? typedResult?.result ?? { boolValue: true });
    if (!evalError && expected === undefined) continue;
    const bound = Object.entries(bindings).map(([key, { value: each = {} }]) => [key, readValue(each)] as const);
    if (bound.some(([, each]) => each === undefined)) continue;
    const values = new Map(bound as (readonly [string, Value])[]);
    let found: Value | undefined;
    let evaluate: ReturnType<ReturnType<typeof languageOf>>["evaluate"];
    try {
      evaluate = languageOf(Object.fromEntries([...values.keys()].map((key) => [key, "dyn"])))(expr).evaluate;
    } catch {
      // A config with the expression is refused.
      continue;
    }
    compared += 1;
    try {
      found = evaluate({ variable: (variable) => values.get(variable)!, work: new Work(), locals: [] });
    } catch (error) {
      if (!(error instanceof Undecidable)) throw error;
    }
    const wanted = expected === undefined ? "no value" : `${typeOf(expected)} ${shown(expected)}`;
    const got = found === undefined ? "no value" : `${typeOf(found)} ${shown(found)}`;
    if (wanted !== got) different[name] = `${expr} is ${got} instead of ${wanted}`;
  }
  expect(Object.keys(different).toSorted()).toEqual(Object.keys(known).toSorted());
  // Fewer would mean that conditions accept less than they did.
  expect(compared).toBe(788);
});
