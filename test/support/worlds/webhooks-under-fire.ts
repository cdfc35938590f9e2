import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, call, type RequestOptions } from '../clients/client.ts';
import { descendantsOf, stillRunning } from '../clients/local-start.ts';
import { receiverAddresses } from '../clients/receiver-addresses.ts';
import { startTestStack } from '../clients/start-stack.ts';
import { killHard } from '../faults/kill-hard.ts';
import { Receiver } from './receiver.ts';
import type { Webhook } from './webhooks.ts';

/** A service of its own that can be killed, with a project on it. */
export interface WebhooksUnderFire {
  /** Calls with the secret key; where nobody listens, or the answer breaks off, again: it may then be done twice. */
  readonly ask: <Body>(method: string, where: string, options?: RequestOptions) => Promise<Answer<Body>>;
  readonly addCollection: (name: string) => Promise<void>;
  /** A server of the developer's, and the webhook that leads to it. */
  readonly hook: (collection: string) => Promise<{ readonly receiver: Receiver; readonly secret: string }>;
  /** Ends every process of the service and starts it anew. */
  readonly kill: () => Promise<void>;
  stop(): Promise<void>;
}

interface Made {
  readonly data: { readonly _id: string; readonly accessToken: string; readonly secretKey: string };
}

const isCut = (error: unknown): boolean => error instanceof TypeError || error instanceof SyntaxError;

export const openWebhooksUnderFire = async (): Promise<WebhooksUnderFire> => {
  const directory = await mkdtemp(path.join(tmpdir(), 'basalt-webhooks-'));
  const permitted = receiverAddresses().join();
  const start = () => startTestStack(directory, { PERMITTED_ADDRESSES: permitted });
  let stack = await start();
  const receivers: Receiver[] = [];
  const dashboard = async <Data>(where: string, body: unknown, token = ''): Promise<Data> => {
    const made = await call<{ data: Data }>(stack.dashboardUrl, 'POST', where, { body, ...(token && { token }) });
    if (made.status >= 300) throw new Error(`${where} answered ${made.status}: ${JSON.stringify(made.body)}`);
    return made.body.data;
  };
  const credentials = { email: 'hooks@example.com', password: 'kept-password' };
  const { accessToken } = await dashboard<Made['data']>('/api/auth/register', credentials);
  const { _id, secretKey } = await dashboard<Made['data']>('/api/projects', { name: 'hooks' }, accessToken);
  const base = `/api/projects/${_id}`;
  return {
    ask: async (method, where, options = {}) => {
      for (;;) {
        try {
          const answer = await call<never>(stack.baseUrl, method, where, { key: secretKey, ...options });
          if (answer.status < 500) return answer;
        } catch (error) {
          if (!isCut(error)) throw error;
        }
        await pause(50);
      }
    },
    addCollection: (name) => dashboard(`${base}/collections`, { name, schema: null, changes: true }, accessToken),
    hook: async (collection) => {
      const receiver = await Receiver.start(permitted);
      receivers.push(receiver);
      const events = ['document.created', 'document.updated', 'document.deleted'];
      const body = { url: receiver.url, events, collections: [collection] };
      const { secret } = await dashboard<Webhook>(`${base}/webhooks`, body, accessToken);
      return { receiver, secret };
    },
    kill: async () => {
      const processes = [stack.pid, ...descendantsOf(stack.pid)];
      for (const pid of processes) killHard(pid);
      while (stillRunning(processes).length > 0) await pause(10);
      stack = await start();
    },
    stop: async () => {
      await stack.stop();
      await Promise.all(receivers.map((receiver) => receiver.close()));
      await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
};
