import { appendFileSync, readFileSync } from 'node:fs';

/** What happened to a mutant, or to a test file, in the order of the run. */
export interface Entry {
  /**
   * `begun`, then `passed`, `killed` or `timeout`: a test ran with the mutant on. `unsure`: the test then also failed
   * without it. `outside`: the file reaches the mutant outside of its tests. `broken`: a test fails on unchanged code.
   * `done`: the end of a file.
   */
  readonly state: 'begun' | 'passed' | 'killed' | 'timeout' | 'unsure' | 'outside' | 'broken' | 'done';
  readonly file: string;
  /** 0 for entries about a file or a test. */
  readonly id: number;
  readonly test?: string;
  readonly seconds?: number;
  readonly message?: string;
}

export const note = (journal: string, entry: Entry): void => appendFileSync(journal, `${JSON.stringify(entry)}\n`);

/** The entries so far; a line that is being written is left out. */
export const entriesOf = (journal: string): readonly Entry[] =>
  readFileSync(journal, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Entry);

/** The seconds that tests spent on each mutant of `ids` that no test has killed. */
export const aliveOf = (entries: readonly Entry[], ids: readonly number[]): Map<number, number> => {
  const alive = new Map(ids.map((id) => [id, 0]));
  for (const { id, state, seconds = 0 } of entries) {
    if (state === 'killed' || state === 'timeout') alive.delete(id);
    const spent = alive.get(id);
    if (spent !== undefined) alive.set(id, spent + seconds);
  }
  return alive;
};
