import { expect, test } from 'vitest';
import { variantsOf } from '../mutants/condition-text.ts';
import { aliveOf } from '../mutants/journal.ts';
import { switchOf, withSwitches } from '../mutants/switched.ts';

const textsOf = (condition: string): readonly string[] => variantsOf(condition).map(({ text }) => text);

test('a condition of the table has a mutant without each part and one for each comparison', () => {
  expect(textsOf('attribute_exists(pk) AND expiresAt > :now')).toEqual([
    '(attribute_exists(pk) OR NOT attribute_exists(pk)) AND expiresAt > :now',
    'attribute_exists(pk) AND (expiresAt > :now OR NOT expiresAt > :now)',
    'attribute_exists(pk) AND expiresAt >= :now',
  ]);
  expect(textsOf('runId = :run')).toEqual(['(runId = :run OR NOT runId = :run)']);
});

test('a part of an alternative never holds in its mutant, and parts in parentheses have mutants too', () => {
  expect(textsOf('a = :a OR (b = :b AND c = :c)')).toEqual([
    '(a = :a AND NOT a = :a) OR (b = :b AND c = :c)',
    'a = :a OR ((b = :b AND c = :c) AND NOT (b = :b AND c = :c))',
    'a = :a OR ((b = :b OR NOT b = :b) AND c = :c)',
    'a = :a OR (b = :b AND (c = :c OR NOT c = :c))',
  ]);
});

test('a part that is computed is put in parentheses, because it may have several parts', () => {
  expect(textsOf('$' + '{condition} AND a = :a')[0]).toBe(
    '(($' + '{condition}) OR NOT ($' + '{condition})) AND a = :a',
  );
});

test('the changed code does what the mutant says that is switched on, and the same as before without one', () => {
  const source = 'return left && right > 1 ? { a: 1, b: 2 } : join("x", "y");';
  const at = (text: string) => ({ start: source.indexOf(text), end: source.indexOf(text) + text.length });
  const changed = withSwitches(source, [
    { id: 1, operator: 'check', form: 'expression', after: 'left', ...at('left && right > 1') },
    { id: 2, operator: 'comparison', form: 'expression', after: 'right >= 1', ...at('right > 1') },
    { id: 3, operator: 'part of a filter', form: 'property', after: '', ...at('a: 1') },
    { id: 4, operator: 'swap', form: 'arguments', after: '"y", "x"', ...at('"x", "y"') },
  ]);
  const run = (mutant: number, left: boolean, right: number): unknown => {
    const isOn = { __mutant: (id: number) => id === mutant };
    const act = new Function('globalThis', 'left', 'right', 'join', changed);
    return act(isOn, left, right, (one: string, other: string) => one + other);
  };
  expect(run(0, true, 2)).toEqual({ a: 1, b: 2 });
  expect(run(0, true, 1)).toBe('xy');
  expect(run(1, true, 1)).toEqual({ a: 1, b: 2 });
  expect(run(2, true, 1)).toEqual({ a: 1, b: 2 });
  expect(run(2, false, 1)).toBe('xy');
  expect(run(3, true, 2)).toEqual({ b: 2 });
  expect(run(4, true, 0)).toBe('yx');
});

test('a process without a file system has no mutants', () => {
  const browser: { __mutant?: (id: number) => boolean } = {};
  new Function('globalThis', switchOf('/none', '/none'))(browser);
  expect(browser.__mutant?.(1)).toBe(false);
});

test('a mutant is alive until a test kills it or does not end, and its runs add up', () => {
  const entries = [
    { state: 'passed', id: 1, seconds: 2 },
    { state: 'passed', id: 1, seconds: 3 },
    { state: 'unsure', id: 1 },
    { state: 'killed', id: 2 },
    { state: 'timeout', id: 3, seconds: 20 },
    { state: 'passed', id: 5, seconds: 1 },
  ] as const;
  expect(
    aliveOf(
      entries.map((each) => ({ file: 'a.test.ts', ...each })),
      [1, 2, 3, 4],
    ),
  ).toEqual(
    new Map([
      [1, 5],
      [4, 0],
    ]),
  );
});
