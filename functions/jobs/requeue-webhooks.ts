import { requeueWebhooks } from '../../shared/webhooks/worker.ts';

export const handler = async (): Promise<{ readonly queued: number }> => ({ queued: await requeueWebhooks() });
