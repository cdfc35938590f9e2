import { createHash } from 'node:crypto';

/** Returns whole numbers from 0 to `below` - 1, the same sequence for the same seed. */
export type Random = (below: number) => number;

export const seededRandom = (seed: string): Random => {
  let drawn = 0;
  return (below) => {
    drawn += 1;
    return createHash('sha256').update(`${seed} ${drawn}`).digest().readUInt32LE() % below;
  };
};

export const pick = <T>(random: Random, values: readonly T[]): T => values[random(values.length)] as T;
