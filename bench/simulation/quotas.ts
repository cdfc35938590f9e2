import { randomUUID } from 'node:crypto';
import { AppError } from '../../shared/core/errors.ts';
import { reserve } from '../../shared/files/upload-states.ts';
import { refundQuota, reserveQuota } from '../../shared/mail/quota.ts';
import type { CountWrites } from './commands.ts';
import { type Finding, onInstances } from './instances.ts';

/** Retries conflicts like a client. */
const patiently = async <T>(act: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'SERVICE_UNAVAILABLE') throw error;
    }
  }
};

/**
 * Every instance reserves two email slots and refunds every third. Never more slots than the plan allows are reserved.
 */
export const simulateMail = async (
  instances: number,
  projectId: string,
  countWrites: CountWrites,
): Promise<Finding> => {
  let out = 0;
  const writes = await countWrites(() =>
    onInstances(instances, 50, async (instance) => {
      const ids = [randomUUID(), randomUUID()];
      const taking = await patiently(() => reserveQuota({ id: projectId, plan: 'pro' }, ids));
      if (!taking.taken) return;
      out += 2;
      if (instance % 3 > 0) return;
      const back = await patiently(() => refundQuota({ ...taking.slots, ids: [ids[0] ?? ''] }));
      out -= back;
    }),
  );
  return { what: 'mail quota of 1,000', asked: instances * 2, let: out, least: 999, most: 1000, writes };
};

/** Every instance reserves 64 KiB of a storage of 20 MiB. */
export const simulateStorage = async (
  instances: number,
  projectId: string,
  countWrites: CountWrites,
): Promise<Finding> => {
  const size = 64 * 1024;
  const limit = 20 * 1024 * 1024;
  let reserved = 0;
  const writes = await countWrites(() =>
    onInstances(instances, 20, async () => {
      const ref = { projectId, storageId: 'managed', filePath: `${projectId}/${randomUUID()}_file` };
      const upload = { size, contentType: 'text/plain' };
      const limits = { storage: limit, user: { bytes: null, files: 0, reservations: 0 } };
      if (!(await patiently(() => reserve(ref, upload, limits)))) reserved++;
    }),
  );
  const room = limit / size;
  return { what: 'storage of 20 MiB in 64 KiB', asked: instances, let: reserved, least: room, most: room, writes };
};
