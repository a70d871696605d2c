/** Programs that keep a parser busy: by backtracking, depth, repetition, or size. */
import type { Random } from "../random.ts";

export interface HostileSource {
  name: string;
  /** TypeScript of about this many characters. */
  make(characters: number): string;
}

/** Contains a type, so that the code is not read as plain JavaScript. */
const typed = "let v: number = 1;\n";

/** `before` × n, a middle, `after` × n. */
function nested(name: string, before: string, middle: string, after: string, most = Number.POSITIVE_INFINITY) {
  return {
    name,
    make(characters: number) {
      const room = characters - typed.length - middle.length;
      const count = Math.max(1, Math.min(most, Math.floor(room / (before.length + after.length))));
      return typed + before.repeat(count) + middle + after.repeat(count);
    },
  };
}

function repeated(name: string, part: string | ((index: number) => string), head = typed, tail = "") {
  return {
    name,
    make(characters: number) {
      const parts: string[] = [];
      let room = characters - head.length - tail.length;
      for (let index = 0; ; index++) {
        const text = typeof part === "string" ? part : part(index);
        room -= text.length;
        if (room < 0) break;
        parts.push(text);
      }
      return head + parts.join("") + tail;
    },
  };
}

/** Each of them keeps an unguarded parser busy for minutes to centuries at some size below the limit, or needs most of its memory. */
export const hostileSources: readonly HostileSource[] = [
  nested("arrow defaults", "(a=", "1", ")=>1"),
  nested("38 arrow defaults", "(a=", "1", ")=>1", 38),
  nested("async arrow defaults", "async(a=", "1", ")=>1"),
  nested("async arrow defaults, not closed", "async(a=", "1", ""),
  nested("arrow defaults, not closed", "(a=", "1", ""),
  nested("object pattern defaults", "({a=", "1", "}=1)"),
  nested("object pattern defaults, not closed", "({a=", "1", ""),
  nested("array pattern defaults", "([a=", "1", "])=>1"),
  nested("patterns in patterns", "({a:[b=", "1", "]})=>1"),
  nested("conditional arrows", "a?(b)=>(", "1", "):1"),
  nested("conditional arrows with types", "a?(b):c=>(", "1", "):1"),
  nested("conditional arrows, not closed", "a?(b)=>(", "1", ""),
  nested("static class fields", "class A{static a=", "1", "}"),
  nested("static class expressions", "static a = class {", "", "}"),
  nested("class fields in class fields", "(class{a=", "1", "})"),
  nested("classes in computed keys", "class A{[", "1", "]=1}"),
  nested("heritage in heritage", "class A extends(", "B", "){}"),
  nested("generic arrows", "<T,>(a=", "1", ")=>1"),
  nested("generic calls", "f<T>(", "1", ")"),
  nested("generic types", "let a: A<".concat("B<"), "C", ">>"),
  nested("less-than chains", "a<(", "1", ")"),
  nested("type assertions", "<any>(", "1", ")"),
  nested("conditional types", "type A = B extends C ? (", "D", ") : E;"),
  nested("function types", "(a: ", "any", ") => void"),
  nested("object types", "{a:", "1", "}"),
  nested("templates in templates", "`${", "1", "}`"),
  nested("tagged templates", "f`${", "1", "}`"),
  nested("parentheses", "(", "1", ")"),
  nested("parentheses, not closed", "(", "1", ""),
  nested("brackets, not closed", "[", "1", ""),
  nested("blocks, not closed", "{", "1", ""),
  nested("arrays", "[", "1", "]"),
  nested("blocks", "{", ";", "}"),
  nested("calls in calls", "f(", "1", ")"),
  nested("functions in functions", "function f(){", "", "}"),
  nested("async arrows in arrows", "async()=>{await ", "1", "}"),
  nested("loops in loops", "for(const a in b){a.c;", "", "}"),
  nested("for…of in for…of", "for await(const a of b)", ";", ""),
  nested("ifs in ifs", "if(a)", ";", "else;"),
  nested("switches in switches", "switch(a){case 1:", "", "}"),
  nested("tries in tries", "try{", "", "}catch(e){throw 'a'}"),
  nested("labels", "a:", ";", ""),
  nested("namespaces in namespaces", "namespace A{", "", "}"),
  nested("unary operators", "!", "1", ""),
  nested("news", "new ", "A", ""),
  nested("awaits", "await ", "1", ""),
  nested("conditional chain", "a?", "1", ":1"),
  nested("exponents", "a**", "1", ""),
  nested("optional chains", "a?.[", "1", "]"),
  nested("imports in imports", "import(", "1", ")"),
  repeated("namespaces", (index) => `namespace N${index}{export const a=1}\n`),
  repeated("dotted namespaces", (index) => `namespace N${index}.B.C{export const a=1}\n`),
  repeated("enums", (index) => `enum E${index}{A=1,B}\n`),
  repeated("sums", "+1", "let v: number = 1"),
  repeated("commas", ",1", "let v: any = (1", ")"),
  repeated("holes", ",", "let v: any = [", "]"),
  repeated("numbers", "1,", "let v: any = [", "]"),
  repeated("empty objects", "{},", "let v: any = [", "]"),
  repeated("statements", "a\n"),
  repeated("semicolons", ";"),
  repeated("declarations", (index) => `let a${index.toString(36)}=1;`),
  repeated("names bound twice", "var a=1;"),
  repeated("calls that nobody awaits", "f();"),
  repeated("timers", "setTimeout(f);"),
  repeated("sorts", "a.sort();"),
  repeated("throws", "if(a)throw'a';"),
  repeated("usings", "using a=b;", "let v: number = 1;{", "}"),
  repeated("exports", (index) => `export const a${index.toString(36)}=1;`),
  repeated("imports", (index) => `import {a as a${index.toString(36)}} from "./servers/test";`, ""),
  repeated("wrong calls", "test.nope();"),
  repeated("wrong calls with types", "test.nope(1 as any);"),
  repeated("promises as values", "test.echo().a;"),
  repeated("unknown names", (index) => `test.t${index.toString(36)}();`),
  repeated("type assertions after values", " as any", "let v = 1"),
  repeated("non-null assertions", "!", "let v: any = a"),
  repeated("type parameters", (index) => `T${index.toString(36)},`, "function f<", "T>(){}"),
  repeated("union types", "|1", "type A = 1"),
  repeated("less-than signs", "<", "let v: any = a"),
  repeated("arrows without bodies", "a=>", "let v: any = "),
  repeated("opening braces of templates", "${", "let v: any = `"),
  repeated("quotes", "'", ""),
  repeated("backquotes", "`", ""),
  repeated("slashes", "/ ", typed),
  repeated("regular expressions", "/[", typed),
  repeated("comments", "/*", typed),
  repeated("line comments", "//\n", typed),
  repeated("fences", "```\n", ""),
  repeated("fences with words", "```ts\na\n", ""),
  repeated("spaces", " ", "```ts\n", "x"),
  repeated("line breaks", "\n", "```ts", "```x"),
  repeated("escapes", "\\u0061", typed),
  repeated("surrogates", "\ud800", typed),
  repeated("decorators", "@a ", typed, "class A{}"),
  repeated("JSX", "<a>", "let v = "),
  repeated("Python", "def f(a):\n", ""),
  repeated("declares", "declare const a: 1;\n"),
  repeated("interfaces", (index) => `interface I${index}{a:1}\n`),
];

const openers: readonly (readonly [string, string])[] = [
  ["(a=", ")=>1"],
  ["async(a=", ")=>1"],
  ["({a=", "}=1)"],
  ["([a=", "])=>1"],
  ["a?(b)=>(", "):1"],
  ["class{static a=", "}"],
  ["class{[", "]=1}"],
  ["<T,>(a=", ")=>1"],
  ["f<T>(", ")"],
  ["<any>(", ")"],
  ["`${", "}`"],
  ["[", "]"],
  ["(", ")"],
  ["{a:", "}"],
  ["f(", ")"],
  ["a<(", ")"],
  ["await ", ""],
  ["function(){return ", "}"],
  ["async()=>{await ", "}"],
  ["(a):b=>", ""],
  ["new ", "()"],
  ["a as ", ""],
];

const middles = ["1", "a", "", "/a/", "'a'", "<a>", "...a", "=>", "as any", "`", "#a"];

/** A random program of nested brackets, with some missing or changed. */
export function hostileProgram(random: Random, maxCharacters = 20_000): string {
  const depth = 1 + random.below(random.chance(0.5) ? 60 : 2_000);
  const kinds = Array.from({ length: 1 + random.below(4) }, () => random.pick(openers));
  let [before, after] = ["", ""];
  for (let level = 0; level < depth && before.length + after.length < maxCharacters; level++) {
    const [open, close] = random.pick(kinds);
    before += open;
    if (!random.chance(0.02)) after = close + after;
  }
  const program = `${random.chance(0.7) ? typed : ""}${before}${random.pick(middles)}${after}`;
  const cut = random.chance(0.2) ? random.below(program.length + 1) : program.length;
  return program.slice(0, cut);
}
