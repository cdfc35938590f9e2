import { MongoServerSelectionError } from 'mongodb';
import { expect, test } from 'vitest';
import { onControl } from '../../shared/persistence/mongo.ts';
import { inParallel } from '../support/clients/client.ts';

/** The driver's error when its monitor finds no server. */
const noServer = (): Error => Object.create(MongoServerSelectionError.prototype, { message: { value: 'no server' } });

test('503 when a client finds no server; the next callers share one new client', async () => {
  const client = () => onControl(async (db) => db.client);
  const first = await client();
  await inParallel(50, () =>
    expect(onControl(() => Promise.reject(noServer()))).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' }),
  );
  const others = new Set(await inParallel(50, client));
  expect([others.size, others.has(first)]).toEqual([1, false]);
});
