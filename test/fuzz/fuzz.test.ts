import { beforeAll, expect, test } from 'vitest';
import { parsers, prepareParsers } from './parsers.ts';

/** `npm run test:fuzz` takes others. */
const seed = 20_261_129;
const runs = 400;

beforeAll(prepareParsers);

test.each(parsers)('$name: random inputs are accepted or rejected as the contract says', async ({ check }) => {
  const { failure, inputs } = await check({ seed, runs });
  expect(failure).toBeUndefined();
  expect(inputs).toBe(runs);
});
