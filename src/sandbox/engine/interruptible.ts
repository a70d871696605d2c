/**
 * Makes a WebAssembly program stoppable. Bun 1.4 cannot end a worker whose WebAssembly code runs in a loop, and QuickJS
 * asks to be interrupted only between steps of JavaScript: `Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)`
 * would hold its thread for years. So loops get a few instructions that count down a global, and call the host when it
 * reaches 0. The host may throw there, which ends the program.
 *
 * Works on the binary format (WebAssembly core specification 2.0, chapter 5) and on what QuickJS's build contains;
 * anything it does not know is an error, so that nothing is passed over.
 */

/** Loop rounds between two calls of the host: about a millisecond. */
const fuelRounds = 200_000;

/** The name of the exported global that counts down, and after a space, of the import that is called at 0. */
const fuelExport = "fuel";

const section = { type: 1, import: 2, global: 6, export: 7, code: 10 };
const kind = { function: 0, table: 1, memory: 2, global: 3 };
const op = {
  block: 0x02,
  loop: 0x03,
  if: 0x04,
  end: 0x0b,
  call: 0x10,
  callIndirect: 0x11,
  brTable: 0x0e,
  i32Const: 0x41,
};

/** Throws if the program contains something unknown, or has no import of type `() → ()`. */
export function makeInterruptible(program: Uint8Array): Uint8Array<ArrayBuffer> {
  const sections = readSections(program);
  const body = (id: number) => sections.find((each) => each.id === id)?.bytes ?? new Uint8Array([0]);
  const imports = readImports(body(section.import), emptyFunctionTypes(body(section.type)));
  const { tick } = imports;
  if (!tick) throw new Error("the program imports no function without parameters and results");
  const fuel = imports.globals + new Reader(body(section.global)).u32();
  const check = [
    ...[0x23, ...leb(fuel), op.i32Const, 1, 0x6b, 0x24, ...leb(fuel)], // fuel -= 1
    ...[0x23, ...leb(fuel), 0x45, op.if, 0x40, op.call, ...leb(tick.index), op.end], // if fuel is 0: tick()
  ];
  const replaced: Record<number, Uint8Array> = {
    [section.global]: appended(body(section.global), [0x7f, 0x01, op.i32Const, ...signedLeb(fuelRounds), op.end]),
    [section.export]: appended(body(section.export), [
      ...name(`${fuelExport} ${tick.module} ${tick.name}`),
      kind.global,
      ...leb(fuel),
    ]),
    [section.code]: withChecks(body(section.code), check),
  };
  const parts = sections.map(({ id, bytes }) => {
    const content = replaced[id] ?? bytes;
    return Buffer.concat([Uint8Array.of(id, ...leb(content.length)), content]);
  });
  return new Uint8Array(Buffer.concat([program.subarray(0, 8), ...parts]));
}

/** The imports of a program, by module and name. */
export type Imports = Bun.WebAssembly.Imports;

/**
 * Instantiates an interruptible program. `onTick` is called within its loops, about every millisecond; what it throws ends the
 * program. The import that is used for this keeps its own function.
 */
export async function instantiateInterruptible(
  module: WebAssembly.Module,
  imports: Imports,
  onTick: () => void,
): Promise<WebAssembly.Instance> {
  const exported = WebAssembly.Module.exports(module).find((each) => each.name.startsWith(`${fuelExport} `));
  const [, from = "", importName = ""] = exported?.name.split(" ") ?? [];
  const original = imports[from]?.[importName];
  if (!exported || typeof original !== "function") throw new Error("the program was not made interruptible");
  let fuel: WebAssembly.Global<"i32"> | undefined;
  const tick = () => {
    if (fuel?.value !== 0) return original();
    fuel.value = fuelRounds;
    return onTick();
  };
  const instance = await WebAssembly.instantiate(module, {
    ...imports,
    [from]: { ...imports[from], [importName]: tick },
  });
  fuel = instance.exports[exported.name] as WebAssembly.Global<"i32">;
  return instance;
}

function readSections(program: Uint8Array): { id: number; bytes: Uint8Array }[] {
  const reader = new Reader(program, 8);
  const sections: { id: number; bytes: Uint8Array }[] = [];
  while (!reader.done) {
    const id = reader.byte();
    sections.push({ id, bytes: reader.take(reader.u32()) });
  }
  return sections;
}

/** The indexes of the types `() → ()`. */
function emptyFunctionTypes(bytes: Uint8Array): Set<number> {
  const reader = new Reader(bytes);
  const empty = new Set<number>();
  for (let index = 0, count = reader.u32(); index < count; index++) {
    if (reader.byte() !== 0x60) throw new Error("a type that is not a function type");
    const parameters = reader.take(reader.u32()).length;
    const results = reader.take(reader.u32()).length;
    if (parameters + results === 0) empty.add(index);
  }
  return empty;
}

function readImports(bytes: Uint8Array, emptyTypes: ReadonlySet<number>) {
  const reader = new Reader(bytes);
  let functions = 0;
  let globals = 0;
  let tick: { module: string; name: string; index: number } | undefined;
  for (let count = reader.u32(); count > 0; count--) {
    const [module, importName] = [reader.text(), reader.text()];
    switch (reader.byte()) {
      case kind.function:
        if (emptyTypes.has(reader.u32())) tick ??= { module, name: importName, index: functions };
        functions += 1;
        break;
      case kind.table:
        reader.byte();
        reader.limits();
        break;
      case kind.memory:
        reader.limits();
        break;
      case kind.global:
        reader.take(2);
        globals += 1;
        break;
      default:
        throw new Error("an import of an unknown kind");
    }
  }
  return { globals, tick };
}

/** Adds the check at the head of loops. The largest function is the interpreter, which checks by itself. */
function withChecks(bytes: Uint8Array, check: number[]): Uint8Array {
  const reader = new Reader(bytes);
  const bodies = Array.from({ length: reader.u32() }, () => reader.take(reader.u32()));
  const largest = Math.max(...bodies.map((each) => each.length));
  const changed = bodies.map((each) => (each.length === largest ? each : bodyWithChecks(each, check)));
  return Buffer.concat([
    Uint8Array.from(leb(bodies.length)),
    ...changed.flatMap((each) => [Uint8Array.from(leb(each.length)), each]),
  ]);
}

function bodyWithChecks(body: Uint8Array, check: number[]): Uint8Array {
  const parts: Uint8Array[] = [];
  let copied = 0;
  for (const at of longLoops(body)) {
    parts.push(body.subarray(copied, at), Uint8Array.from(check));
    copied = at;
  }
  return Buffer.concat([...parts, body.subarray(copied)]);
}

/**
 * Finds the loops that may run long: those with a call or an inner loop, and those that compare texts, since a search compares
 * megabytes again and again. Other loops go over memory, which is finite, and a check would slow them most.
 */
function longLoops(body: Uint8Array): number[] {
  const reader = new Reader(body);
  for (let groups = reader.u32(); groups > 0; groups--) {
    reader.u32();
    reader.byte();
  }
  const found: number[] = [];
  const open: { loopAt: number | undefined; long: boolean; characters: number; stores: boolean }[] = [];
  const opened = (loopAt?: number) => ({ loopAt, long: false, characters: 0, stores: false });
  while (!reader.done) {
    const opcode = skipInstruction(reader);
    const inner = open.at(-1);
    if (opcode === op.block || opcode === op.if) open.push(opened());
    else if (opcode === op.loop) open.push(opened(reader.at));
    else if (isCharacterLoad(opcode) && inner) inner.characters += 1;
    else if (isStore(opcode) && inner) inner.stores = true;
    else if ((opcode === op.call || opcode === op.callIndirect) && inner) inner.long = true;
    else if (opcode === op.end) {
      open.pop();
      const outer = open.at(-1);
      if (inner?.loopAt !== undefined && (inner.long || comparesTexts(inner))) found.push(inner.loopAt);
      if (outer && inner && (inner.long || inner.loopAt !== undefined)) outer.long = true;
      if (outer && inner) {
        outer.characters += inner.characters;
        outer.stores ||= inner.stores;
      }
    }
  }
  return found.sort((first, second) => first - second);
}

/** Whether a loop reads characters of two texts, of one or two bytes each, and writes nothing. */
function comparesTexts({ characters, stores }: { characters: number; stores: boolean }): boolean {
  return characters >= 2 && !stores;
}

/** Instructions that load one or two bytes into 32 bits. */
function isCharacterLoad(opcode: number): boolean {
  return opcode >= 0x2c && opcode <= 0x2f;
}

function isStore(opcode: number): boolean {
  return opcode >= 0x36 && opcode <= 0x3e;
}

/** Reads one instruction with its immediates and returns its opcode. */
function skipInstruction(reader: Reader): number {
  const opcode = reader.byte();
  if (opcode === op.block || opcode === op.loop || opcode === op.if || opcode === op.i32Const || opcode === 0x42) {
    reader.leb(); // A block type is a signed number as well.
  } else if (opcode === 0x0c || opcode === 0x0d || opcode === op.call || (opcode >= 0x20 && opcode <= 0x26)) {
    reader.leb();
  } else if (opcode === op.brTable) {
    for (let count = reader.u32() + 1; count > 0; count--) reader.leb();
  } else if (opcode === op.callIndirect || (opcode >= 0x28 && opcode <= 0x3e)) {
    reader.leb();
    reader.leb();
  } else if (opcode === 0x3f || opcode === 0x40) {
    reader.byte();
  } else if (opcode === 0x43) {
    reader.take(4);
  } else if (opcode === 0x44) {
    reader.take(8);
  } else if (opcode === 0xfc) {
    skipExtended(reader, reader.u32());
  } else if (!withoutImmediates(opcode)) {
    throw new Error(`an unknown instruction: 0x${opcode.toString(16)}`);
  }
  return opcode;
}

/** Saturating truncations have no immediates; memory.copy has two, memory.fill one. */
function skipExtended(reader: Reader, opcode: number): void {
  if (opcode <= 7) return;
  if (opcode === 10) reader.take(2);
  else if (opcode === 11) reader.take(1);
  else throw new Error(`an unknown instruction: 0xfc ${opcode}`);
}

function withoutImmediates(opcode: number): boolean {
  return [0x00, 0x01, 0x05, op.end, 0x0f, 0x1a, 0x1b].includes(opcode) || (opcode >= 0x45 && opcode <= 0xc4);
}

/** Appends an element to a vector. */
function appended(vector: Uint8Array, element: number[]): Uint8Array {
  const reader = new Reader(vector);
  const count = reader.u32();
  return Buffer.concat([Uint8Array.from(leb(count + 1)), vector.subarray(reader.at), Uint8Array.from(element)]);
}

function name(text: string): number[] {
  const bytes = new TextEncoder().encode(text);
  return [...leb(bytes.length), ...bytes];
}

function leb(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return [...bytes, rest];
    bytes.push((rest & 0x7f) | 0x80);
  }
}

function signedLeb(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7) {
    const byte = rest & 0x7f;
    if (rest >= -64 && rest < 64) return [...bytes, byte];
    bytes.push(byte | 0x80);
  }
}

class Reader {
  at: number;
  readonly #bytes: Uint8Array;
  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  get done(): boolean {
    return this.at >= this.#bytes.length;
  }

  byte(): number {
    const byte = this.#bytes[this.at++];
    if (byte === undefined) throw new Error("the program ends in the middle");
    return byte;
  }

  take(length: number): Uint8Array {
    this.at += length;
    if (this.at > this.#bytes.length) throw new Error("the program ends in the middle");
    return this.#bytes.subarray(this.at - length, this.at);
  }

  /** Skips a number of any size. */
  leb(): void {
    while (this.byte() >= 0x80);
  }

  u32(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }

  text(): string {
    return new TextDecoder().decode(this.take(this.u32()));
  }

  limits(): void {
    const flags = this.byte();
    this.u32();
    if (flags & 1) this.u32();
  }
}
