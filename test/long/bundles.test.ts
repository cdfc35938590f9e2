import { expect, test } from 'vitest';
import { functionFiles } from '../../infra/build/function-files.ts';
import { testBundles } from '../infra/bundle-checks.ts';

const names = functionFiles().map(({ name }) => name);
const bundle = testBundles(names);

/** The sum of all bundles, without source maps. A change that passes it needs a look at what it loads. */
const maxTotalBytes = 152 * 1024 * 1024;

test('all bundles together keep to one budget of bytes', () => {
  const total = names.reduce((sum, name) => sum + bundle(name).bytes, 0);
  expect(total).toBeLessThanOrEqual(maxTotalBytes);
});
