import { expect, test } from 'vitest';
import { functionFiles } from '../../infra/build/function-files.ts';
import { budgets, bytesOf, groupOf } from '../infra/bundle-budgets.ts';
import { testBundles } from '../infra/bundle-checks.ts';

const names = functionFiles().map(({ name }) => name);
const bundle = testBundles(names);

test('no budget is a tenth above the largest of its functions', () => {
  for (const group of Object.keys(budgets)) {
    const sizes = names.filter((name) => groupOf(name) === group).map((name) => bundle(name).bytes);
    expect(bytesOf(group) / Math.max(...sizes), group).toBeLessThan(1.1);
  }
});
