/**
 * Adds the instructions to a WebAssembly program that make it interruptible (see `interruptible.ts`). Works on the binary format
 * (WebAssembly core specification 2.0, chapter 5). An unknown instruction is an error, so that no loop is missed. The build runs this, and
 * so does a start from source.
 */
import { BinaryReader, type IImportEntry, type IOperatorInformation, type ITypeEntry } from "wasmparser";
import { fuelRounds } from "../limits.ts";
import { fuelExport } from "./interruptible.ts";

const section = { global: 6, export: 7, code: 10 };
const op = { block: 0x02, loop: 0x03, if: 0x04, end: 0x0b, call: 0x10, callIndirect: 0x11 };
const globalKind = 3;

/** The states of `BinaryReader` after each read. The package declares these numbers for TypeScript compilers only. */
export const state = {
  error: -1,
  end: 2,
  beginSection: 3,
  endSection: 4,
  type: 11,
  import: 12,
  beginFunction: 28,
  operator: 30,
  endFunction: 31,
  beginGlobal: 39,
};

/** Throws if the program contains something unknown, or has no import of type `() → ()`. */
export function makeInterruptible(program: Uint8Array): Uint8Array<ArrayBuffer> {
  const { sections, bodies, globals: fuel, tick } = readProgram(program.slice());
  if (!tick) throw new Error("the program imports no function without parameters and results");
  const check = [
    ...[0x23, ...leb(fuel), 0x41, 1, 0x6b, 0x24, ...leb(fuel)], // fuel -= 1
    ...[0x23, ...leb(fuel), 0x45, op.if, 0x40, op.call, ...leb(tick.index), op.end], // if fuel is 0: tick()
  ];
  const initialFuel = [0x7f, 0x01, 0x41, ...signedLeb(fuelRounds), op.end];
  const exported = [...sized(Buffer.from(`${fuelExport} ${tick.name}`)), globalKind, ...leb(fuel)];
  // The largest function is the interpreter, which checks by itself.
  const largest = Math.max(...bodies.map(({ bytes }) => bytes.length));
  const checked = bodies.map(({ bytes, loops }) => {
    return sized(bytes.length === largest ? bytes : withInsertions(bytes, loops, check));
  });
  const parts = sections.map(({ id, bytes }) => {
    const isChanged = id === section.global || id === section.export;
    const content = isChanged ? appended(bytes, id === section.global ? initialFuel : exported) : bytes;
    return [
      Uint8Array.of(id),
      sized(id === section.code ? Buffer.concat([Buffer.from(leb(bodies.length)), ...checked]) : content),
    ];
  });
  return new Uint8Array(Buffer.concat([program.subarray(0, 8), ...parts.flat()]));
}

interface Body {
  /** Without its size. */
  bytes: Uint8Array;
  /** Offsets in it: the heads of the loops that need a check. */
  loops: number[];
}

function readProgram(program: Uint8Array<ArrayBuffer>) {
  const reader = new BinaryReader();
  reader.setData(program.buffer, 0, program.length);
  const sections: { id: number; bytes: Uint8Array }[] = [];
  const bodies: Body[] = [];
  const types: ITypeEntry[] = [];
  let globals = 0;
  let functionImports = 0;
  let tick: { name: string; index: number } | undefined;
  let sectionStart = 0;
  let bodyStart = 0;
  let loops = new LongLoops();
  for (;;) {
    const before = reader.position;
    if (!reader.read()) throw new Error("the program ends in the middle");
    switch (reader.state as number) {
      case state.error:
        throw reader.error;
      case state.end:
        return { sections, bodies, globals, tick };
      case state.beginSection:
        sectionStart = reader.position;
        sections.push({ id: (reader.result as { id: number }).id, bytes: program.subarray(sectionStart) });
        break;
      case state.endSection:
        sections.at(-1)!.bytes = program.subarray(sectionStart, reader.position);
        break;
      case state.type:
        types.push(reader.result as ITypeEntry);
        break;
      case state.import: {
        const { module, field, kind, funcTypeIndex } = reader.result as IImportEntry;
        if ((kind as number) === globalKind) globals += 1;
        if (funcTypeIndex === undefined) break;
        const type = types[funcTypeIndex];
        const name = `${Buffer.from(module)} ${Buffer.from(field)}`;
        if (type?.params?.length === 0 && type.returns?.length === 0) tick ??= { name, index: functionImports };
        functionImports += 1;
        break;
      }
      case state.beginGlobal:
        globals += 1;
        break;
      case state.beginFunction:
        // Before the first function is their number, and before each one its size.
        bodyStart = afterLeb(program, before === sectionStart ? afterLeb(program, before) : before);
        loops = new LongLoops();
        break;
      case state.operator:
        loops.add((reader.result as IOperatorInformation).code, reader.position - bodyStart);
        break;
      case state.endFunction:
        bodies.push({ bytes: program.subarray(bodyStart, reader.position), loops: loops.found });
    }
  }
}

/**
 * Finds the loops that may run long: loops with a call or an inner loop, and loops that compare texts, since a search compares
 * megabytes again and again. Other loops go over memory, which is finite, and a check would slow them most.
 */
class LongLoops {
  readonly found: number[] = [];
  readonly #open: { loopAt: number | undefined; long: boolean; characters: number; stores: boolean }[] = [];

  /** `end` is the offset after the instruction. */
  add(opcode: number, end: number): void {
    const inner = this.#open.at(-1);
    if (opcode === op.block || opcode === op.if || opcode === op.loop) {
      const loopAt = opcode === op.loop ? end : undefined;
      this.#open.push({ loopAt, long: false, characters: 0, stores: false });
    } else if (!inner) return;
    else if (opcode === op.call || opcode === op.callIndirect) inner.long = true;
    // Instructions that load one or two bytes into 32 bits, and all that store.
    else if (opcode >= 0x2c && opcode <= 0x2f) inner.characters += 1;
    else if (opcode >= 0x36 && opcode <= 0x3e) inner.stores = true;
    else if (opcode === op.end) this.#close();
  }

  #close(): void {
    const inner = this.#open.pop()!;
    const outer = this.#open.at(-1);
    // Characters of two texts, of one or two bytes each, and nothing is written.
    const comparesTexts = inner.characters >= 2 && !inner.stores;
    if (inner.loopAt !== undefined && (inner.long || comparesTexts)) this.found.push(inner.loopAt);
    if (!outer) return;
    outer.long ||= inner.long || inner.loopAt !== undefined;
    outer.characters += inner.characters;
    outer.stores ||= inner.stores;
  }
}

function withInsertions(bytes: Uint8Array, places: readonly number[], inserted: number[]): Uint8Array {
  const at = places.toSorted((first, second) => first - second);
  const parts = [...at, bytes.length].map((end, index) => bytes.subarray(at[index - 1] ?? 0, end));
  return Buffer.concat(parts.flatMap((part, index) => (index === 0 ? [part] : [Buffer.from(inserted), part])));
}

/** A vector with one more element. */
function appended(vector: Uint8Array, element: number[]): Uint8Array {
  const start = afterLeb(vector, 0);
  const count = vector.subarray(0, start).reduceRight((sum, byte) => sum * 128 + (byte & 0x7f), 0);
  return Buffer.concat([Buffer.from(leb(count + 1)), vector.subarray(start), Buffer.from(element)]);
}

/** The bytes after their number. */
function sized(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(leb(bytes.length)), bytes]);
}

/** The offset after a number. */
function afterLeb(bytes: Uint8Array, at: number): number {
  let end = at;
  while (bytes[end]! >= 0x80) end += 1;
  return end + 1;
}

function leb(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >>> 7)];
}

function signedLeb(value: number): number[] {
  const isLast = value >= -64 && value < 64;
  return isLast ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signedLeb(value >> 7)];
}
