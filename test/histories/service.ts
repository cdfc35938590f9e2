import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { type Answer, call, type RequestOptions } from '../support/clients/client.ts';
import { descendantsOf, stillRunning } from '../support/clients/local-start.ts';
import { type RunningStack, startTestStack } from '../support/clients/start-stack.ts';
import { FaultyService } from '../support/faults/faulty-service.ts';
import { killHard } from '../support/faults/kill-hard.ts';

/** A local stack with a project. Its databases and the service itself can fail. */
export interface Service {
  readonly mongo: FaultyService;
  readonly dynamo: FaultyService;
  /** Kills every process of the service with `kill -9` and starts it again. */
  readonly killService: () => Promise<void>;
  /** Changes with every start, which ends the access tokens: they are valid for one address. */
  readonly address: () => string;
  /**
   * Calls the public API, by default with the secret key. `undefined` if there is no complete response. Waits while the
   * service starts.
   */
  readonly api: <Body = Record<string, unknown>>(
    method: string,
    path: string,
    options?: RequestOptions,
  ) => Promise<Answer<Body> | undefined>;
  readonly publishableKey: string;
  stop(): Promise<void>;
}

interface Created {
  readonly data: {
    readonly _id: string;
    readonly accessToken: string;
    readonly secretKey: string;
    readonly publishableKey: string;
  };
}

/** Longer than any function runs. */
const patienceMs = 40_000;

const answered = async <Body>(request: Promise<Answer<Body>>): Promise<Body> => {
  const { status, body } = await request;
  if (status >= 300) throw new Error(`The preparation failed with ${status}: ${JSON.stringify(body)}`);
  return body;
};

/** The free plan allows too few collections. */
const setPlan = async ({ mongoUri, env }: RunningStack, email: string): Promise<void> => {
  const client = new MongoClient(mongoUri);
  const developers = client.db(env.CONTROL_DATABASE ?? 'control').collection('developers');
  await developers.updateOne({ email }, { $set: { plan: 'pro' } }).finally(() => client.close());
};

/** Starts a stack with a project that has these collections and accounts. */
export const startService = async (collections: readonly object[]): Promise<Service> => {
  const directory = await mkdtemp(path.join(tmpdir(), 'basalt-histories-'));
  const [mongo, dynamo] = await Promise.all([FaultyService.mongo(directory), FaultyService.dynamo(directory)]);
  const start = (): Promise<RunningStack> =>
    startTestStack(path.join(directory, 'stack'), {
      MONGODB_URI: `mongodb://127.0.0.1:${mongo.proxy.port}/?directConnection=true`,
      AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${dynamo.proxy.port}`,
    });
  let stack = await start();
  let ready: Promise<void> = Promise.resolve();
  const restart = async (): Promise<void> => {
    const processes = [stack.pid, ...descendantsOf(stack.pid)];
    for (const pid of processes) killHard(pid);
    while (stillRunning(processes).length > 0) await pause(10);
    stack = await start();
  };
  const dashboard = (method: string, where: string, body: object, token?: string): Promise<Created> =>
    answered(call<Created>(stack.dashboardUrl, method, where, { body, ...(token && { token }) }));
  const owner = { email: 'histories@example.com', password: 'kept-password' };
  const { accessToken } = (await dashboard('POST', '/api/auth/register', owner)).data;
  await setPlan(stack, owner.email);
  const project = (await dashboard('POST', '/api/projects', { name: 'histories' }, accessToken)).data;
  const base = `/api/projects/${project._id}`;
  await dashboard('PATCH', base, { authEnabled: true }, accessToken);
  for (const collection of collections) await dashboard('POST', `${base}/collections`, collection, accessToken);
  return {
    mongo,
    dynamo,
    publishableKey: project.publishableKey,
    address: () => stack.baseUrl,
    killService: () => {
      ready = restart();
      return ready;
    },
    api: async <Body>(method: string, where: string, options: RequestOptions = {}) => {
      await ready;
      // A connection that breaks off throws a TypeError, and a truncated body a SyntaxError.
      const response = call<Body>(stack.baseUrl, method, where, { key: project.secretKey, ...options }).catch(
        (error) => {
          if (error instanceof TypeError || error instanceof SyntaxError) return undefined;
          throw error;
        },
      );
      return Promise.race([response, pause(patienceMs, undefined, { ref: false })]);
    },
    stop: async () => {
      await stack.stop();
      await Promise.all([mongo.stop(), dynamo.stop()]);
      await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
};
