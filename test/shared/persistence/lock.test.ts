import { expect, test } from 'vitest';
import { AppError } from '../../../shared/core/errors.ts';
import { itemKey, ownerScope } from '../../../shared/persistence/item-keys.ts';
import { withLock } from '../../../shared/persistence/lease.ts';
import * as kinds from '../../../shared/persistence/table-keys.ts';
import { useMemoryTable } from '../../support/fixtures/memory-table.ts';

const { time, faults, read, put } = useMemoryTable();
const key = itemKey(kinds.ownerMails, ownerScope('any'), { month: 'any' });
const lock = {
  key,
  leaseMs: 10_000,
  patienceMs: 0,
  refusal: (retryAfter: number) => new AppError('TOO_MANY_WRITERS', 'Busy.', { retryAfter }),
};
const done = async () => 'done';

test('a lock is held while its run acts, and free afterwards', async () => {
  await withLock(lock, async () => {
    expect(await read(key)).toMatchObject({ until: time.now + 10_000, expiresAt: time.now / 1000 + 3600 });
    await expect(withLock(lock, done)).rejects.toMatchObject({ code: 'TOO_MANY_WRITERS', retryAfter: 10 });
  });
  expect(await withLock(lock, done)).toBe('done');
});

test('a lock of a run that crashed is free when its lease ends', async () => {
  await put({ ...key, until: time.now + 1, run: 'crashed' });
  await expect(withLock(lock, done)).rejects.toMatchObject({ retryAfter: 1 });
  time.now += 1;
  expect(await withLock(lock, done)).toBe('done');
});

test('a run that is slower than its lease does not release the lock of another run', async () => {
  await withLock(lock, async () => {
    time.now += 10_000;
    await put({ ...key, until: time.now + 1000, run: 'other' });
  });
  expect(await read(key)).toMatchObject({ run: 'other' });
});

test('a run that waits acquires the lock when it is released', async () => {
  let release = (): void => undefined;
  const first = withLock(lock, () => new Promise<void>((resolve) => (release = resolve)));
  await expect.poll(() => read(key)).toMatchObject({ until: time.now + 10_000 });
  const second = withLock({ ...lock, patienceMs: 5000 }, done);
  release();
  await first;
  expect(await second).toBe('done');
});

test('a lock is released after an error, unless the work continues elsewhere', async () => {
  const fail = (goesOn: boolean) =>
    withLock({ ...lock, goesOn: () => goesOn }, async () => {
      throw new Error('failed');
    });
  await expect(fail(false)).rejects.toThrow('failed');
  await expect(fail(true)).rejects.toThrow('failed');
  await expect(withLock(lock, done)).rejects.toMatchObject({ code: 'TOO_MANY_WRITERS' });
});

test('a lock whose response was lost is acquired by the repeat', async () => {
  faults.isRepeated = true;
  expect(await withLock(lock, done)).toBe('done');
});
