import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { noRowSecurity } from '../../../shared/collections/collection.ts';
import { currentRequest } from '../../../shared/core/request.ts';
import { dayOf, loadStats } from '../../../shared/usage/requests.ts';
import { maxShapes, recordSlowList, storeShapes } from '../../../shared/usage/slow-lists.ts';
import { flushTally } from '../../../shared/usage/tally.ts';
import { inParallel } from '../../support/clients/client.ts';

process.env.USAGE_SECONDS = '3600';

const newPlace = () => ({ projectId: new ObjectId().toHexString(), day: dayOf(Date.now()) });
const counted = async ({ projectId, day }: ReturnType<typeof newPlace>) => {
  const stats = await loadStats('queries', projectId, day);
  return new Map([...stats].filter(([name]) => name.startsWith('n|')));
};
const shapes = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => ({ shape: `shape ${from + n}`, lists: 1, ms: 200 }));

test('a day counts only the first 100 shapes of slow lists when callers filter by any fields', async () => {
  const place = newPlace();
  const note = (fields: readonly string[]): Promise<void> =>
    currentRequest.run({ requestId: 'r', route: 'list-documents', databaseMs: 0, projectId: place.projectId }, () => {
      for (const field of fields) {
        recordSlowList(
          { name: 'notes', schema: null, rls: noRowSecurity },
          {
            equal: [field],
            sort: [],
            range: [],
          },
          200,
        );
      }
      return flushTally();
    });
  const first = Array.from({ length: 10 }, (_, n) => `known${n}`);
  await note(first);
  for (let round = 0; round < 4; round++) await note(Array.from({ length: 120 }, (_, n) => `invented${round}_${n}`));
  await note(first);
  const names = await counted(place);
  expect(names.size).toBe(maxShapes);
  for (const field of first) expect([...names].find(([name]) => name.includes(`"${field}"`))?.[1]).toBe(2);
});

test('a day never counts more than 100 shapes when 50 writers send different ones concurrently', async () => {
  const place = newPlace();
  // A writer loses its counts when the table is too busy.
  await inParallel(50, (writer) => storeShapes(place, shapes(10, writer * 10)).catch(() => undefined));
  expect((await counted(place)).size).toBeLessThanOrEqual(maxShapes);
  for (let round = 0; round < 3; round++) await storeShapes(place, shapes(40, 1000 + round * 40));
  expect((await counted(place)).size).toBe(maxShapes);
});

test('a shape with names of several hundred bytes is not counted', async () => {
  const place = newPlace();
  await storeShapes(place, [{ shape: 'ü'.repeat(300), lists: 1, ms: 200 }, ...shapes(1)]);
  expect([...(await counted(place)).keys()]).toEqual(['n|shape 0']);
});
