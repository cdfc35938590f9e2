import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Answer, call, type RequestOptions } from '../clients/client.ts';
import { freePorts } from '../clients/free-ports.ts';
import { descendantsOf } from '../clients/local-start.ts';
import { site, users } from '../clients/social.ts';
import { startTestStack } from '../clients/start-stack.ts';
import { FaultyService } from './faulty-service.ts';

/**
 * A service with databases, file store and queue that can fail, with request counting, a developer, a project, a
 * collection `notes` and a user.
 */
export interface FaultyStack {
  readonly mongo: FaultyService;
  readonly dynamo: FaultyService;
  readonly files: FaultyService;
  /** Sends a signal to the queue service: it is silent from `SIGSTOP` to `SIGCONT`. */
  readonly signalQueue: (signal: 'SIGSTOP' | 'SIGCONT') => Promise<void>;
  readonly projectId: string;
  /** Another project, which calls may delete. */
  readonly spareProjectId: string;
  readonly credentials: { readonly email: string; readonly password: string };
  /** An unused refresh cookie of another session of the developer. */
  readonly cookie: string;
  readonly publishableKey: string;
  /** An access token of the user. */
  readonly userToken: string;
  /** Unused refresh tokens of the user, each of its own session. */
  readonly unusedRefreshToken: () => string;
  /** Calls the public API, by default with the secret key. */
  readonly api: <Body = Record<string, unknown>>(
    method: string,
    path: string,
    options?: RequestOptions,
  ) => Promise<Answer<Body>>;
  /** Calls user routes with the publishable key. */
  readonly userAuth: <Body = Record<string, unknown>>(
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
  readonly data: { readonly _id: string; readonly secretKey: string; readonly publishableKey: string };
}

interface Registered {
  readonly data: { readonly accessToken: string };
}

interface SignedIn {
  readonly accessToken: string;
  readonly refreshToken: string;
}

const settings = {
  authEnabled: true,
  siteUrl: site,
  signIn: { emailCode: true, anonymous: true, passkey: true, secondFactor: 'optional' },
  socialProviders: { github: { enabled: true, clientId: 'test-client', clientSecret: 'test-secret-0123456789' } },
};

/** More than one run needs, including retries. */
const sessionCount = 60;

const queuePid = async (stackPid: number): Promise<number> => {
  for (const pid of descendantsOf(stackPid)) {
    if ((await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes('queue-host.ts')) return pid;
  }
  throw new Error('The stack has no queue service');
};

const good = <Body>({ status, body }: Answer<Body>): Body => {
  if (status >= 300) throw new Error(`The preparation was answered ${status}: ${JSON.stringify(body)}`);
  return body;
};

export const startFaultyStack = async (): Promise<FaultyStack> => {
  const directory = await mkdtemp(path.join(tmpdir(), 'basalt-faults-'));
  const port = await freePorts();
  const [mongo, dynamo, files] = await Promise.all([
    FaultyService.mongo(directory),
    FaultyService.dynamo(directory),
    FaultyService.files(directory, port),
  ]);
  const stack = await startTestStack(path.join(directory, 'stack'), {
    // As processes, all functions at the same time would exceed the machine, and waiting ones would respond late.
    BUNDLES: '',
    RATE_LIMIT: '1000000',
    RATE_BLOCK: '1',
    MONGODB_URI: `mongodb://127.0.0.1:${mongo.proxy.port}/?directConnection=true`,
    AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${dynamo.proxy.port}`,
    AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${files.proxy.port}`,
    FILES_URL: `http://127.0.0.1:${port + 6}`,
  });
  const credentials = {
    email: `${randomBytes(8).toString('hex')}@example.com`,
    password: randomBytes(9).toString('hex'),
  };
  const registered = await call<Registered>(stack.dashboardUrl, 'POST', '/api/auth/register', { body: credentials });
  const token = registered.body.data.accessToken;
  const loggedIn = await call<Registered>(stack.dashboardUrl, 'POST', '/api/auth/login', { body: credentials });
  const dashboard: FaultyStack['dashboard'] = (method, where, options = {}) =>
    call(stack.dashboardUrl, method, where, { token, ...options });
  const newProject = async (name: string): Promise<Created['data']> =>
    good(await dashboard<Created>('POST', '/api/projects', { body: { name } })).data;
  const { _id: projectId, secretKey, publishableKey } = await newProject('faults');
  good(await dashboard('PATCH', `/api/projects/${projectId}`, { body: settings }));
  for (const body of [{ name: 'notes', schema: null }, users]) {
    good(await dashboard('POST', `/api/projects/${projectId}/collections`, { body }));
  }
  const userAuth: FaultyStack['userAuth'] = (method, where, options = {}) =>
    call(stack.baseUrl, method, `/api/userAuth/${where}`, { key: publishableKey, ...options });
  const signIn = async (route: string): Promise<SignedIn> =>
    good(await userAuth<SignedIn>('POST', route, { body: credentials, headers: { 'x-refresh-token-mode': 'header' } }));
  const { accessToken: userToken } = await signIn('signup');
  const refreshTokens: string[] = [];
  while (refreshTokens.length < sessionCount) refreshTokens.push((await signIn('login')).refreshToken);
  return {
    mongo,
    dynamo,
    files,
    signalQueue: async (signal) => {
      process.kill(await queuePid(stack.pid), signal);
    },
    projectId,
    spareProjectId: (await newProject('spare'))._id,
    credentials,
    cookie: loggedIn.cookies[0]?.split(';')[0] ?? '',
    publishableKey,
    userToken,
    unusedRefreshToken: () => {
      const token = refreshTokens.pop();
      if (token === undefined) throw new Error('All sessions were used: raise `sessionCount`');
      return token;
    },
    userAuth,
    api: (method, where, options = {}) => call(stack.baseUrl, method, where, { key: secretKey, ...options }),
    dashboard,
    stop: async () => {
      await stack.stop();
      await Promise.all([mongo.stop(), dynamo.stop(), files.stop()]);
      await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
};
