/** Pasted addresses: complete ones in any form, and the problems of other texts. */
import { expect, test } from "bun:test";
import { redirectIn } from "../../../src/setup/sign-in/sign-in.ts";

const back = new URL("http://127.0.0.1:4242/callback");
const to = new URL("https://login.example/authorize?client_id=x");
const read = (text: string) => redirectIn(text, { back, to });

const whole = "http://127.0.0.1:4242/callback?code=a.b-c%2B&state=xyz&iss=https%3A%2F%2Flogin.example";

test.each([
  whole,
  `  ${whole}\t\r`,
  `"${whole}"`,
  `'${whole}'`,
  ` “${whole}” `,
  `<${whole}>`,
  `\`${whole}\``,
  whole.slice("http://".length),
  whole.slice(whole.indexOf("?")),
  whole.slice(whole.indexOf("?") + 1),
  whole.replace("127.0.0.1", "localhost"),
  `${whole}#`,
])("a complete address is accepted: %s", (text) => {
  const pasted = read(text);
  if ("problem" in pasted) throw new Error(pasted.problem);
  expect(Object.fromEntries(pasted.redirect.searchParams)).toEqual({
    code: "a.b-c+",
    state: "xyz",
    iss: "https://login.example",
  });
});

test("an address with an error is accepted", () => {
  expect(read("http://127.0.0.1:4242/callback?error=access_denied&state=xyz")).toHaveProperty("redirect");
});

test("other texts are refused with the next step", () => {
  const texts = [
    "SplxlOBeZQQYbYS6WxSbIA",
    "4/0AeanS0a.b:c",
    "yes",
    "http://",
    "javascript:alert(1)",
    "file:///callback?code=a&state=b",
    to.href,
    "https://login.example/done?code=a&state=b",
    "http://127.0.0.1:4243/callback?code=a&state=b",
    "http://127.0.0.1.attacker.example:4242/callback?code=a&state=b",
    "http://127.0.0.1:4242/callback",
    "http://127.0.0.1:4242/callback?code=a",
    "?state=b",
    `${whole} ${whole}`,
  ];
  const said = texts.map((text) => {
    const pasted = read(text);
    return `${text}\n  ${"problem" in pasted ? pasted.problem : `TAKEN ${pasted.redirect}`}`;
  });
  expect(said.join("\n")).toMatchInlineSnapshot(`
    "SplxlOBeZQQYbYS6WxSbIA
      A code alone is not enough: the "state" next to it ties it to this sign-in. Paste the full address that the browser shows after the sign-in; it starts with http://127.0.0.1:4242/callback
    4/0AeanS0a.b:c
      That is not an address. Paste the full address that the browser shows after the sign-in; it starts with http://127.0.0.1:4242/callback
    yes
      That is not an address. Paste the full address that the browser shows after the sign-in; it starts with http://127.0.0.1:4242/callback
    http://
      That is not an address. Paste the full address that the browser shows after the sign-in; it starts with http://127.0.0.1:4242/callback
    javascript:alert(1)
      That is not an address. Paste the full address that the browser shows after the sign-in; it starts with http://127.0.0.1:4242/callback
    file:///callback?code=a&state=b
      That is not an address. Paste the full address that the browser shows after the sign-in; it starts with http://127.0.0.1:4242/callback
    https://login.example/authorize?client_id=x
      That is the address where the sign-in starts. Paste the full address that the browser shows after the sign-in; it starts with http://127.0.0.1:4242/callback
    https://login.example/done?code=a&state=b
      That is a different address. Paste the full address that the browser shows after the sign-in; it starts with http://127.0.0.1:4242/callback
    http://127.0.0.1:4243/callback?code=a&state=b
      That is a different address. Paste the full address that the browser shows after the sign-in; it starts with http://127.0.0.1:4242/callback
    http://127.0.0.1.attacker.example:4242/callback?code=a&state=b
      That is a different address. Paste the full address that the browser shows after the sign-in; it starts with http://127.0.0.1:4242/callback
    http://127.0.0.1:4242/callback
      It has no "code": perhaps only part of it was copied. Paste the full address that the browser shows after the sign-in; it starts with http://127.0.0.1:4242/callback
    http://127.0.0.1:4242/callback?code=a
      It has no "state": perhaps only part of it was copied. Paste the full address that the browser shows after the sign-in; it starts with http://127.0.0.1:4242/callback
    ?state=b
      It has no "code": perhaps only part of it was copied. Paste the full address that the browser shows after the sign-in; it starts with http://127.0.0.1:4242/callback
    http://127.0.0.1:4242/callback?code=a.b-c%2B&state=xyz&iss=https%3A%2F%2Flogin.example http://127.0.0.1:4242/callback?code=a.b-c%2B&state=xyz&iss=https%3A%2F%2Flogin.example
      That is not an address. Paste the full address that the browser shows after the sign-in; it starts with http://127.0.0.1:4242/callback"
  `);
});
