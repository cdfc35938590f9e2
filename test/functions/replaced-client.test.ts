import { MongoServerSelectionError } from 'mongodb';
import { expect, test } from 'vitest';
import { onControl } from '../../shared/persistence/mongo.ts';
import { inParallel } from '../support/clients/client.ts';

/** As the driver throws where its monitor knows of no server. */
const noServer = (): Error => Object.create(MongoServerSelectionError.prototype, { message: { value: 'no server' } });

test('503 where a client finds no server, and another client for who comes next, one for all', async () => {
  const client = () => onControl(async (db) => db.client);
  const first = await client();
  await inParallel(50, () =>
    expect(onControl(() => Promise.reject(noServer()))).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' }),
  );
  const others = new Set(await inParallel(50, client));
  expect([others.size, others.has(first)]).toEqual([1, false]);
});
