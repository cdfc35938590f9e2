/**
 * `node bench/trees.ts OTHER [rounds] [row]`: CPU per request in this work tree, as a ratio to the work tree `OTHER`,
 * which has its own `node_modules`. Handlers of both run alternately in this process with all middleware, on one local
 * service. `row` filters by name.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { root } from '../infra/build/function-files.ts';
import { LambdaContext } from '../infra/local/in-process.ts';
import { parseSettings } from '../infra/local/settings.ts';
import { startStack } from '../infra/local/stack.ts';
import { addMailLogs } from './dashboard.ts';
import { startProvider } from './instant-provider.ts';
import { batchOf, resetMailQuota, sampleMail } from './mail.ts';
import { endProgress, progress } from './progress.ts';
import { makeQueues } from './queues.ts';
import { sampleBulk, sampleDocument, sumsOf } from './samples.ts';
import { addJoined, connect, joined, makeBed } from './seed.ts';
import { median } from './statistics.ts';

type Handler = (
  event: unknown,
  context: LambdaContext,
) => Promise<{ readonly statusCode: number; readonly body: string }>;
type Request = Partial<Pick<APIGatewayProxyEventV2, 'pathParameters' | 'body' | 'rawQueryString'>>;

const [other = '', rounds = '60', only = ''] = process.argv.slice(2);
const requestsARound = 250;
const parallel = 4;
const users = 20;

const directory = await mkdtemp(path.join(tmpdir(), 'basalt-trees-'));
const stack = await startStack({
  ...parseSettings({ RATE_LIMIT: '0', PASSWORD_COST: '4', LOG: 'silent', BASALT_DIR: directory }),
  port: 0,
  report: progress,
  onFailure: (detail) => {
    console.error(detail);
    process.exit(1);
  },
});
const provider = await startProvider();
const [MAIL_QUEUE_URL] = await makeQueues(stack.env.AWS_ENDPOINT_URL ?? '', ['trees']);
Object.assign(process.env, stack.env, { MAIL_QUEUE_URL, MAIL_PROVIDER_URL: provider.url });

const handlerIn = async (tree: string, file: string): Promise<Handler> =>
  ((await import(pathToFileURL(path.resolve(tree, 'functions', file)).href)) as { readonly handler: Handler }).handler;

type Send = (handler: Handler, request: Request) => Promise<string>;

/** Sends a request and returns the body. */
const sender =
  (headers: Readonly<Record<string, string>>): Send =>
  async (handler, request) => {
    const http = { method: 'ANY', path: '/', sourceIp: '127.0.0.1', userAgent: '' };
    const event = { version: '2.0', rawQueryString: '', headers, requestContext: { http, requestId: 'bench' } };
    const { statusCode, body } = await handler({ ...event, ...request }, new LambdaContext('bench'));
    if (statusCode >= 500 || statusCode === 401) throw new Error(`${statusCode} ${body}`);
    return body;
  };

/** CPU per request in this process in µs, with a few requests at a time. */
const cpuOf = async (send: Send, handler: Handler, requestOf: (index: number) => Request): Promise<number> => {
  const before = process.cpuUsage();
  let next = 0;
  const some = async (): Promise<void> => {
    while (next < requestsARound) await send(handler, requestOf(next++));
  };
  await Promise.all(Array.from({ length: parallel }, some));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requestsARound;
};

try {
  const bed = await makeBed(stack.dashboardUrl, ['posts']);
  const client = await connect(stack.mongoUri);
  await addJoined(bed, client.db(bed.database), 1000);
  await addMailLogs(client.db('control'), bed.projectId);
  await client.close();
  const send = sender({ 'x-api-key': bed.secretKey, 'content-type': 'application/json' });
  const look = sender({ authorization: `Bearer ${bed.dashboardToken}` });
  const signUp = await handlerIn(root, 'user-auth/sign-up.ts');
  const withPublishableKey = { 'x-api-key': bed.publishableKey };
  let signedUp = '';
  for (let index = 0; index < users; index++) {
    const credentials = { email: `person-${index}@example.com`, password: 'a password for the benchmark' };
    signedUp = await sender(withPublishableKey)(signUp, { body: JSON.stringify(credentials) });
  }
  const { accessToken } = JSON.parse(signedUp) as { readonly accessToken: string };
  const asUser = sender({ ...withPublishableKey, authorization: `Bearer ${accessToken}` });
  const pathParameters = { collectionName: 'posts' };
  const inProject = { projectId: bed.projectId };
  const body = (index: number): string => JSON.stringify(sampleDocument(index));
  const made = await send(await handlerIn(root, 'data/create-document.ts'), { pathParameters, body: body(0) });
  const { _id: id } = JSON.parse(made) as { readonly _id: string };
  const operations: Readonly<Record<string, readonly [file: string, (index: number) => Request, Send?]>> = {
    create: ['data/create-document.ts', (index) => ({ pathParameters, body: body(index) })],
    get: ['data/get-document.ts', () => ({ pathParameters: { ...pathParameters, id } })],
    'get, 404': ['data/get-document.ts', () => ({ pathParameters: { ...pathParameters, id: '0'.repeat(24) } })],
    list: ['data/list-documents.ts', () => ({ pathParameters })],
    filter: ['data/list-documents.ts', () => ({ pathParameters, rawQueryString: 'likes_gte=400&limit=20' })],
    populated: [
      'data/list-documents.ts',
      () => ({ pathParameters: { collectionName: joined }, rawQueryString: 'populate=writer&limit=20' }),
    ],
    aggregate: [
      'data/aggregate-documents.ts',
      (index) => ({ pathParameters, body: JSON.stringify({ pipeline: sumsOf(index) }) }),
    ],
    update: ['data/update-document.ts', (index) => ({ pathParameters: { ...pathParameters, id }, body: body(index) })],
    'create 100 at once': [
      'data/create-documents.ts',
      (index) => ({ pathParameters, body: JSON.stringify(sampleBulk(index)) }),
    ],
    me: ['user-auth/get-me.ts', () => ({}), asUser],
    'send mail': ['mail/send-mail.ts', () => ({ body: JSON.stringify(sampleMail) })],
    'send a batch of 10 mails': ['mail/send-batch.ts', () => ({ body: batchOf(10) })],
    'list projects': ['dashboard/projects/list-projects.ts', () => ({}), look],
    'data browser': [
      'dashboard/documents/list-project-documents.ts',
      () => ({ pathParameters: { ...inProject, ...pathParameters } }),
      look,
    ],
    'list users': ['dashboard/users/list-users.ts', () => ({ pathParameters: inProject }), look],
    'mail log': ['dashboard/mail/list-project-mail-logs.ts', () => ({ pathParameters: inProject }), look],
    'create, 400': ['data/create-document.ts', (index) => ({ pathParameters, body: `{"title":${index}}` })],
  };
  for (const [name, [file, requestOf, ask = send]] of Object.entries(operations)) {
    if (!name.includes(only)) continue;
    const [here, there] = [await handlerIn(root, file), await handlerIn(other, file)];
    const measured: [number, number][] = [];
    for (let round = 0; round < Number(rounds) + 5; round++) {
      progress(`${name}: round ${round}`);
      if (name.includes('mail')) await resetMailQuota(stack.env.TABLE_NAME ?? '', bed.projectId);
      const first = round % 2 === 0;
      const one = await cpuOf(ask, first ? here : there, requestOf);
      const two = await cpuOf(ask, first ? there : here, requestOf);
      if (round >= 5) measured.push(first ? [one, two] : [two, one]);
    }
    endProgress();
    const ratios = measured.map(([ours, theirs]) => ours / theirs).sort((a, b) => a - b);
    const at = (share: number): string => (ratios[Math.floor(ratios.length * share)] ?? 0).toFixed(3);
    const micros = median(measured.map(([, theirs]) => theirs)).toFixed(0);
    console.log(
      `${name}: ${median(ratios).toFixed(3)} of the other (${micros} µs); half of the rounds ${at(0.25)} to ${at(0.75)}`,
    );
  }
} finally {
  await stack.stop();
  provider.stop();
  await rm(directory, { recursive: true, force: true });
}
process.exit(0);
