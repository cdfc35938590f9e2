import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { jobs } from '../../../functions/jobs/jobs.ts';
import { clock } from '../../../shared/core/clock.ts';
import { refuseWhatIsBroken } from '../../support/faults/broken.ts';
import { killAfter } from '../../support/faults/killed.ts';
import { deliveries } from '../../support/fixtures/due-work/deliveries.ts';
import type { Due, DueWork } from '../../support/fixtures/due-work/due-work.ts';
import { effects } from '../../support/fixtures/due-work/effects.ts';
import { pages } from '../../support/fixtures/due-work/files.ts';
import { queued } from '../../support/fixtures/due-work/queued.ts';
import { removals } from '../../support/fixtures/due-work/removals.ts';
import { runOf } from '../../support/fixtures/operations/operation.ts';
import { openWorld, type World } from '../../support/fixtures/operations/world.ts';

const works: readonly DueWork[] = [...removals, ...pages, ...deliveries, ...queued, ...effects];

let world: World;
let passedMs = 0;

/** The clock advances from test to test; this file has its own databases, queues and files. */
const later = (hours: number): void => {
  passedMs += hours * 3600_000;
  vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + passedMs);
};

beforeAll(async () => {
  world = await openWorld();
  process.env.MAIL_RETRY_SECONDS = '10';
});

beforeEach(() => {
  later(0);
  refuseWhatIsBroken(world.at.mongo);
});

afterEach(() => {
  vi.restoreAllMocks();
});

afterAll(() => world.close());

const doneOf = (dues: readonly Due[]): Promise<number[]> => Promise.all(dues.map(({ done }) => done()));

const add = async (work: DueWork, count: number): Promise<Due[]> => {
  const dues: Due[] = [];
  for (let made = 0; made < count; made++) dues.push(await work.add(world));
  return dues;
};

/** A run with any outcome, this many hours later. */
const runLater = async ({ run, hours }: DueWork): Promise<void> => {
  later(hours);
  await runOf(() => run(world));
};

describe.each(works)('$name', (work) => {
  test('a job is done one time when two runs start concurrently', async () => {
    const dues = await add(work, 3);
    later(work.hours);
    await Promise.all([work.run(world), work.run(world)]);
    await runLater(work);
    expect(await doneOf(dues)).toEqual([1, 1, 1]);
  });

  test('a job is done one time and completely when a run is killed at any step', async () => {
    for (let changes = 0; ; changes++) {
      const dues = await add(work, 1);
      later(work.hours);
      const killed = killAfter(changes);
      await runOf(() => work.run(world));
      vi.restoreAllMocks();
      await runLater(work);
      await runLater(work);
      expect(await doneOf(dues), `killed before change ${changes}, ${killed.hit()}`).toEqual([1]);
      if (killed.hit() === undefined) break;
    }
  });
});

describe.each(works.filter(({ inPages }) => !inPages))('$name that fails', (work) => {
  test('other jobs run when one fails, and that one is done when it can succeed', async () => {
    const [first, ...others] = await add(work, 3);
    const mend = await first?.breakIt();
    await runLater(work);
    expect([await first?.done(), await doneOf(others)]).toEqual([0, [1, 1]]);
    mend?.();
    await runLater(work);
    await runLater(work);
    expect(await doneOf([first as Due, ...others])).toEqual([1, 1, 1]);
  });

  test('has its final outcome when it fails repeatedly', async () => {
    const { rounds, end } = work.givenUp ?? { rounds: 15, end: undefined };
    const [due] = await add(work, 1);
    const mend = await due?.breakIt();
    for (let round = 0; round < rounds; round++) await runLater(work);
    if (work.givenUp) expect(await due?.end?.()).toBe(end);
    else expect(await due?.done()).toBe(0);
    mend?.();
    await runLater(work);
    await runLater(work);
    if (!work.givenUp) expect(await due?.done()).toBe(1);
  });
});

test.each(works.filter(({ tries }) => tries))('$name is retried later each time when it fails', async (work) => {
  const [due] = await add(work, 1);
  const mend = await due?.breakIt();
  const delays: number[] = [];
  for (let times = 1; times <= (work.tries ?? 0); times++) delays.push((await due?.delay?.(times)) ?? 0);
  expect(delays[0]).toBeGreaterThan(0);
  expect(delays).toEqual([...new Set(delays)].sort((one, other) => one - other));
  mend?.();
});

test('the list has every job that works on stored data', () => {
  const verifiers = ['verify-database-a', 'verify-database-b'];
  // The sweep, which is one of these jobs, removes unfinished image sizes.
  const serving = ['make-size', 'serve-file', 'serve-page'];
  const others = ['authorize-channel', 'prepare-control', 'rotate-link-keys', ...serving, ...verifiers];
  expect(new Set([...works.flatMap((work) => work.jobs), ...others])).toEqual(new Set(Object.keys(jobs)));
});
