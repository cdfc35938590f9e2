import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { GetQueueUrlCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { localAccount } from '../../infra/local/keys.ts';
import { freePorts } from '../support/clients/free-ports.ts';
import { type LocalStart, localStart } from '../support/clients/local-start.ts';
import { plainEnvironment } from '../support/clients/plain-environment.ts';

const script = path.resolve(import.meta.dirname, '../../infra/operate/doctor/main.ts');
let directory: string;
let local: LocalStart;

interface Output {
  readonly code: number;
  readonly text: string;
}

const doctor = (args: readonly string[], where = directory): Promise<Output> =>
  new Promise((resolve) => {
    const env = { ...plainEnvironment(), BASALT_DIR: where, NO_COLOR: '1' };
    execFile(process.execPath, [script, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, text: stdout + stderr }),
    );
  });

const environmentFile = () => path.join(directory, 'environment.json');

const environment = async (): Promise<Record<string, string>> =>
  JSON.parse(await readFile(environmentFile(), 'utf8')) as Record<string, string>;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'basalt-doctor-'));
  local = localStart({ BASALT_DIR: directory, PORT: String(await freePorts()) });
  await local.ready();
});

afterAll(async () => {
  local.child.kill('SIGTERM');
  await local.ended;
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

/** Runs the doctor with some variables of the functions changed. */
const doctorWith = async (changes: Readonly<Record<string, string>>): Promise<Output> => {
  const real = await environment();
  await writeFile(environmentFile(), JSON.stringify({ ...real, ...changes }));
  try {
    return await doctor(['--local']);
  } finally {
    await writeFile(environmentFile(), JSON.stringify(real));
  }
};

describe('npm run doctor -- --local', () => {
  test('finds no problem and shows no secret when the service is new', async () => {
    const { code, text } = await doctor(['--local']);
    const checks = text.match(/^ok /gm)?.length;
    expect(checks).toBeGreaterThan(10);
    expect(text).toMatch(new RegExp(`\n${checks} ok, 0 warnings, 0 failed, \\d+ skipped\n$`));
    expect(code).toBe(0);
    for (const name of ['public API', 'MongoDB', 'table', 'mail queue', 'work queue', 'file bucket']) {
      expect(text).toMatch(new RegExp(`^ok +${name}: `, 'm'));
    }
    const { ENCRYPTION_KEY, MONGODB_URI, MAIL_WEBHOOK_SECRET } = await environment();
    for (const secret of [ENCRYPTION_KEY, MONGODB_URI, MAIL_WEBHOOK_SECRET]) expect(text).not.toContain(secret);
    expect((await stat(environmentFile())).mode & 0o777).toBe(0o600);
  });

  const nowhere = 'http://127.0.0.1:1';
  const random = 'k8#Jq!random';

  test.each<[string, number, Record<string, string>, Record<string, readonly string[]>]>([
    [
      'every setting of the functions',
      1,
      {
        ENCRYPTION_KEY: 'c2hvcnQ=',
        MAIL_PROVIDER_URL: nowhere,
        TABLE_NAME: 'another',
        FILES_BUCKET: 'another-bucket',
        MAIL_QUEUE_URL: `${nowhere}/000000000000/none`,
        CONTROL_DATABASE: 'empty',
        PUBLIC_URL: nowhere,
        FILES_URL: nowhere,
      },
      {
        failed: [
          'master key',
          'table',
          'table operations',
          'table expiry',
          'file bucket',
          'mail queue',
          'control database',
          'mail provider',
          'public API',
          'CORS of the public API',
          'console',
          'public files',
        ],
      },
    ],
    [
      'the MongoDB URI',
      1,
      { MONGODB_URI: random },
      { failed: ['MongoDB secret', 'MongoDB', 'MongoDB permissions', 'control database'] },
    ],
    [
      'an optional setting',
      0,
      {
        MAIL_PROVIDER_KEY: random,
        MAIL_WEBHOOK_SECRET: random,
        AI_BASE_URL: nowhere,
        AI_API_KEY: '{random}',
        VERIFIER_IP_A: '',
        DASHBOARD_URL: 'https://not-allowed.example.com',
      },
      {
        warning: [
          'mail provider secret',
          'mail webhook secret',
          'language model secret',
          'egress addresses',
          'mail provider',
          'CORS of the dashboard API',
        ],
      },
    ],
  ])(
    'names each problem and its fix when %s is wrong, and ends with %i',
    async (_what, expected, changes, findings) => {
      const { code, text } = await doctorWith(changes);
      const found = (level: string) =>
        [...text.matchAll(new RegExp(`^${level} +([^:]+): .+\\n +\\S`, 'gm'))].map(([, name]) => name);
      expect(found('failed')).toEqual(findings.failed ?? []);
      expect(found('warning')).toEqual(findings.warning ?? []);
      expect(code).toBe(expected);
      expect(text).not.toContain(random);
    },
  );

  test('warns when there are dead letters, and fails when the control database lacks an index', async () => {
    const { AWS_ENDPOINT_URL = '', MONGODB_URI = '' } = await environment();
    const sqs = new SQSClient({ endpoint: AWS_ENDPOINT_URL, ...localAccount, useQueueUrlAsEndpoint: false });
    const { QueueUrl = '' } = await sqs.send(new GetQueueUrlCommand({ QueueName: 'work-dead' }));
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'x' }));
    sqs.destroy();
    const client = new MongoClient(MONGODB_URI);
    await client.db('control').collection('mailLogs').dropIndex('latest');
    await client.close();
    const { code, text } = await doctor(['--local']);
    expect(text).toMatch(/^warning +work queue: 1 dead letter in work-dead\n +Find the reason/m);
    expect(text).toMatch(/^failed +control database: indexes are missing: mailLogs\.latest\n/m);
    expect(code).toBe(1);
  });

  test('leaves no database behind when it has tested the permissions', async () => {
    const { MONGODB_URI = '' } = await environment();
    const client = new MongoClient(MONGODB_URI);
    const { databases } = await client.db('admin').admin().listDatabases({ nameOnly: true });
    await client.close();
    expect(databases.map(({ name }) => name)).not.toContain(`p_${'0'.repeat(24)}`);
  });
});

describe('npm run doctor', () => {
  test('says how to start the service when it has stopped or was killed', async () => {
    const stopped = path.join(directory, 'stopped');
    await mkdir(stopped);
    await writeFile(path.join(stopped, 'environment.json'), JSON.stringify(await environment()));
    for (const leave of [undefined, JSON.stringify({ pid: 2 ** 22, port: 4000, startedAt: '1' })]) {
      if (leave) await writeFile(path.join(stopped, 'lock'), leave);
      const { code, text } = await doctor(['--local'], stopped);
      expect(text).toMatch(/The service with its data in .*stopped is not running\. Start it: npm start/);
      expect(code).toBe(2);
    }
  });

  test('says how to start the service when none was started', async () => {
    const { code, text } = await doctor(['--local'], path.join(directory, 'none'));
    expect(text).toMatch(/No service was ever started with its data in .*none\. Start one: npm start/);
    expect(code).toBe(2);
  });

  test('prints the usage when an option is unknown', async () => {
    const { code, text } = await doctor(['--loud']);
    expect(text).toMatch(/--loud[\s\S]*npm run doctor -- --local/);
    expect(code).toBe(2);
  });
});
