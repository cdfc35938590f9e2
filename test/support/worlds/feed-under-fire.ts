import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Document, MongoClient, type WithId } from 'mongodb';
import { type Answer, call, type RequestOptions } from '../clients/client.ts';
import { descendantsOf, stillRunning } from '../clients/local-start.ts';
import { type RunningStack, startTestStack } from '../clients/start-stack.ts';
import { FaultyService } from '../faults/faulty-service.ts';
import { killHard } from '../faults/kill-hard.ts';
import { users } from './users.ts';

const frozenMs = 2000;

/** A service and its database, both of which can be killed, with a private collection `busy` that has a feed. */
export interface FeedUnderFire {
  /** Ids of users. */
  readonly owners: readonly string[];
  /** An access token of one of them, which is of use until it expires, or the service has another address. */
  readonly signIn: (owner: number) => Promise<string | undefined>;
  readonly publishableKey: string;
  /** Calls with the secret key, unless another is given. Nobody listens, or the answer breaks off → `undefined`. */
  readonly ask: <Body>(method: string, where: string, options?: RequestOptions) => Promise<Answer<Body> | undefined>;
  /** What goes wrong, by its name; each is over, or passes by itself, when its promise is kept. */
  readonly faults: Readonly<Record<string, () => Promise<void>>>;
  /** What is stored, tombstones too. */
  readonly stored: () => Promise<readonly WithId<Document>[]>;
  stop(): Promise<void>;
}

interface Made {
  readonly data: {
    readonly _id: string;
    readonly accessToken: string;
    readonly secretKey: string;
    readonly publishableKey: string;
  };
}
interface SignedIn {
  readonly accessToken: string;
  readonly user: { readonly _id: string };
}

const must = async <B>(answer: Promise<Answer<B>>): Promise<B> => {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(`The preparation was answered ${status}: ${JSON.stringify(body)}`);
  return body;
};

export const openFeedUnderFire = async (ownerCount: number): Promise<FeedUnderFire> => {
  const directory = await mkdtemp(path.join(tmpdir(), 'basalt-feed-'));
  const mongo = await FaultyService.mongo(directory);
  const uri = `mongodb://127.0.0.1:${mongo.proxy.port}/?directConnection=true`;
  const start = (): Promise<RunningStack> => startTestStack(path.join(directory, 'stack'), { MONGODB_URI: uri });
  let stack = await start();
  const dashboard = (where: string, body: unknown, token = '', method = 'POST') =>
    must(call<Made>(stack.dashboardUrl, method, where, { body, ...(token && { token }) }));
  const credentials = { email: 'feed@example.com', password: 'kept-password' };
  const { accessToken } = (await dashboard('/api/auth/register', credentials)).data;
  const { _id: id, secretKey, publishableKey } = (await dashboard('/api/projects', { name: 'feed' }, accessToken)).data;
  const base = `/api/projects/${id}`;
  await dashboard(base, { authEnabled: true }, accessToken, 'PATCH');
  const rls = { enabled: true, mode: 'private' };
  for (const body of [users, { name: 'busy', schema: null, changes: true, rls }]) {
    await dashboard(`${base}/collections`, body, accessToken);
  }
  const ask: FeedUnderFire['ask'] = async (method, where, options = {}) => {
    try {
      return await call(stack.baseUrl, method, where, { key: secretKey, ...options });
    } catch (error) {
      if (error instanceof TypeError || error instanceof SyntaxError) return undefined;
      throw error;
    }
  };
  const enter = (route: string, owner: number) => {
    const body = { email: `owner-${owner}@example.com`, password: 'kept-password' };
    return ask<SignedIn>('POST', `/api/userAuth/${route}`, { key: publishableKey, body });
  };
  const owners: string[] = [];
  while (owners.length < ownerCount) owners.push((await enter('signup', owners.length))?.body.user._id ?? '');
  const killService = async (): Promise<void> => {
    const processes = [stack.pid, ...descendantsOf(stack.pid)];
    for (const pid of processes) killHard(pid);
    while (stillRunning(processes).length > 0) await pause(10);
    stack = await start();
  };
  return {
    owners,
    publishableKey,
    signIn: async (owner) => (await enter('login', owner))?.body.accessToken,
    ask,
    faults: {
      'answers lost': async () => {
        for (const of of ['insert', 'findAndModify', 'update']) mongo.proxy.meet('lose the answer', { of, times: 5 });
      },
      'a slow database': async () => {
        mongo.proxy.meet('delay', { of: 'busy', times: 8 });
      },
      'a database that stands still': async () => {
        await mongo.freeze();
        await pause(frozenMs);
        await mongo.heal();
      },
      'kill -9 of the database': async () => {
        await mongo.kill();
        await mongo.restart();
      },
      'kill -9 of the service': killService,
    },
    stored: async () => {
      await mongo.heal();
      const client = new MongoClient(uri);
      try {
        return await client.db(`p_${id}`).collection('busy').find().toArray();
      } finally {
        await client.close();
      }
    },
    stop: async () => {
      await stack.stop();
      await mongo.stop();
      await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
};
