import { inject } from 'vitest';
import { HttpProxy } from '../faults/http-proxy.ts';
import { stillQueue } from './still-queue.ts';

/**
 * Has nobody take the mails that this process accepts off their queue, so that a test delivers them in a way of its own
 * to a provider that it can make fail; the caller stops that.
 */
export const startOwnDelivery = async (): Promise<HttpProxy> => {
  const { env } = inject('stack');
  const provider = await HttpProxy.start(env.MAIL_PROVIDER_URL ?? '');
  Object.assign(process.env, {
    MAIL_PROVIDER_URL: provider.url,
    MAIL_QUEUE_URL: await stillQueue(env.AWS_ENDPOINT_URL ?? ''),
    MAIL_RETRY_SECONDS: '0',
  });
  return provider;
};
