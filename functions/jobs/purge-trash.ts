import { queuePurges } from '../../shared/documents/store/purge.ts';

/**
 * Runs on a schedule: has the trash of each project looked through once a day, by a task of its own on the work queue.
 */
export const handler = async (): Promise<{ readonly queued: number }> => ({ queued: await queuePurges() });
