import { setBounded } from '../core/cache.ts';
import { tryOrLog } from '../core/log.ts';

/**
 * Puts a message on a queue that becomes visible after a delay. Every write may reach this code, and few send a message:
 * the SDK is loaded by the first one.
 */
export const sendDelayed = async (queueUrl: string, body: string, seconds: number): Promise<void> => {
  const queues = await import('./sqs.ts');
  await queues.sendDelayed(queueUrl, body, seconds);
};

const remembered = 1000;
const quietMs = 1000;

/**
 * Wakes a worker after writes: immediately, or at most once a second per key with a message that is delivered after all
 * writes so far. Never fails; a schedule covers lost messages.
 */
export const wakeUps = (
  /** What the log says if the message could not be sent. */
  message: string,
  send: (key: string, delaySeconds: number) => Promise<void>,
) => {
  /** When the next message is due, by `performance.now()`. */
  const sent = new Map<string, number>();
  return {
    wake: async (key: string): Promise<void> => {
      const now = performance.now();
      const last = sent.get(key);
      if (last !== undefined && now < last) return;
      const wait = last !== undefined && now - last < quietMs ? 1 : 0;
      setBounded(sent, key, now + wait * 1000, remembered);
      if (!(await tryOrLog('warn', { message, for: key }, () => send(key, wait)))) sent.delete(key);
    },
    forget: (): void => sent.clear(),
  };
};
