/** Looks at long hostile texts in every way in which flows look at them. A pattern that takes quadratic time never gets to the end. */
import { KnownText } from "../../../src/policy/flow/known-texts.ts";
import { labelsByRules } from "../../../src/policy/flow/label-rules.ts";
import { leavingIn, strangersTextIn } from "../../../src/policy/flow/leaving.ts";
import { type Read, SessionReads } from "../../../src/policy/flow/session-reads.ts";

const chars = 100_000;
const parts = [..."bB1 \n\t@.:-_/\\%+=\"'(<[{\u202e査😀", "a@", "@a", "aA", "1a", "a.b", "%41", "\\u0041", "\\n", "x "];
const words = [" at ", " dot ", "(at)", "from: ", "from:b", "the conversation ", "send ", "https://a/", "a_b_", "aBc_"];
const texts = [...parts, ...words].flatMap((part) => {
  const long = part.repeat(Math.ceil(chars / part.length)).slice(0, chars);
  return [long, `from: ${long}`, `a@b dot ${long}`, `{"to": "x", "body": "${part}"} ${long}`, `${long}\n\n${long}`];
});

const reads: Read[] = [
  { label: "private", source: "crm.get" },
  { label: "untrusted", source: "crm.get" },
];
for (const [at, text] of texts.entries()) {
  const known = new KnownText(
    { source: "crm.get", labels: new Set(["private", "untrusted"]) },
    text.length,
    () => text,
  );
  const isFound = [
    known.has("nothere"),
    known.hasField("nothere"),
    known.hasInCode("nothere"),
    known.hasNumber("12345"),
    known.hasValue("nothere"),
    known.hasAlone("nothere"),
    known.wordsAround("nothere") !== undefined,
    known.records.length > 1,
  ];
  if (isFound.includes(true)) throw new Error(`found in text ${at}`);
  labelsByRules(`tool_${at}`, { description: text, inputSchema: { properties: { [text.slice(0, 99)]: {} } } });
  const session = new SessionReads();
  void session.add(reads, { size: text.length, text: () => text });
  for (const sent of [text, text.slice(0, 999)]) {
    for (const mode of ["ask", "strict"] as const) {
      const args = { to: sent, text: sent, path: sent, url: sent };
      leavingIn({
        server: "mail",
        tool: "send",
        isStrange: () => true,
        changes: () => true,
        describedIn: () => undefined,
        args,
        labels: new Set(["public"]),
        reads: session,
        mode,
        asksFor: () => undefined,
      });
      strangersTextIn(args, session);
    }
  }
}
console.log(`${texts.length} texts`);
