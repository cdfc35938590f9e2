import { BSON } from 'mongodb';
import { expect, test } from 'vitest';
import { deserialize, rawBatches } from '../../../shared/persistence/raw-documents.ts';

const cursorOf = (...batches: object[][]) => ({
  isClosed: false,
  hasNext: async () => batches.length > 0,
  readBufferedDocuments: () => batches.shift() ?? [],
  async close() {
    this.isClosed = true;
  },
});
const [one, other] = [{ a: 'ä' }, { b: [1, null] }];

test('raw batches are read document by document and close their cursor', async () => {
  const cursor = cursorOf([BSON.serialize(one)], [BSON.serialize(other)]);
  const batches = await Array.fromAsync(rawBatches(cursor));
  expect(batches.map((batch) => batch.map(deserialize))).toEqual([[one], [other]]);
  expect(cursor.isClosed).toBe(true);
});

test('a cursor is closed when its reader stops early', async () => {
  const cursor = cursorOf([BSON.serialize(one)], [BSON.serialize(other)]);
  for await (const _batch of rawBatches(cursor)) break;
  expect([cursor.isClosed, await cursor.hasNext()]).toEqual([true, true]);
});

test('an error is thrown when documents were requested without raw: true', async () => {
  const cursor = cursorOf([BSON.serialize(one), { a: 1 }]);
  await expect(Array.fromAsync(rawBatches(cursor))).rejects.toThrow('without raw: true');
  expect(cursor.isClosed).toBe(true);
});
