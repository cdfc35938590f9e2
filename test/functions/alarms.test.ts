import { Template } from 'aws-cdk-lib/assertions';
import { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { App, Stack } from 'aws-cdk-lib/core';
import { Collection, Db, MongoNetworkError, ObjectId } from 'mongodb';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as proposeSchema } from '../../functions/dashboard/assistant/propose-schema.ts';
import { handler as getDocument } from '../../functions/data/get-document.ts';
import { handler as listDocuments } from '../../functions/data/list-documents.ts';
import { handler as listAudiences } from '../../functions/mail/audiences/list-audiences.ts';
import { handler as sendBatch } from '../../functions/mail/send-batch.ts';
import { handler as requestUpload } from '../../functions/storage/request-upload.ts';
import { countNotOurs } from '../../infra/operate/watch/failures-not-ours.ts';
import { forgetProjects } from '../../shared/collections/find-project-by-key.ts';
import { onControl } from '../../shared/persistence/mongo.ts';
import { type InvokeOptions, invoke } from '../support/clients/invoke.ts';
import { placeFor } from '../support/clients/other-storage.ts';
import { isCounted } from '../support/data/metric-filter.ts';
import { newMailProject } from '../support/fixtures/mail-project.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

const patternOf = (): string => {
  const stack = new Stack(new App({ builtinCloudFormationValidation: false }), 'Watched');
  countNotOurs(stack, 'NotOurs', new HttpApi(stack, 'Api'), new LogGroup(stack, 'Log'));
  const [filter] = Object.values(Template.fromStack(stack).findResources('AWS::Logs::MetricFilter'));
  return String(filter?.Properties.FilterPattern);
};

let pattern: string;
let project: TestProject;

beforeAll(async () => {
  // An unreachable provider, and the initial value of the secret.
  const provider = { MAIL_PROVIDER_URL: 'http://127.0.0.1:9', MAIL_PROVIDER_KEY: 'h7Gk2LsPq0' };
  Object.assign(process.env, { RATE_LIMIT: '1000000', RATE_BLOCK: '1', LOG: 'info', ...provider });
  pattern = patternOf();
  project = await newProject([{ name: 'notes' }]);
});
afterEach(() => {
  vi.restoreAllMocks();
});

type Line = Readonly<Record<string, unknown>>;

/** Calls a handler in this process. Returns its status, code and log lines. */
const askAndRead = async (handler: Parameters<typeof invoke>[0], options: InvokeOptions) => {
  const written: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => written.push(String(chunk)) > 0);
  const { status, body } = await invoke(handler, options);
  vi.mocked(process.stdout.write).mockRestore();
  const lines = written.flatMap((text) => text.split('\n')).filter((text) => text.startsWith('{'));
  return { status, code: body.code, lines: lines.map((text) => JSON.parse(text) as Line) };
};

const notes = (of: TestProject) => ({ key: of.secretKey, params: { collectionName: 'notes' } });

const place = async (of: TestProject, change: object): Promise<void> => {
  await onControl((db) => db.collection('projects').updateOne({ _id: new ObjectId(of.id) }, { $set: change }));
  forgetProjects();
};

const keys = { accessKeyId: 'AKIAOWN', secretAccessKey: 'own' };

/** Errors that a caller causes with its own services, or by requesting what this deployment lacks. */
const theirs: readonly (readonly [code: string, status: number, ask: () => ReturnType<typeof askAndRead>])[] = [
  [
    'NOT_SET_UP',
    501,
    () =>
      askAndRead(proposeSchema, {
        token: project.developer.token,
        params: { projectId: project.id },
        body: { prompt: 'Orders of a shop' },
      }),
  ],
  [
    'NOT_SET_UP',
    501,
    () => {
      const mail = { to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
      return askAndRead(sendBatch, { key: project.secretKey, body: [mail] });
    },
  ],
  [
    'OWN_DATABASE_UNAVAILABLE',
    503,
    async () => {
      const own = await newProject([{ name: 'notes' }]);
      await place(own, { placement: { kind: 'external', encryptedUri: 'AAAA', host: 'db.example.com' } });
      return askAndRead(listDocuments, notes(own));
    },
  ],
  [
    'STORAGE_UNAVAILABLE',
    503,
    async () => {
      const own = await newProject();
      const restricted = { endpoint: 'https://127.0.0.1:9', region: 'x', bucket: 'own', keys };
      await place(own, { storage: await placeFor(own.id, restricted, null) });
      const body = { filename: 'a.txt', contentType: 'text/plain', size: 1 };
      return askAndRead(requestUpload, { key: own.secretKey, body });
    },
  ],
  [
    'MAIL_PROVIDER_UNAVAILABLE',
    503,
    async () => {
      const own = await newMailProject('free');
      return askAndRead(listAudiences, { key: own.secretKey });
    },
  ],
];

describe('the alarm for failing requests', () => {
  test.each(theirs)('%s with status %i is deducted by one log line and logs no error', async (code, status, ask) => {
    const { lines, ...answer } = await ask();
    expect(answer).toEqual({ status, code });
    expect(lines.filter((line) => isCounted(pattern, line))).toMatchObject([{ status, code }]);
    expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('503 DATABASE_UNAVAILABLE counts and is logged as an error when our own database fails', async () => {
    await askAndRead(listDocuments, notes(project));
    vi.spyOn(Db.prototype, 'command').mockRejectedValue(new MongoNetworkError('cut'));
    vi.spyOn(Collection.prototype, 'findOne').mockRejectedValue(new MongoNetworkError('cut'));
    const { lines, ...answer } = await askAndRead(getDocument, {
      ...notes(project),
      params: { collectionName: 'notes', id: 'a'.repeat(24) },
    });
    expect(answer).toEqual({ status: 503, code: 'DATABASE_UNAVAILABLE' });
    expect(lines.filter((line) => isCounted(pattern, line))).toEqual([]);
    expect(lines.filter(({ level }) => level === 'error')).toMatchObject([{ code: 'DATABASE_UNAVAILABLE' }]);
  });

  test('200 and 404 do not count', async () => {
    for (const id of ['', 'a'.repeat(24)]) {
      const { lines } = await askAndRead(id === '' ? listDocuments : getDocument, {
        ...notes(project),
        params: { collectionName: 'notes', id },
      });
      expect(lines.map(({ route }) => route)).toContain(id === '' ? 'list-documents' : 'get-document');
      expect(lines.filter((line) => isCounted(pattern, line))).toEqual([]);
    }
  });
});
