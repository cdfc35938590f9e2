import { expect, test } from 'vitest';
import { functionFiles } from '../../infra/build/function-files.ts';
import { budgets, groupOf } from './bundle-budgets.ts';
import { descriptions, testBundles, verifyPasskeys } from './bundle-checks.ts';

// One function of each budget, and those that most changes of documents reach: all take half a minute, in
// test/long/bundles.test.ts.
const names = functionFiles().map(({ name }) => name);
const groups = [...new Set(names.map(groupOf))];
const firsts = groups.map((group) => names.find((name) => groupOf(name) === group) ?? '');

const ofDocuments = names.filter((name) => ['data', 'dashboard-documents'].includes(groupOf(name)));

testBundles([...new Set([...firsts, ...descriptions, ...verifyPasskeys, ...ofDocuments])]);

test('every budget is of a function', () => {
  expect(groups.sort()).toEqual(Object.keys(budgets).sort());
});
