import { type AggregationCursor, BSON } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { loadResults } from '../../../../shared/documents/aggregate/aggregate-documents.ts';

const fakeCursor = (batches: Iterable<readonly object[]>) => {
  const left = batches[Symbol.iterator]();
  const state = { read: 0, closed: false };
  let batch: readonly object[] = [];
  const cursor = {
    hasNext: async () => {
      const next = left.next();
      batch = next.value ?? [];
      return !next.done;
    },
    readBufferedDocuments: () => {
      state.read += 1;
      return batch.map((document) => BSON.serialize(document));
    },
    close: async () => {
      state.closed = true;
    },
  };
  return { cursor: cursor as unknown as AggregationCursor, state };
};

const mebibyte = (text: string) => ({ s: text.repeat(1024 * 1024) });
const endless = function* (document: object) {
  for (;;) yield [document];
};

describe('the results of an aggregation', () => {
  test('contain all documents of all batches, and the cursor is closed', async () => {
    const { cursor, state } = fakeCursor([[{ a: 1 }, { a: 2 }], [{ a: 3 }]]);
    expect(await loadResults(cursor, 5000)).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }]);
    expect(state.closed).toBe(true);
  });

  test('may be just under 5 MiB', async () => {
    const { cursor } = fakeCursor([Array.from({ length: 4 }, () => mebibyte('x'))]);
    expect(await loadResults(cursor, 5000)).toHaveLength(4);
  });

  test('RESULT_TOO_LARGE stops reading at 5 MiB', async () => {
    const { cursor, state } = fakeCursor(endless(mebibyte('x')));
    await expect(loadResults(cursor, 60_000)).rejects.toMatchObject({ code: 'RESULT_TOO_LARGE' });
    expect(state).toEqual({ read: 5, closed: true });
  });

  test('RESULT_TOO_LARGE counts JSON: a control character takes six bytes', async () => {
    const { cursor } = fakeCursor([[mebibyte('\u0001')]]);
    await expect(loadResults(cursor, 60_000)).rejects.toMatchObject({ code: 'RESULT_TOO_LARGE' });
  });

  test('QUERY_TIMEOUT when reading takes too long', async () => {
    const { cursor, state } = fakeCursor(endless({}));
    await expect(loadResults(cursor, 5)).rejects.toMatchObject({ code: 'QUERY_TIMEOUT' });
    expect(state.closed).toBe(true);
  });
});
