import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { log } from '../../../shared/core/log.ts';
import { deleteOldLogs } from '../../../shared/mail/queue.ts';

const kept = vi.hoisted(() => ({ old: 0 }));
vi.mock('../../../shared/mail/log.ts', () => ({
  mailLogs: {
    find: (_filter: object, { limit }: { limit: number }) =>
      Promise.resolve(Array.from({ length: Math.min(kept.old, limit) }, (_, _id) => ({ _id }))),
    deleteMany: ({ _id: { $in: ids } }: { _id: { $in: unknown[] } }) => {
      kept.old -= ids.length;
      return Promise.resolve({ deletedCount: ids.length });
    },
  },
}));

beforeEach(() => {
  vi.spyOn(log, 'info').mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
});

test('one run deletes all old logs', async () => {
  kept.old = 12_345;
  expect([await deleteOldLogs(), kept.old]).toEqual([12_345, 0]);
  expect(log.info).toHaveBeenCalledExactlyOnceWith({ job: 'requeue-mail', retired: 12_345 });
});

test('a run ends after 3 minutes, and the next one continues', async () => {
  kept.old = 12_345;
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => {
    now += 60_000;
    return now;
  });
  expect([await deleteOldLogs(), kept.old]).toEqual([2000, 10_345]);
  expect(log.info).toHaveBeenCalledExactlyOnceWith({ job: 'requeue-mail', retired: 2000 });
});
