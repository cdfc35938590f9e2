import { BSON, ObjectId } from 'mongodb';
import { describe, expect, it, vi } from 'vitest';
import { type Measured, measured, PageBudget } from '../../../shared/documents/page-size.ts';
import { Row } from '../../../shared/documents/query/find-rows.ts';
import { whole } from '../../../shared/documents/query/projection.ts';

const managed = { placement: { kind: 'managed', cell: 'a' } } as const;
const sized = (fields: Record<string, unknown>): Row =>
  new Row(managed, BSON.serialize({ _id: new ObjectId(), ...fields }), whole, false);
const MiB = 1024 * 1024;

const fitting = (items: readonly Measured[]): number => {
  const budget = new PageBudget();
  const first = items.findIndex((item) => !budget.add(item));
  return first === -1 ? items.length : first;
};

describe('the size of a page', () => {
  it.each<[string, Record<string, unknown>]>([
    ['control characters', { '\u0001': '\u0001'.repeat(1000) }],
    ['nulls', { '': Array(1000).fill(null) }],
    ['dates', { d: Array(1000).fill(new Date(8.64e15)) }],
    ['long numbers', { n: Array(1000).fill(-1.234567890123e-300) }],
    ['ids', { i: Array(1000).fill(new ObjectId()) }],
    ['lone letters', { t: Array(1000).fill('ä') }],
  ])('never exceeds its bound for %s', (_name, fields) => {
    const item = sized(fields);
    expect(item.exact()).toBeLessThanOrEqual(item.atMost);
  });

  it.each<[string, unknown]>([
    ['quotes and backslashes', '"\\'.repeat(10)],
    ['control characters and lines', '\u0001\u007f\n'],
    ['letters of all lengths', 'aä€😀'],
    ['a lone surrogate', '\ud800'],
    ['a document', { _id: new ObjectId(), at: new Date(0), n: [1.5, null, true], '"': {} }],
  ])('is the size that Lambda counts, with the body escaped again, for %s', (_name, value) => {
    const body = JSON.stringify(value);
    expect(measured(value)).toBe(Buffer.byteLength(JSON.stringify(body)) - 2 + 1);
  });

  it.each<[string, readonly Measured[], number]>([
    ['small documents all fit', Array.from({ length: 1000 }, () => sized({ t: 'x' })), 1000],
    ['five documents of 1 MB fit', Array.from({ length: 9 }, () => sized({ t: 'x'.repeat(1_000_000) })), 5],
    ['one of 6 MiB does not', [sized({ t: 'x'.repeat(6 * MiB) })], 0],
    [
      'quotes count as often as they are escaped',
      Array.from({ length: 9 }, () => sized({ t: '"'.repeat(600_000) })),
      2,
    ],
  ])('%s', (_name, items, expected) => {
    expect(fitting(items)).toBe(expected);
  });

  it('is measured once per document, because a page may contain it many times', () => {
    const item = sized({ t: 'x'.repeat(1000) });
    const first = item.exact();
    const counting = vi.spyOn(Buffer, 'byteLength');
    expect(item.exact()).toBe(first);
    expect(counting).not.toHaveBeenCalled();
    counting.mockRestore();
  });
});
