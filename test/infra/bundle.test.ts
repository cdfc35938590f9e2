import { expect, test } from 'vitest';
import { functionFiles } from '../../infra/build/function-files.ts';
import { budgets, groupOf } from './bundle-budgets.ts';
import { descriptions, testBundles, verifyPasskeys } from './bundle-checks.ts';

// One function of each budget, as all of them take half a minute: test/long/bundles.test.ts has those.
const names = functionFiles().map(({ name }) => name);
const groups = [...new Set(names.map(groupOf))];
const firsts = groups.map((group) => names.find((name) => groupOf(name) === group) ?? '');

testBundles([...new Set([...firsts, ...descriptions, ...verifyPasskeys, 'data-get-document'])]);

test('every budget is of a function', () => {
  expect(groups.sort()).toEqual(Object.keys(budgets).sort());
});
