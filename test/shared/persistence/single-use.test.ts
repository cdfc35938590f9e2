import { expect, test, vi } from 'vitest';
import { JsonClient } from '../../../shared/persistence/aws-client.ts';
import { itemKey, ownerScope } from '../../../shared/persistence/item-keys.ts';
import { consumeItem, countTry, restoreItem } from '../../../shared/persistence/single-use.ts';
import * as kinds from '../../../shared/persistence/table-keys.ts';
import { useMemoryTable } from '../../support/fixtures/memory-table.ts';

const { time, faults, read, put } = useMemoryTable();
const key = itemKey(kinds.ownerMails, ownerScope('any'), { month: 'any' });
const secret = { key, condition: 'attribute_exists(pk) AND code = :code', values: { code: 'right' } };

test('an item is consumed one time, and only if its condition holds', async () => {
  expect(await consumeItem(secret)).toBeUndefined();
  await put({ ...key, code: 'right' });
  expect(await consumeItem({ ...secret, values: { code: 'wrong' } })).toBeUndefined();
  expect(await consumeItem(secret)).toMatchObject({ item: { code: 'right' } });
  expect(await consumeItem(secret)).toBeUndefined();
});

test('an item whose consumption is undone can be consumed again, and undoing it later changes nothing', async () => {
  await put({ ...key, code: 'right' });
  const first = await consumeItem(secret);
  if (!first) throw new Error('not consumed');
  await restoreItem(first);
  const second = await consumeItem(secret);
  expect(second).toBeDefined();
  await restoreItem(first);
  expect(await consumeItem(secret)).toBeUndefined();
  expect(await read(key)).toMatchObject({ usedBy: second?.id, restored: new Set([first.id]) });
});

test('attempts are counted only while the condition holds, for 10 minutes if there is no item', async () => {
  const limited = { key, condition: 'attribute_not_exists(tries) OR tries < :max', values: { max: 2 } };
  expect(await countTry(limited, 'all')).toMatchObject({ tries: 1, all: 1, expiresAt: time.now / 1000 + 600 });
  time.now += 1000;
  expect(await countTry(limited, 'all')).toMatchObject({ tries: 2, all: 2, expiresAt: time.now / 1000 + 599 });
  expect(await countTry(limited, 'all')).toBeUndefined();
  expect(await read(key)).toMatchObject({ tries: 2, all: 2 });
});

test('a consumption and an attempt whose responses were lost succeed when they are repeated', async () => {
  await put({ ...key, code: 'right' });
  faults.isRepeated = true;
  expect(await countTry({ key, condition: 'attribute_not_exists(tries)', values: {} })).toBeDefined();
  expect(await consumeItem(secret)).toBeDefined();
});

test('a consumption that arrives late does not use an item that was restored', async () => {
  await put({ ...key, code: 'right' });
  const sent = vi.mocked(JsonClient.prototype.send);
  sent.mockClear();
  const used = await consumeItem(secret);
  if (!used) throw new Error('not consumed');
  const [late = ['', {}]] = sent.mock.calls;
  await restoreItem(used);
  await expect(JsonClient.prototype.send(...late)).rejects.toThrow();
  expect(await consumeItem(secret)).toBeDefined();
});
