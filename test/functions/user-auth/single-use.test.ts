import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { onTable } from '../../../shared/persistence/dynamo.ts';
import { consumeItem, restoreItem, type SingleUse } from '../../../shared/persistence/single-use.ts';
import { write } from '../../../shared/persistence/table.ts';
import { inParallel } from '../../support/clients/client.ts';
import { type Asked, answerForAws } from '../../support/faults/aws-answers.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** A single-use item, valid for its kind. */
const newItem = async (kind = 'right'): Promise<SingleUse> => {
  const key = { pk: `test#${randomUUID()}`, sk: 'once' };
  await write({ put: { ...key, kind } });
  return { key, condition: 'kind = :kind', values: { kind: 'right' } };
};

describe('a single-use item', () => {
  test('is used by one of 50 concurrent callers', async () => {
    const item = await newItem();
    const uses = await inParallel(50, () => consumeItem(item));
    expect(uses.filter((use) => use !== undefined)).toHaveLength(1);
    expect(await consumeItem(item)).toBeUndefined();
  });

  test('is not used when its condition fails', async () => {
    expect(await consumeItem(await newItem('wrong'))).toBeUndefined();
  });

  test('can be used again after its use was undone, by one of 50 concurrent callers', async () => {
    const item = await newItem();
    const use = await consumeItem(item);
    if (!use) throw new Error('It was not used');
    await restoreItem(use);
    const again = await inParallel(50, () => consumeItem(item));
    expect(again.filter((one) => one !== undefined)).toHaveLength(1);
  });

  test('stays used by another caller when the first undoes its use late or twice', async () => {
    const item = await newItem();
    const first = await consumeItem(item);
    if (!first) throw new Error('It was not used');
    await restoreItem(first);
    expect(await consumeItem(item)).toBeDefined();
    await restoreItem(first);
    expect(await consumeItem(item)).toBeUndefined();
  });

  test('can be used again when a delayed request of the first use arrives after it was undone', async () => {
    const item = await newItem();
    const delayed: Asked[] = [];
    answerForAws((asked, send) => {
      delayed.push(asked);
      return send(asked);
    });
    const first = await consumeItem(item);
    if (!first) throw new Error('It was not used');
    await restoreItem(first);
    const [consumption] = delayed;
    await expect(onTable((client) => client.send('UpdateItem', consumption?.input as never))).rejects.toThrow();
    expect(await consumeItem(item)).toBeDefined();
  });
});
