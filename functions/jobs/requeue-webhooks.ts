import { requeueWebhooks } from '../../shared/webhooks/worker.ts';

/** Runs on a schedule: has webhooks looked at whose messages were lost, and each every few minutes. */
export const handler = async (): Promise<{ readonly queued: number }> => ({ queued: await requeueWebhooks() });
