/** Every text of a person of the storm has the person's mark, so that each text that somebody gets can be searched for marks of others. */

/** A new text of the person, which no other one equals or begins with. */
export type NewText = () => string;

export function textsOf(person: number): NewText {
  let last = 0;
  return () => {
    last += 1;
    return `of-p${person}-${String(last).padStart(6, "0")}`;
  };
}

const mark = /\bof-p(\d+)-/g;

/** The people whose marks are in the text. */
export function peopleIn(text: string): Set<number> {
  return new Set(Array.from(text.matchAll(mark), ([, person]) => Number(person)));
}

/** Access tokens and ID tokens of the storm are JWTs. */
const token = /eyJ[\w-]{8,}\.eyJ[\w-]{8,}/;

export const hasToken = (text: string) => token.test(text);

/** A mark or the beginning of a token may lie across two parts of a stream. */
const carriedChars = 2_000;

/** Passes a stream on, and shows its text to `look`, with an overlap between parts. */
export function watched(stream: ReadableStream<Uint8Array>, look: (text: string) => void): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder();
  let carried = "";
  return stream.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        carried += decoder.decode(chunk, { stream: true });
        look(carried);
        carried = carried.slice(-carriedChars);
        controller.enqueue(chunk);
      },
    }),
  );
}
