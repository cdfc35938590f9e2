import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type RunnerTestCase, TestRunner, type TestTryOptions } from 'vitest';
import { aliveOf, type Entry, entriesOf, note } from './journal.ts';

/** What the tests of the next files are repeated for. Without it, each test runs one time. */
export interface Order {
  readonly ids: readonly number[];
  /** No further test runs for a mutant after this time. */
  readonly maxSeconds: number;
}

const copy = path.resolve(import.meta.dirname, '../..');
const [switched, reached, journal, order] = ['switch', 'reached', 'journal', 'order'].map((each) =>
  path.join(copy, each),
) as [string, string, string, string];

/** Messages of failures that an overloaded machine can cause too. */
const overload = /timed? ?out|timeout|ECONN|EPIPE|socket|fetch failed|SERVICE_UNAVAILABLE|UNAVAILABLE|\b50[34]\b/i;

/** Switches a mutant or a recording on: for this process, which need not read the file, and for others. */
const choose = (text: string): void => {
  writeFileSync(switched, text);
  Object.assign(globalThis, { __chosen: text });
};

/** Switches a recording on and returns the mutants that the one before it has reached. */
const record = (): readonly number[] => {
  const lines = readFileSync(reached, 'utf8').split('\n');
  writeFileSync(reached, '');
  // Each process compares this with the recording before.
  choose(`R${String((process.hrtime.bigint() / 1000n) % 10_000_000n).padStart(7)}`);
  return [...new Set(lines.filter((line) => line !== '').map(Number))];
};

/**
 * Runs each test on the unchanged code, and then with each mutant that this run reached and no test has killed. After a
 * failure the test has to pass on the unchanged code, or the failure does not count. So a file loads its modules one
 * time for all mutants.
 */
export default class Repeating extends TestRunner {
  #alive = new Map<number, number>();
  #maxSeconds = 0;
  #isActive = false;
  #isGivenUp = false;
  #outside = new Set<number>();
  #queue: number[] = [];
  #now: 'first' | 'control' | number = 'first';
  #suspect: { readonly id: number; readonly message: string; readonly isSecond: boolean } | undefined;
  #begin = 0;
  #usual = 0;

  #note(test: RunnerTestCase, state: Entry['state'], id: number, rest: Partial<Entry> = {}): void {
    note(journal, { state, file: test.file.name, id, test: test.fullTestName, ...rest });
  }

  onBeforeCollect(): void {
    this.#isActive = existsSync(order);
    if (!this.#isActive) return;
    const { ids, maxSeconds } = JSON.parse(readFileSync(order, 'utf8')) as Order;
    this.#alive = aliveOf(entriesOf(journal), ids);
    this.#maxSeconds = maxSeconds;
    this.#isGivenUp = this.#alive.size === 0;
    this.#outside = new Set();
    record();
  }

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    await super.onBeforeRunTask(test);
    if (!this.#isActive) return;
    if (this.#isGivenUp) test.mode = 'skip';
    test.repeats = Number.POSITIVE_INFINITY;
    this.#now = 'first';
    this.#suspect = undefined;
    for (const id of record()) this.#outside.add(id);
  }

  override onBeforeTryTask(test: RunnerTestCase, options: TestTryOptions): void {
    super.onBeforeTryTask(test, options);
    if (!this.#isActive) return;
    if (typeof this.#now === 'number') this.#note(test, 'begun', this.#now);
    if (this.#now !== 'first') choose(String(typeof this.#now === 'number' ? this.#now : '').padStart(8));
    this.#begin = performance.now();
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    const run = Promise.resolve(TestRunner.getTestFn(test)());
    if (!this.#isActive || typeof this.#now !== 'number') return await run;
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => {
          // What is still running would disturb the tests after it.
          this.#isGivenUp = true;
          reject(new Error('no end'));
        },
        20_000 + 8000 * this.#usual,
      );
    });
    await Promise.race([run, limit]).finally(() => clearTimeout(timer));
  }

  override async onAfterRetryTask(test: RunnerTestCase, options: TestTryOptions): Promise<void> {
    await super.onAfterRetryTask(test, options);
    if (!this.#isActive || !test.result) return;
    const failed = test.result.state === 'fail';
    const message = test.result.errors?.[0]?.message.split('\n', 1)[0] ?? '';
    test.result.errors = [];
    test.result.state = 'pass';
    const next = this.#next(test, failed ? message : undefined, (performance.now() - this.#begin) / 1000);
    if (next !== undefined) this.#now = next;
    else {
      // This ends the repetitions.
      test.result.state = 'skip';
      record();
    }
  }

  /** What the test runs with next, after it ran with `#now`. */
  #next(test: RunnerTestCase, failed: string | undefined, seconds: number): 'control' | number | undefined {
    if (this.#now === 'first') {
      if (failed !== undefined) return void this.#note(test, 'broken', 0, { message: failed });
      this.#usual = seconds;
      this.#queue = record().filter(
        (id) => (this.#alive.get(id) ?? Number.POSITIVE_INFINITY) + seconds < this.#maxSeconds,
      );
    } else if (typeof this.#now === 'number') {
      const id = this.#now;
      this.#alive.set(id, (this.#alive.get(id) ?? 0) + seconds);
      if (this.#isGivenUp) return void this.#note(test, 'timeout', id, { seconds });
      if (failed !== undefined) {
        this.#suspect = { id, message: failed, isSecond: this.#suspect?.id === id };
        return 'control';
      }
      this.#note(test, 'passed', id, { seconds });
    } else if (this.#suspect) {
      const { id, message, isSecond } = this.#suspect;
      if (failed !== undefined) {
        for (const each of [id, ...this.#queue]) this.#note(test, 'unsure', each, { message: failed });
        return undefined;
      }
      if (overload.test(message) && !isSecond) return id;
      this.#note(test, 'killed', id, { message });
      this.#alive.delete(id);
    }
    return this.#queue.shift();
  }

  override onAfterRunFiles(files: Parameters<TestRunner['onAfterRunFiles']>[0]): void {
    super.onAfterRunFiles(files);
    if (!this.#isActive) return;
    for (const id of record()) this.#outside.add(id);
    const file = files[0]?.name ?? '';
    for (const id of this.#outside) if (this.#alive.has(id)) note(journal, { state: 'outside', file, id });
    if (!this.#isGivenUp || this.#alive.size === 0) note(journal, { state: 'done', file, id: 0 });
    choose(' '.repeat(8));
  }
}
