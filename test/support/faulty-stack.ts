import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Answer, call, type RequestOptions } from './client.ts';
import { FaultyPart } from './faulty-part.ts';
import { startTestStack } from './start-stack.ts';

/** A stack of its own whose databases can fail, requests counted, with a developer, a project and a collection `notes`. */
export interface FaultyStack {
  readonly mongo: FaultyPart;
  readonly dynamo: FaultyPart;
  readonly projectId: string;
  /** Another project of the developer's, for calls that may delete it. */
  readonly spareProjectId: string;
  readonly credentials: { readonly email: string; readonly password: string };
  /** The developer's refresh cookie, never used. */
  readonly cookie: string;
  readonly api: <Body = Record<string, unknown>>(
    method: string,
    path: string,
    options?: RequestOptions,
  ) => Promise<Answer<Body>>;
  readonly dashboard: <Body = Record<string, unknown>>(
    method: string,
    path: string,
    options?: RequestOptions,
  ) => Promise<Answer<Body>>;
  stop(): Promise<void>;
}

interface Created {
  readonly data: { readonly _id: string; readonly secretKey: string; readonly accessToken: string };
}

export const startFaultyStack = async (): Promise<FaultyStack> => {
  const directory = await mkdtemp(path.join(tmpdir(), 'basalt-faults-'));
  const [mongo, dynamo] = await Promise.all([FaultyPart.mongo(directory), FaultyPart.dynamo(directory)]);
  const stack = await startTestStack(path.join(directory, 'stack'), {
    RATE_LIMIT: '1000000',
    MONGODB_URI: `mongodb://127.0.0.1:${mongo.proxy.port}/?directConnection=true`,
    AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${dynamo.proxy.port}`,
  });
  const credentials = {
    email: `${randomBytes(8).toString('hex')}@example.com`,
    password: randomBytes(9).toString('hex'),
  };
  const registered = await call<Created>(stack.dashboardUrl, 'POST', '/api/auth/register', { body: credentials });
  const token = registered.body.data.accessToken;
  const dashboard: FaultyStack['dashboard'] = (method, where, options = {}) =>
    call(stack.dashboardUrl, method, where, { token, ...options });
  const newProject = async (name: string): Promise<Created['data']> =>
    (await dashboard<Created>('POST', '/api/projects', { body: { name } })).body.data;
  const { _id: projectId, secretKey } = await newProject('faults');
  await dashboard('POST', `/api/projects/${projectId}/collections`, { body: { name: 'notes', schema: null } });
  return {
    mongo,
    dynamo,
    projectId,
    spareProjectId: (await newProject('spare'))._id,
    credentials,
    cookie: registered.cookies[0]?.split(';')[0] ?? '',
    api: (method, where, options = {}) => call(stack.baseUrl, method, where, { key: secretKey, ...options }),
    dashboard,
    stop: async () => {
      await stack.stop();
      await Promise.all([mongo.stop(), dynamo.stop()]);
      await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
};
