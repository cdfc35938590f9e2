import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { importedId, maxLines } from '../../../shared/transfers/import-batch.ts';

const importId = new ObjectId('65f0c1d2e3f4a5b6c7d8e9f0');

test('the id of a line is the same each time, another for each line and each import, and later lines have greater ones', () => {
  const ids = Array.from({ length: 1000 }, (_, n) => importedId(importId, n + 1).toHexString());
  expect(importedId(importId, 5).toHexString()).toBe(ids[4]);
  expect(new Set(ids).size).toBe(1000);
  expect(ids.toSorted()).toEqual(ids);
  const another = new ObjectId('65f0c1d2e3f4a5b6c7d8e9f1');
  expect(ids).not.toContain(importedId(another, 1).toHexString());
});

test('the id of a line begins with the time of its import, and has room for every line', () => {
  expect(importedId(importId, maxLines).getTimestamp()).toEqual(importId.getTimestamp());
  expect(importedId(importId, maxLines).toHexString()).toMatch(/ffffff$/);
});
