import { expect, test } from 'vitest';
import { functionFiles } from '../../infra/build/function-files.ts';
import { testBundles } from '../infra/bundle-checks.ts';

const names = functionFiles().map(({ name }) => name);
const bundle = testBundles(names);

/** The limit for all bundles together, without source maps. If a change exceeds it, check which packages it loads. */
const maxTotalBytes = 160 * 1024 * 1024;

test('all bundles together stay within the byte limit', () => {
  const total = names.reduce((sum, name) => sum + bundle(name).bytes, 0);
  expect(total).toBeLessThanOrEqual(maxTotalBytes);
});
