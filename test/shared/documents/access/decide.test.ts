import { ObjectId } from 'mongodb';
import { describe, expect, test, vi } from 'vitest';
import type { Collection } from '../../../../shared/collections/collection.ts';
import { parseRules } from '../../../../shared/collections/rules/parse-rules.ts';
import type { ComparisonOperator, Operand, Outcome, RuleNode } from '../../../../shared/collections/rules/rule.ts';
import type { FieldType } from '../../../../shared/collections/schema/field-types.ts';
import { decide, formsOf, holds, valuesAt, wholeAt } from '../../../../shared/documents/access/decide.ts';
import { isUntouched } from '../../../../shared/documents/access/decide-rule.ts';
import { filterOf } from '../../../../shared/documents/access/filter-of.ts';
import type { JsonObject } from '../../../../shared/documents/document.ts';
import { matches } from '../../../support/data/mongo-filter.ts';
import { free, known, typed } from '../../../support/data/rules.ts';

const [hex, other] = ['a'.repeat(24), 'b'.repeat(24)];
const [id, otherId] = [hex, other].map((text) => new ObjectId(text)) as [ObjectId, ObjectId];

test.each<[FieldType | undefined, unknown, readonly unknown[]]>([
  [undefined, 'a', ['a']],
  [undefined, hex, [hex, id]],
  [undefined, id, [hex, id]],
  [undefined, hex.toUpperCase(), [hex.toUpperCase()]],
  [undefined, `${hex}a`, [`${hex}a`]],
  [undefined, `x${hex}`, [`x${hex}`]],
  [undefined, 5, [5]],
  [undefined, null, [null]],
  ['Ref', hex, [id]],
  ['Ref', id, [id]],
  ['Ref', 'a', ['a']],
  ['String', id, [hex]],
  ['String', hex, [hex]],
])('a field of type %s compares with %s as %s', (type, value, forms) => expect(formsOf(type, value)).toEqual(forms));

const nested = { a: [{ b: 1 }, { b: [2, 3] }, 4, { c: 5 }], o: { p: null }, n: [[6, 7], [8]], e: [], p: [{ 4: 1 }] };
test.each<[string, readonly unknown[]]>([
  ['', [nested]],
  ['o.p', [null]],
  ['o.x', [undefined]],
  ['o.p.q', [undefined]],
  ['x', [undefined]],
  ['toString', [undefined]],
  ['a.b', [1, [2, 3], 2, 3, undefined]],
  ['e', [[]]],
  ['e.b', [undefined]],
  ['e.0', [undefined]],
  ['n', [[[6, 7], [8]], [6, 7], [8]]],
  ['n.0', [[6, 7], 6, 7]],
  ['n.0.1', [7]],
])('the values at %j', (path, values) => expect(valuesAt(nested, path)).toEqual(values));

test.each<[string, readonly unknown[]]>([
  ['a.0.b', [1]],
  ['a.1.b', [[2, 3], 2, 3]],
  ['a.1.b.1', [3]],
  ['a.2', [4]],
  ['a.4', []],
  ['a.01', []],
  ['p.4', [1]],
])('the values at the position %s, apart from missing ones', (path, values) =>
  expect(valuesAt(nested, path).filter((value) => value !== undefined)).toEqual(values),
);

test.each<[string, unknown]>([
  ['o.p', null],
  ['a.0.b', 1],
  ['a.1.b.1', 3],
  ['a.b', undefined],
  ['a.01', undefined],
  ['n.1.0', 8],
  ['x.y', undefined],
  ['toString', undefined],
  ['o.p.q', undefined],
])('the single value at %s is %j', (path, value) => expect(wholeAt(nested, path)).toEqual(value));

const date = (ms: number) => new Date(ms);
/** Operators, a stored value, and operands for which the comparison holds, and for which it does not. */
const comparisons: readonly (readonly [
  ComparisonOperator,
  unknown,
  holds: readonly unknown[],
  not: readonly unknown[],
])[] = [
  ['$gt', 2, [1, -1], [2, 3, '1', null, Number.NaN]],
  ['$gte', 2, [1, 2], [3, '2', Number.NaN]],
  ['$lt', 2, [3], [2, 1, '3', null, Number.NaN]],
  ['$lte', 2, [2, 3], [1, '2', Number.NaN]],
  ['$gt', 'b', ['a', 'B', ''], ['b', 'c', 'é', 0]],
  ['$lt', 'z', ['é', '\u{1f600}', 'zz'], ['z', 'Z']],
  ['$lt', '\uff5e', ['\u{1f600}'], ['z']],
  ['$gt', true, [false], [true, 0]],
  ['$lte', false, [false, true], [1]],
  ['$gt', date(2), [date(1)], [date(2), date(3), 1]],
  ['$gte', date(2), [date(2)], [date(3), '2']],
  ['$gt', otherId, [id], [otherId]],
  ['$gt', [1], [], [[0], 1]],
  ['$lt', { a: 1 }, [], [{ a: 2 }]],
  ['$eq', 2, [2], [1, '2', null, undefined]],
  ['$eq', null, [null, undefined], [0, '', false]],
  ['$eq', undefined, [null, undefined], [0]],
  ['$eq', id, [hex, id], [other, otherId, null]],
  ['$eq', hex, [hex, id], [other]],
  ['$eq', { a: 1 }, [{ a: 1 }], [{ a: 2 }, {}, 1]],
  ['$eq', [1, 2], [[1, 2], 1, 2], [[2, 1], 3]],
  ['$eq', date(1), [date(1)], [date(2), 1]],
  ['$ne', 2, [1, null], [2]],
  ['$ne', [1, 2], [3], [1, 2]],
  ['$in', 2, [[2], [1, 2]], [[], [1], ['2']]],
  ['$in', id, [[hex], [1, id]], [[other]]],
  ['$nin', 2, [[], [1]], [[2], [1, 2]]],
  ['$nin', null, [[1]], [[null]]],
  ['$all', [1, 2], [[1], [2, 1]], [[], [1, 3]]],
  ['$exists', null, [true], [false]],
  ['$exists', undefined, [false], [true]],
  ['$size', [1, 2], [2], [1, 3, 0]],
  ['$size', 'ab', [], [2]],
  ['$contains', 'abc', ['b', 'abc'], ['d', 'C', 5]],
  ['$contains', 5, [], ['5']],
  ['$startsWith', 'abc', ['ab'], ['bc']],
  ['$endsWith', 'abc', ['bc'], ['ab']],
  ['$endsWith', 'abc\n', ['c\n'], ['c']],
  ['$startsWith', ['x', 'abc'], ['ab'], ['y']],
];

const compared = (operator: ComparisonOperator, operand: Operand, rest = {}): RuleNode => ({
  ...{
    kind: 'compare',
    at: 'rules.read.a',
    path: 'a',
    type: undefined,
    isList: false,
    isStrict: false,
    operator,
    operand,
  },
  ...rest,
});

/** Whether a rule can contain the operand. */
const isOperand = (operator: ComparisonOperator, value: unknown): boolean => {
  if (operator in { $contains: 1, $startsWith: 1, $endsWith: 1 }) return typeof value === 'string';
  if (operator in { $gt: 1, $gte: 1, $lt: 1, $lte: 1 } && (value === null || !/^[^[{]/.test(JSON.stringify(value))))
    return false;
  return value !== undefined && !Number.isNaN(value);
};

test.each(comparisons)('%s of %j', (operator, stored, yes, no) => {
  const type = operator === '$gt' && stored instanceof ObjectId ? 'Ref' : undefined;
  const document = stored === undefined ? {} : { a: stored };
  for (const value of [...yes, ...no]) {
    const wanted = yes.includes(value);
    expect([value, holds({ operator, type }, valuesAt(document, 'a'), value)]).toEqual([value, wanted]);
    if (!isOperand(operator, value)) continue;
    const rule = compared(operator, { kind: 'literal', value }, { type });
    const filters = [rule, { kind: 'not', of: rule } as const].map((each) => filterOf(each, undefined) as object);
    expect([value, ...filters.map((filter) => matches(document, filter))]).toEqual([value, wanted, !wanted]);
  }
});

const ruleAfter = (rule: JsonObject | true, collection: Collection = typed): RuleNode =>
  parseRules(collection, known, { update: { after: rule } }).after;

describe('a rule about a change', () => {
  test.each<[JsonObject, JsonObject, JsonObject, Outcome]>([
    [{ number: { $stored: 'number', plus: 2 } }, { number: 3 }, { number: 1 }, true],
    [{ number: { $stored: 'number', plus: 2 } }, { number: 2 }, { number: 1 }, false],
    [{ number: { $stored: 'number', plus: 2 } }, { number: 2 }, {}, true],
    [{ number: { $stored: 'number', plus: 2 } }, { number: 2 }, { number: null }, true],
    [{ number: { $stored: 'number', plus: 2 } }, { number: 3 }, { number: '1' }, false],
    [{ number: { $ne: { $stored: 'number', plus: 2 } } }, { number: 3 }, { number: '1' }, false],
    [{ flag: { $stored: 'number', plus: 2 } }, { flag: false }, { number: '1' }, false],
    [{ number: { $stored: 'number' } }, {}, {}, true],
    [{ number: { $stored: 'number' } }, { number: null }, {}, true],
    [{ number: { $stored: 'number' } }, { number: 0 }, {}, false],
    [{ flag: { $stored: 'flag' } }, { flag: false }, { flag: false }, true],
    [{ flag: { $ne: { $stored: 'flag' } } }, { flag: true }, { flag: false }, true],
    [{ tags: { $stored: 'tags', adds: 'a' } }, { tags: ['a'] }, {}, true],
    [{ tags: { $stored: 'tags', adds: 'a' } }, { tags: ['a'] }, { tags: null }, true],
    [{ tags: { $stored: 'tags', adds: 'a' } }, { tags: ['b', 'a'] }, { tags: ['b'] }, true],
    [{ tags: { $stored: 'tags', adds: 'a' } }, { tags: ['a', 'b'] }, { tags: ['b'] }, false],
    [{ tags: { $stored: 'tags', adds: 'a' } }, { tags: ['a', 'a'] }, { tags: ['a'] }, false],
    [{ tags: { $ne: { $stored: 'tags', adds: 'a' } } }, { tags: ['b'] }, { tags: ['a'] }, false],
    [{ tags: { $stored: 'tags', adds: 'a' } }, { tags: ['a'] }, { tags: 'x' }, false],
    [{ tags: { $stored: 'tags', removes: 'a' } }, { tags: ['b'] }, { tags: ['a', 'b', 'a'] }, true],
    [{ tags: { $stored: 'tags', removes: 'a' } }, { tags: ['b'] }, { tags: ['b'] }, false],
    [{ tags: { $stored: 'tags', removes: 'a' } }, { tags: [] }, {}, false],
    [{ members: { $stored: 'members', removes: hex } }, { members: [otherId] }, { members: [id, otherId] }, true],
    [{ members: { $stored: 'members', adds: hex } }, { members: [id] }, { members: [] }, true],
    [{ members: { $stored: 'members', adds: hex } }, { members: [id, id] }, { members: [id] }, false],
    [{ ref: { $stored: 'text' } }, { ref: id }, { text: hex }, true],
    [{ number: { $gt: { $stored: 'number' } } }, { number: 2 }, { number: 1 }, true],
    [{ number: { $gt: { $stored: 'number' } } }, { number: 1 }, { number: 1 }, false],
    [{ number: { $gt: { $stored: 'number' } } }, { number: 1 }, {}, false],
    [{ text: { $startsWith: { $stored: 'text' } } }, { text: 'ab' }, { text: 'a' }, true],
    [{ text: { $startsWith: { $stored: 'text' } } }, { text: 'ba' }, { text: 'a' }, false],
    [{ text: { $startsWith: { $stored: 'text' } } }, { text: 'ba' }, {}, false],
    [{ text: { $in: { $stored: 'tags' } } }, { text: 'a' }, { tags: ['b', 'a'] }, true],
    [{ text: { $in: { $stored: 'tags' } } }, { text: 'a' }, { tags: ['b'] }, false],
    [{ text: { $nin: { $stored: 'tags' } } }, { text: 'a' }, { tags: ['b'] }, true],
    [{ text: { $nin: { $stored: 'tags' } } }, { text: 'a' }, { tags: ['b', 'a'] }, false],
    [{ text: { $in: { $stored: 'text' } } }, { text: 'a' }, { text: 'a' }, true],
    [{ $only: ['text'] }, { text: 'b', number: 1 }, { text: 'a', number: 1 }, true],
    [{ $only: ['text'] }, { text: 'b', number: 2 }, { text: 'a', number: 1 }, false],
    [{ $only: ['text'] }, { text: 'b', number: 1 }, { text: 'a' }, false],
    [{ $only: ['text'] }, { text: 'b' }, { text: 'a', number: 1 }, false],
    [{ $only: [] }, { _rev: 2, updatedAt: date(2), ref: id }, { _rev: 1, updatedAt: date(1), ref: id }, true],
    [{ $only: [] }, { members: [id] }, { members: [new ObjectId(hex)] }, true],
    [{ $stored: { text: 'a' } }, { text: 'b' }, { text: 'a' }, true],
    [{ $stored: { text: 'a' } }, { text: 'a' }, { text: 'b' }, false],
    [{ $stored: { text: { $ne: 'a' } } }, {}, { text: ['b'] }, true],
    [{ text: 'a' }, { text: ['a'] }, {}, 'unknown'],
    [{ $not: { text: 'a' } }, { text: ['b'] }, {}, 'unknown'],
    [{ 'meta.text': 'a' }, { meta: [{ text: 'a' }] }, {}, 'unknown'],
    [{ 'meta.text': 'a' }, { meta: { text: ['a'] } }, {}, 'unknown'],
    [{ 'meta.text': 'a' }, { meta: { text: 'a' } }, {}, true],
    [{ tags: 'a' }, { tags: ['b', 'a'] }, {}, true],
    [{ number: { $doc: 'limit' } }, { number: 1 }, {}, 'unknown'],
    [{ number: { $doc: 'limit' } }, { number: 1, limit: null }, {}, 'unknown'],
    [{ number: { $doc: 'limit' } }, { number: 1, limit: 1 }, {}, true],
    [{ text: { $contains: { $doc: 'other' } } }, { text: 'a', other: '' }, {}, 'unknown'],
    [{ text: { $contains: { $doc: 'other' } } }, { text: 'ab', other: 'b' }, {}, true],
  ])('%j of %j after %j is %s', (rule, document, stored, outcome) => {
    expect(decide(ruleAfter(rule), { document, stored, user: undefined })).toBe(outcome);
    expect(decide({ kind: 'not', of: ruleAfter(rule) }, { document, stored, user: undefined })).toBe(
      outcome === 'unknown' ? outcome : !outcome,
    );
  });

  /** Comparisons of two fields of a document, as MongoDB's expressions decide them too. */
  test.each<[JsonObject, JsonObject, Outcome]>([
    [{ text: { $doc: 'tags.0' } }, { text: 'a', tags: ['a'] }, false],
    [{ text: { $doc: 'toString' } }, { text: 'a' }, 'unknown'],
    [{ text: { $doc: 'meta.text' } }, { text: 'a', meta: null }, 'unknown'],
    [{ text: { $doc: 'meta.text' } }, { text: 'a' }, 'unknown'],
    [{ text: { $doc: 'meta.text' } }, { text: 'a', meta: 'x' }, 'unknown'],
    [{ text: { $doc: 'meta.text' } }, { text: 'a', meta: { text: 'a' } }, true],
    [{ all: { $doc: 'cards.text' } }, { all: ['a'], cards: [{}, { text: 'a' }, 5, { x: 1 }] }, true],
    [{ all: { $doc: 'cards.text' } }, { all: [['a']], cards: [[{ text: 'a' }]] }, true],
    [{ flag: { $doc: 'other' } }, { flag: '', other: '' }, true],
    [{ flag: { $gt: { $doc: 'other' } } }, { flag: 1, other: 'a' }, false],
    [{ flag: { $lt: { $doc: 'other' } } }, { flag: null, other: 1 }, false],
    [{ flag: { $contains: { $doc: 'other' } } }, { flag: 5, other: '5' }, false],
    [{ flag: { $contains: { $doc: 'other' } } }, { flag: 'a', other: 5 }, false],
    [{ flag: { $ne: { $doc: 'other' } } }, { flag: 1, other: 1 }, false],
    [{ flag: { $ne: { $doc: 'other' } } }, { flag: 1, other: 2 }, true],
    [{ flag: { $doc: 'other' } }, { flag: hex, other: id }, true],
    [{ flag: { $doc: 'other' } }, { flag: id, other: hex }, true],
    [{ flag: { $doc: 'other' } }, { flag: { a: 1 }, other: { a: 1 } }, true],
    [{ flag: { $doc: 'other' } }, { flag: { a: 1 }, other: 1 }, false],
    [{ flag: { $doc: 'other' } }, { flag: date(1), other: date(1) }, true],
    [{ flag: { $in: { $doc: 'other' } } }, { flag: 1, other: [2, 1] }, true],
    [{ flag: { $nin: { $doc: 'other' } } }, { flag: 1, other: [2, 1] }, false],
    [{ flag: { $in: { $doc: 'other' } } }, { flag: 1, other: 1 }, true],
  ])('%j of %j is %s', (rule, document, outcome) => {
    const { list } = parseRules(free, known, { read: rule });
    expect(decide(list, { document, user: undefined })).toBe(outcome);
    const found = [true, false].map((wanted) => matches(document, filterOf(list, undefined, wanted) as object));
    expect(found).toEqual([outcome === true, outcome === false]);
  });

  test.each<JsonObject>([{ number: { $stored: 'number' } }, { $stored: { text: 'a' } }])(
    '%j is unknown without a stored document',
    (rule) => expect(decide(ruleAfter(rule), { document: { number: 1 }, user: undefined })).toBe('unknown'),
  );

  test('is not decided before its operands are looked up', () => {
    const rule = ruleAfter({ text: { $user: 'role' } });
    expect(() => decide(rule, { document: {}, user: undefined })).toThrow('was not looked up');
    expect(() => filterOf(rule, undefined)).toThrow('was not looked up');
    const ref = ruleAfter({ $ref: { ref: { text: 'a' } } });
    expect(() => decide(ref, { document: {}, user: undefined })).toThrow('was not looked up');
    expect(() => filterOf(ref, undefined)).toThrow('cannot be a condition of the database');
    expect(() => filterOf(ruleAfter({ $only: [] }), undefined)).toThrow('only of rules.update.after.$only cannot be');
  });

  test('reports each comparison in the order of the rule, and none inside of elements', () => {
    const trace = vi.fn();
    const rule = ruleAfter({
      $or: [{ text: 'a' }, { $not: { number: 2 } }],
      tags: { $every: { $ne: 'x' } },
      $user: {},
      $stored: { text: 'a' },
      $only: ['text'],
      flag: { $doc: 'other' },
    });
    decide(rule, { document: { text: 'a', number: 1, tags: ['b'] }, stored: {}, user: { _id: hex }, trace });
    expect(trace.mock.calls.map(([at, outcome]) => `${at.slice('rules.update.after.'.length)} ${outcome}`)).toEqual([
      '$or.0.text true',
      '$or.1.$not.number false',
      'tags.$every true',
      '$user true',
      '$stored.text false',
      '$only false',
      'flag unknown',
    ]);
    decide(ruleAfter({ $user: {}, $stored: { text: 'a' } }), { document: {}, user: undefined, trace });
    expect(trace.mock.calls.slice(-2)).toEqual([
      ['rules.update.after.$user', 'unknown'],
      ['rules.update.after.$stored', 'unknown'],
    ]);
  });
});

test.each<[JsonObject | true, readonly string[], boolean]>([
  [true, ['text'], true],
  [{ text: 'a' }, ['text'], false],
  [{ text: 'a' }, ['number'], true],
  [{ 'meta.text': 'a' }, ['meta'], false],
  [{ number: { $doc: 'limit' } }, ['limit'], false],
  [{ number: { $doc: 'limit' } }, ['number'], false],
  [{ number: { $doc: 'limit' } }, ['text'], true],
  [{ number: { $stored: 'number' } }, ['text'], false],
  [{ text: { $user: '_id' } }, ['number'], true],
  [{ $user: { role: 'a' } }, ['text', 'role'], true],
  [{ tags: { $every: { $ne: 'a' } } }, ['tags'], false],
  [{ tags: { $every: { $ne: 'a' } } }, ['text'], true],
  [{ $or: [{ text: 'a' }, { number: 1 }] }, ['number'], false],
  [{ $and: [{ text: 'a' }, { $not: { number: 1 } }] }, ['number'], false],
  [{ $and: [{ text: 'a' }, { $not: { number: 1 } }] }, ['limit'], true],
  [{ $only: ['text'] }, [], false],
  [{ $ref: { ref: { text: 'a' } } }, [], false],
  [{ $stored: { text: 'a' } }, [], false],
])('%j does not depend on the fields %j: %s', (rule, fields, expected) =>
  expect(isUntouched(ruleAfter(rule), new Set(fields))).toBe(expected),
);
