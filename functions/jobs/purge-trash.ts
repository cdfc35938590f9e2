import { queuePurges } from '../../shared/documents/store/purge.ts';

/** Queues one task a day per project. */
export const handler = async (): Promise<{ readonly queued: number }> => ({ queued: await queuePurges() });
