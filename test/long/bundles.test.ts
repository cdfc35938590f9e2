import { expect, test } from 'vitest';
import { functionFiles } from '../../infra/build/function-files.ts';
import { testBundles } from '../infra/bundle-checks.ts';

const names = functionFiles().map(({ name }) => name);
const bundle = testBundles(names);

/** The limit for the mean of all bundles, without source maps. If a change exceeds it, check which packages it loads. */
const maxMeanBytes = 675 * 1024;

test('bundles are on average within the byte limit', () => {
  const total = names.reduce((sum, name) => sum + bundle(name).bytes, 0);
  expect(total / names.length).toBeLessThanOrEqual(maxMeanBytes);
});
