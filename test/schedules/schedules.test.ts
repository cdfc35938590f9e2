import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { brokenCounts } from './counts.ts';
import { lockModel, lockWithoutRun } from './keys.ts';
import { models } from './models.ts';
import { consumeByDeletion, secretModel } from './single-use.ts';
import { installWorlds } from './world.ts';

/** `npm run test:schedules` takes others. */
const seed = 20_261_129;
const runs = 1000;

let uninstall: () => void;
beforeAll(() => {
  uninstall = installWorlds();
});
afterAll(() => uninstall());

describe('random schedules with faults keep', () => {
  test.each(models)('$name', async ({ check }) => {
    const { schedules, failure } = await check({ seed, runs });
    expect(failure).toBeUndefined();
    expect(schedules).toBe(runs);
  });
});

const broken = [
  ...brokenCounts,
  secretModel('a secret that is used by its deletion', consumeByDeletion),
  lockModel('a lock that any run releases', lockWithoutRun),
];

describe('random schedules with faults find', () => {
  test.each(broken)('$name', async ({ check }) => {
    const { failure, path } = await check({ seed: 1, runs: 2000 });
    expect(failure).toBeDefined();
    const repeated = await check({ seed: 1, runs: 2000, path });
    expect(repeated.failure?.split('\n', 1)).toEqual(failure?.split('\n', 1));
  });
});
