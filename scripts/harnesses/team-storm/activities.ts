/** What people of the storm do. */
import { type Person, WrongAnswer } from "./person.ts";

/** An execution with calls of several servers at once. */
export async function execute(person: Person): Promise<void> {
  const { oracle, random } = person;
  const [act, look] = [person.key(), person.key({ isRepeatable: true })];
  const [near, tag] = [person.nearKey(), person.text()];
  const calls = [
    `far.act({ key: "${act}", ms: ${random.below(20)} })`,
    `far.look({ key: "${look}" })`,
    `near.act({ id: ${near}, ms: ${random.below(20)} })`,
  ];
  const isQa = person.door === "qa";
  if (isQa) calls.push(`desk.who({ tag: "${tag}", ms: ${random.below(20)} })`);
  const value = "[a.key, b.key, c.id, d?.who, d?.tag].join(' ')";
  const code = `const [a, b, c, d] = await Promise.all([${calls.join(", ")}]); return ${value}`;
  const onprogress = random.chance(0.3) ? { onprogress: () => oracle.did("notification of progress") } : {};
  const begun = performance.now();
  await person.attempt("execution", async () => {
    const text = await person.execute(code, onprogress);
    oracle.times.push(performance.now() - begun);
    const expected = [act, look, near, ...(isQa ? [person.subject, tag] : ["", ""])].join(" ");
    if (text.trim() !== expected.trim()) throw new WrongAnswer(`${expected} was expected, and there came ${text}`);
    for (const key of [act, look, String(near)]) oracle.isCertain(key, "answered");
  });
}

/** Writes a file of the workspace and reads another one, which any replica may have written. */
export async function useFiles(person: Person): Promise<void> {
  const { random, files } = person;
  const name = `file-${random.below(4)}.txt`;
  const text = person.text();
  const read = files.size > 0 && random.chance(0.7) ? random.pick([...files.keys()]) : undefined;
  const old = read === undefined ? '"none"' : `await fs.readFile("./workspace/${read}", "utf8")`;
  const known = new Set(read === undefined ? ["none"] : files.get(read));
  const before = files.get(name) ?? new Set([""]);
  // Until the answer is there, the file may have either text.
  files.set(name, new Set([...before, text]));
  const code = `const old = ${old}; await fs.writeFile("./workspace/${name}", "${text}"); return old`;
  await person.attempt("files", async () => {
    const { text: found, isError } = await person.run(code);
    // Nobody knows whether the file was written before.
    if (isError && known.has("") && found.includes("ENOENT")) return;
    if (isError) throw new WrongAnswer(found);
    if (!known.has(found)) throw new WrongAnswer(`one of ${[...known].join(", ")} was expected in ${read}: ${found}`);
    files.set(name, new Set([text]));
  });
}

/** A server asks the person a question in the middle of a program. */
export async function beAsked(person: Person): Promise<void> {
  const mark = person.text();
  const form = {
    method: "elicitation/create",
    params: { message: mark, requestedSchema: { type: "object", properties: { mark: { type: "string" } } } },
  };
  person.answer = mark;
  await person.attempt("question", async () => {
    const key = person.key();
    const code = `const { key } = await far.act({ key: "${key}" });
      const answer = await asker.ask(${JSON.stringify(form)});
      if (answer.error) throw new Error("the question was not answered: " + JSON.stringify(answer.error));
      return [key, answer.result.content.mark].join(" ")`;
    const text = await person.execute(code);
    if (text !== `${key} ${mark}`) throw new WrongAnswer(`${key} ${mark} was expected, and there came ${text}`);
    person.oracle.isCertain(key, "answered");
  });
}

/** Uses the server at which each person has tokens of the person's own. The first time, it asks for a sign-in. */
export async function useOwn(person: Person): Promise<void> {
  await person.attempt("own credentials", async () => {
    const text = await person.execute("return (await own.who({})).who");
    if (text !== person.subject) throw new WrongAnswer(`p${person.number} is ${text} at the server own`);
  });
}

/** Cancels a call, or disconnects during it. */
export async function cancel(person: Person, drops: boolean): Promise<void> {
  const key = person.key();
  const cancelling = new AbortController();
  await person.attempt(drops ? "disconnected" : "cancelled", async () => {
    const code = `return (await far.wait({ key: "${key}", ms: 60_000 })).key`;
    const running = person.execute(code, { signal: cancelling.signal });
    const end = running.then(
      (text) => text,
      (error: unknown) => error,
    );
    await Promise.race([end, Bun.sleep(50 + person.random.below(600))]);
    if (drops) await person.leave(true);
    else cancelling.abort("the person has changed their mind");
    const ended = await Promise.race([end, Bun.sleep(10_000).then(() => "nothing")]);
    if (ended === key) throw new WrongAnswer(`an answer to what was cancelled: ${ended}`);
  });
}

/** Looks at the page: the person's own executions, and the trace of one of them. */
export async function visitPage(person: Person): Promise<void> {
  const { hosts, site, oracle, number } = person;
  const { origin } = site.balancer;
  await person.attempt("page", async () => {
    const { status, text } = await hosts.browse(`${origin}/ui/`, person.cookies, person.subject);
    if (status !== 200) throw Object.assign(new Error(`the page answers ${status}: ${text}`), { status });
    const get = async (path: string) => {
      const cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const response = await fetch(`${origin}/ui/${path}`, { headers: { cookie, "sec-fetch-site": "same-origin" } });
      const text = await response.text();
      oracle.got(number, text);
      return { status: response.status, text };
    };
    const state = await get("api/state");
    if (state.status !== 200)
      throw Object.assign(new Error(`the page answers ${state.status}: ${state.text}`), { status: state.status });
    const { executions } = JSON.parse(state.text) as { executions: { id: string }[] };
    for (const { id } of executions) {
      const of = oracle.executions.get(id);
      if (of !== undefined && of !== number) oracle.fail(`the page shows p${number} an execution of p${of}`, id);
    }
    if (executions.length > 0) await get(`trace/${person.random.pick(executions).id}`);
    const other = await otherExecution(person);
    if (other !== undefined) {
      const { status } = await get(`trace/${other}`);
      if (status === 200) oracle.fail("the page shows the trace of an execution of somebody else", other);
    }
    if (person.random.chance(0.3)) person.cookies = new Map();
  });
}

/** Asks for an execution of somebody else. */
export async function intrude(person: Person): Promise<void> {
  const other = await otherExecution(person);
  if (other === undefined) return;
  await person.attempt("intruded", async () => {
    const { text, isError } = await person.ask({ resume: other });
    if (!isError) person.oracle.fail("somebody could follow an execution of somebody else", `${other}: ${text}`);
    else if (!/no execution|EXECUTION_NOT_FOUND/i.test(text)) throw new WrongAnswer(text);
  });
}

async function otherExecution({ oracle, number, random }: Person): Promise<string | undefined> {
  const others = [...oracle.executions].filter(([, of]) => of !== number);
  return others.length === 0 ? undefined : random.pick(others)[0];
}
