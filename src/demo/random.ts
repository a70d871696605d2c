/** Pseudorandom numbers. The same seed gives the same sequence on every machine. */

export interface Random {
  /** Returns a whole number from `min` to `max`, both included. */
  int(min: number, max: number): number;
  /** Returns true with the probability `share`, from 0 to 1. */
  chance(share: number): boolean;
  /** Returns an item of a list that is not empty. */
  pick<T>(list: readonly T[]): T;
  /** Returns one of the keys, with a probability in proportion to its weight. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K;
}

/** The generator mulberry32. It has 32 bits of state and uses only integer arithmetic, so no platform rounds differently. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    int,
    chance: (share) => next() < share,
    pick: (list) => list[int(0, list.length - 1)]!,
    weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
      const keys = Object.keys(weights) as K[];
      let rest = next() * keys.reduce((sum, key) => sum + weights[key], 0);
      for (const key of keys) {
        rest -= weights[key];
        if (rest < 0) return key;
      }
      return keys[keys.length - 1]!;
    },
  };
}
