import { expect, test } from 'vitest';
import { newId } from '../../../shared/core/ids.ts';
import { importedId, maxLines } from '../../../shared/transfers/import-batch.ts';

const record = { _id: newId(), idSeed: 'one' };
const idsOf = (from: typeof record, count: number): string[] =>
  Array.from({ length: count }, (_, n) => importedId(from, n + 1).toHexString());

test('ids of lines are reproducible, unique per line and import, and rise', () => {
  const ids = idsOf(record, 1000);
  expect(idsOf(record, 1000)).toEqual(ids);
  expect(new Set(ids).size).toBe(1000);
  expect(ids.toSorted()).toEqual(ids);
  expect(ids).not.toContain(importedId({ ...record, _id: newId() }, 1).toHexString());
});

test('the id of a line begins with the time of its import and has room for every line', () => {
  const last = importedId(record, maxLines).toHexString();
  expect(last.slice(0, 12)).toBe(record._id.toHexString().slice(0, 12));
  expect(last.slice(12, 18)).toBe('ffffff');
});

test('ids of other lines cannot be computed from one id without the seed', () => {
  const guessed = idsOf({ ...record, idSeed: 'two' }, 1000);
  expect(idsOf(record, 1000).filter((id) => guessed.includes(id)).length).toBeLessThan(5);
  const endings = idsOf(record, 1000).map((id) => id.slice(18));
  expect(new Set(endings).size).toBeGreaterThan(990);
});
