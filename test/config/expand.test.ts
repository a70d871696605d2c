/** `${VAR}` and `${VAR:-default}`: replaced, missing, and unchanged texts. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are what is tested
import { describe, expect, test } from "bun:test";
import { expand } from "../../src/config/expand.ts";

const env = { SET: "value", EMPTY: "", TRICKY: "$& ${SET} $1 }", UNSET: undefined };

/** [text, expanded, missing variables] */
const cases: [string, string, string[]][] = [
  ["plain", "plain", []],
  ["${SET}", "value", []],
  ["<${SET}-${SET}>", "<value-value>", []],
  ["${UNSET}", "${UNSET}", ["UNSET"]],
  ["${OTHER} ${SET} ${UNSET} ${OTHER}", "${OTHER} value ${UNSET} ${OTHER}", ["OTHER", "UNSET"]],
  // An empty variable is set: only `:-` replaces it.
  ["<${EMPTY}>", "<>", []],
  ["${EMPTY:-default}", "default", []],
  ["${SET:-default}", "value", []],
  ["${UNSET:-default}", "default", []],
  ["<${UNSET:-}>", "<>", []],
  ["${UNSET:-a:-b}", "a:-b", []],
  ["${UNSET:-https://example.com/?a=1&b=$2}", "https://example.com/?a=1&b=$2", []],
  // A default may refer to variables, which matter only when it is taken.
  ["${UNSET:-${SET}}", "value", []],
  ["${UNSET:-${OTHER:-${EMPTY:-deep}}}!", "deep!", []],
  ["${UNSET:-${OTHER}}", "${OTHER}", ["OTHER"]],
  ["${SET:-${OTHER}}", "value", []],
  // The value of a variable is never expanded or interpreted again.
  ["${TRICKY}", "$& ${SET} $1 }", []],
  ["${UNSET:-${TRICKY}}", "$& ${SET} $1 }", []],
  // No references.
  ["$SET $ {SET} ${} ${1A} ${A-B} ${SET", "$SET $ {SET} ${} ${1A} ${A-B} ${SET", []],
  ["${UNSET:-open ${SET}", "${UNSET:-open value", []],
  ["$${SET}", "$value", []],
  ["${toString} ${__proto__}", "${toString} ${__proto__}", ["__proto__", "toString"]],
];

test.each(cases)("%p → %p, missing %j", (text, value, missing) => {
  expect(expand(text, env)).toMatchObject({ value, missing });
});

describe("values of any type", () => {
  test("strings at any depth are expanded, but keys and other values are not", () => {
    const entry = {
      command: "${SET}",
      args: ["--x=${SET}", "${UNSET:-y}"],
      env: { "${SET}": "${SET}", NESTED: "${B_MISSING}${A_MISSING}" },
      startTimeoutMs: 5,
      disabled: false,
      nothing: null,
    };
    expect(expand(entry, env)).toEqual({
      value: {
        command: "value",
        args: ["--x=value", "y"],
        env: { "${SET}": "value", NESTED: "${B_MISSING}${A_MISSING}" },
        startTimeoutMs: 5,
        disabled: false,
        nothing: null,
      },
      used: expect.anything(),
      missing: ["A_MISSING", "B_MISSING"],
    });
  });

  test("the input is not changed, and __proto__ stays an ordinary key", () => {
    const given = JSON.parse('{"__proto__": "${SET}"}') as object;
    const { value } = expand(given, env);
    expect(JSON.stringify(value)).toBe('{"__proto__":"value"}');
    expect(JSON.stringify(given)).toBe('{"__proto__":"${SET}"}');
  });
});
