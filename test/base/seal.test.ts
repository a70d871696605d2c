/** Values that others keep for us: nobody can read, change or make one, and each opens for its purpose and for some time. */
import { expect, test } from "bun:test";
import { ownKey, SealedValues } from "../../src/base/seal.ts";

const value = { verifier: "a-secret-of-the-sign-in", to: "connect/qa/desk" };

test("a sealed value shows nothing, opens with the same key, and is another text each time", () => {
  const key = ownKey();
  const [one, other] = [new SealedValues(key, "sign-ins", 60_000), new SealedValues(key, "sign-ins", 60_000)];
  const sealed = one.seal(value, "state");
  const decoded = sealed.split(".").map((part) => Buffer.from(part, "base64url").toString("latin1"));
  for (const text of [sealed, ...decoded]) expect(text).not.toMatch(/secret|connect|desk|endsAt/);
  expect(other.open(sealed, "state")).toEqual(value);
  expect(one.seal(value, "state")).not.toBe(sealed);
});

test("a sealed value does not open for another key, purpose or subject, changed, or as another text", () => {
  const key = ownKey();
  const values = new SealedValues(key, "sign-ins", 60_000);
  const sealed = values.seal(value, "state");
  expect(new SealedValues(ownKey(), "sign-ins", 60_000).open(sealed, "state")).toBeUndefined();
  expect(new SealedValues(key, "request states", 60_000).open(sealed, "state")).toBeUndefined();
  for (const about of ["", "State", "state ", "other"]) expect(values.open(sealed, about)).toBeUndefined();
  for (let place = 0; place < sealed.length; place += 1) {
    const other = sealed[place] === "A" ? "B" : "A";
    const changed = sealed.slice(0, place) + other + sealed.slice(place + 1);
    expect(values.open(changed, "state")).toBeUndefined();
  }
  for (const text of [
    "",
    ".",
    "..",
    "a.b.c",
    "x".repeat(100_000),
    `${sealed}x`,
    `${sealed}=`,
    `${sealed}.`,
    ` ${sealed}`,
    `${sealed}${"A".repeat(9_000)}`,
  ]) {
    expect(values.open(text, "state")).toBeUndefined();
  }
});

test("a sealed value opens until its time is over", async () => {
  const values = new SealedValues<string>(ownKey(), "sign-ins", 50);
  const sealed = values.seal("now");
  expect(values.open(sealed)).toBe("now");
  await Bun.sleep(60);
  expect(values.open(sealed)).toBeUndefined();
});
