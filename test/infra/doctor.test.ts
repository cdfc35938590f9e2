import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import { type FunctionConfiguration, LambdaClient, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { GetPublicAccessBlockCommand, S3Client } from '@aws-sdk/client-s3';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { GetQueueAttributesCommand, GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, describe, expect, test } from 'vitest';
import { deployedJobs, jobs } from '../../functions/jobs/jobs.ts';
import { routes } from '../../functions/routes.ts';
import { type Check, examine, type Finding, lineOf, summaryOf, type Target } from '../../infra/operate/doctor/check.ts';
import { environmentOf, functionChecks } from '../../infra/operate/doctor/functions.ts';

import { secretChecks } from '../../infra/operate/doctor/secrets.ts';
import { settingChecks } from '../../infra/operate/doctor/settings.ts';
import { storeChecks } from '../../infra/operate/doctor/stores.ts';
import { targetOf } from '../../infra/operate/doctor/target.ts';

const dynamo = mockClient(DynamoDBClient);
const lambda = mockClient(LambdaClient);
const s3 = mockClient(S3Client);
const secrets = mockClient(SecretsManagerClient);
const sqs = mockClient(SQSClient);
afterEach(() => {
  for (const mock of [dynamo, lambda, s3, secrets, sqs]) mock.reset();
});

const environment = {
  TABLE_NAME: 'Basalt-Data-Table1',
  MONGODB_SECRET_ARN: 'arn:mongodb',
  ENCRYPTION_SECRET_ARN: 'arn:encryption',
  MAIL_PROVIDER_SECRET_ARN: 'arn:provider',
  MAIL_WEBHOOK_SECRET_ARN: 'arn:webhook',
  DASHBOARD_GITHUB_SECRET_ARN: 'arn:github',
  DASHBOARD_GITHUB_CLIENT_ID: 'Iv1.0123456789abcdef',
  FILES_BUCKET: 'basalt-files',
  MAIL_QUEUE_URL: 'https://sqs.eu-central-1.amazonaws.com/123456789012/mail',
  PUBLIC_URL: 'https://api.example.com',
  DASHBOARD_API_URL: 'https://console.example.com',
  DASHBOARD_URL: 'https://console.example.com',
  DASHBOARD_ORIGINS: 'https://console.example.com,https://app.example.com',
  FILES_URL: 'https://files.example.com',
  RATE_LIMIT: '100',
};

const descriptions = [
  ...Object.values(routes).flatMap((table) => Object.values(table).map(({ summary }) => summary)),
  ...deployedJobs('on').map(([, { summary }]) => summary),
];

const functionOf = (Description: string, index = 0): FunctionConfiguration => ({
  FunctionName: `Basalt-Routes-${index}`,
  Description,
  State: 'Active',
  Environment: { Variables: environment },
});

const everyFunction = descriptions.map(functionOf);

const target = (changes: Partial<Target> = {}): Target => ({
  local: false,
  deployment: 'Basalt',
  environment,
  functions: everyFunction,
  aws: { region: 'eu-central-1' },
  ...changes,
});

const find = async (checks: readonly Check[], name: string, on = target()): Promise<Finding> => {
  for await (const finding of examine(on, checks)) if (finding.name === name) return finding;
  throw new Error(`There is no check ${name}`);
};

describe('functions of a deployment', () => {
  test('are listed page by page by the name of the deployment, with its settings', async () => {
    lambda
      .on(ListFunctionsCommand)
      .resolvesOnce({ Functions: everyFunction.slice(0, 50), NextMarker: 'next' })
      .resolves({ Functions: [...everyFunction.slice(50), { FunctionName: 'Basaltic-x' }, { FunctionName: 'other' }] });
    const found = await targetOf(['--region', 'eu-central-1', '--profile', 'ops'], {});
    expect(found).toEqual(target({ aws: { region: 'eu-central-1', profile: 'ops' } }));
  });

  test('are not found when the name is wrong', async () => {
    lambda.on(ListFunctionsCommand).resolves({ Functions: everyFunction });
    await expect(targetOf(['--deployment', 'Staging', '--region', 'x'], {})).rejects.toThrow(
      'There is no deployment named Staging in x.',
    );
  });

  test('are not listed when AWS rejects the request; the error says how to give region and profile', async () => {
    lambda.on(ListFunctionsCommand).rejects(new Error('Region is missing'));
    await expect(targetOf([], {})).rejects.toThrow(
      /Region is missing\nGive a region and a profile .*\n {2}npm run doctor -- --local/,
    );
  });

  test('fail the check when one is missing or could not be created', async () => {
    expect(await find(functionChecks, 'functions')).toMatchObject({ level: 'ok' });
    const missing = target({ functions: everyFunction.slice(1) });
    expect(await find(functionChecks, 'functions', missing)).toMatchObject({
      level: 'failed',
      detail: `1 are missing: ${descriptions[0]}`,
    });
    const broken = target({ functions: [...everyFunction, { ...functionOf('x', 7), LastUpdateStatus: 'Failed' }] });
    expect(await find(functionChecks, 'functions', broken)).toMatchObject({ level: 'failed' });
  });

  test('are those without CloudFront when the deployment has no CloudFront', async () => {
    const variables = { ...environment, DEPLOYED_SETTINGS: '{"cloudFront":"off"}' };
    const without = (functions: readonly FunctionConfiguration[]) => target({ environment: variables, functions });
    const rest = everyFunction.filter(({ Description }) => Description !== jobs['make-size'].summary);
    expect(await find(functionChecks, 'functions', without(rest))).toMatchObject({
      level: 'failed',
      detail: `2 are missing: ${jobs['serve-file'].summary}; ${jobs['serve-page'].summary}`,
    });
    const serving = [jobs['serve-file'], jobs['serve-page']].map((job, at) => functionOf(job.summary, 900 + at));
    expect(await find(functionChecks, 'functions', without([...rest, ...serving]))).toMatchObject({ level: 'ok' });
  });

  test('fail the check when their settings differ', async () => {
    const odd = { ...functionOf('x', 9), Environment: { Variables: { ...environment, TABLE_NAME: 'old' } } };
    const functions = [odd, ...everyFunction];
    expect(environmentOf(functions).TABLE_NAME).toBe(environment.TABLE_NAME);
    expect(await find(functionChecks, 'function settings', target({ functions }))).toMatchObject({
      level: 'failed',
      detail: 'functions have different values of TABLE_NAME',
    });
  });
});

describe('secrets', () => {
  const unfilled = 'k8#Jq!<random>,4z';

  test.each([
    ['MongoDB secret', 'mongodb+srv://u:p@cluster0.example.net/', 'failed'],
    ['master key', 'A'.repeat(43), 'failed'],
    ['mail provider secret', 're_abc123_def', 'warning'],
    ['mail webhook secret', 'whsec_c2FtcGxlLXNlY3JldA==', 'warning'],
    ['GitHub app secret', '0123456789abcdef0123456789abcdef01234567', 'warning'],
  ])(
    '%s is ok when it is set to %s, which is not shown, and %s when it holds random characters',
    async (name, value, level) => {
      secrets.on(GetSecretValueCommand).resolves({ SecretString: value });
      const filled = await find(secretChecks, name);
      expect(filled.level).toBe('ok');
      expect(lineOf(filled)).not.toContain(value);
      secrets.on(GetSecretValueCommand).resolves({ SecretString: unfilled });
      const found = await find(secretChecks, name);
      expect(found.level).toBe(level);
      expect(lineOf(found)).not.toContain(unfilled);
    },
  );

  test('fail the check when the credentials may not read them', async () => {
    secrets.on(GetSecretValueCommand).rejects(Object.assign(new Error('not authorized'), { name: 'AccessDenied' }));
    expect(await find(secretChecks, 'master key')).toMatchObject({
      level: 'failed',
      detail: 'AccessDenied: not authorized',
    });
  });
});

describe('stores', () => {
  test.each([
    ['ACTIVE', true, 'ok'],
    ['ACTIVE', false, 'warning'],
    ['CREATING', true, 'failed'],
  ] as const)(
    'table with status %s and deletion protection %s is %s',
    async (TableStatus, DeletionProtectionEnabled, level) => {
      dynamo.on(DescribeTableCommand).resolves({ Table: { TableStatus, DeletionProtectionEnabled } });
      expect(await find(storeChecks, 'table')).toMatchObject({ level });
    },
  );

  test.each([
    ['ENABLED', 'expiresAt', 'ok'],
    ['ENABLED', 'other', 'failed'],
    ['DISABLED', 'expiresAt', 'failed'],
  ] as const)('time to live %s with the attribute %s is %s', async (TimeToLiveStatus, AttributeName, level) => {
    dynamo.on(DescribeTimeToLiveCommand).resolves({ TimeToLiveDescription: { TimeToLiveStatus, AttributeName } });
    expect(await find(storeChecks, 'table expiry')).toMatchObject({ level });
  });

  test.each([
    ['ENABLED', 'ok'],
    ['DISABLED', 'failed'],
  ] as const)('point-in-time recovery %s is %s', async (PointInTimeRecoveryStatus, level) => {
    dynamo.on(DescribeContinuousBackupsCommand).resolves({
      ContinuousBackupsDescription: {
        ContinuousBackupsStatus: 'ENABLED',
        PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus },
      },
    });
    expect(await find(storeChecks, 'table backups')).toMatchObject({ level });
  });

  test.each([
    [true, 'ok'],
    [false, 'failed'],
  ] as const)('blocking of public policies %s is %s', async (BlockPublicPolicy, level) => {
    const others = { BlockPublicAcls: true, IgnorePublicAcls: true, RestrictPublicBuckets: true };
    s3.on(GetPublicAccessBlockCommand).resolves({ PublicAccessBlockConfiguration: { ...others, BlockPublicPolicy } });
    expect(await find(storeChecks, 'file bucket access')).toMatchObject({ level });
  });

  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: 'arn:aws:sqs:eu-central-1:123456789012:mail-dead' });

  test.each([
    ['0', '0', 'ok'],
    ['0', '3', 'warning'],
    ['5000', '0', 'warning'],
  ])('queue with %s messages and %s dead letters is %s', async (waiting, dead, level) => {
    const deadUrl = 'https://sqs.eu-central-1.amazonaws.com/123456789012/mail-dead';
    sqs.on(GetQueueUrlCommand, { QueueName: 'mail-dead' }).resolves({ QueueUrl: deadUrl });
    sqs
      .on(GetQueueAttributesCommand)
      .resolves({ Attributes: { ApproximateNumberOfMessages: waiting, RedrivePolicy } })
      .on(GetQueueAttributesCommand, { QueueUrl: deadUrl })
      .resolves({ Attributes: { ApproximateNumberOfMessages: dead } });
    expect(await find(storeChecks, 'mail queue')).toMatchObject({ level });
  });

  test('queue fails the check when it has no dead-letter queue or no function has its setting', async () => {
    sqs.on(GetQueueAttributesCommand).resolves({ Attributes: { ApproximateNumberOfMessages: '0' } });
    expect(await find(storeChecks, 'mail queue')).toMatchObject({ level: 'failed' });
    for (const [name, variable] of [
      ['work queue', 'WORK_QUEUE_URL'],
      ['webhook queue', 'WEBHOOK_QUEUE_URL'],
    ] as const) {
      const detail = `Error: No function has the setting ${variable}`;
      expect(await find(storeChecks, name)).toMatchObject({ level: 'failed', detail });
    }
  });
});

describe('settings', () => {
  const withSettings = (changes: Readonly<Record<string, string>>) =>
    target({ environment: { ...environment, ...changes } });

  test.each([
    ['rate limits', {}, 'ok'],
    ['rate limits', { RATE_LIMIT: '0' }, 'warning'],
    ['addresses', {}, 'ok'],
    ['addresses', { DASHBOARD_URL: 'http://app.example.com' }, 'failed'],
    ['addresses', { PUBLIC_URL: 'http://api.example.com' }, 'failed'],
    ['egress addresses', {}, 'warning'],
    ['egress addresses', { VERIFIER_IP_A: '192.0.2.1', VERIFIER_IP_B: '192.0.2.2' }, 'ok'],
  ])('%s with %j are %s', async (name, changes, level) => {
    const who = withSettings(changes as Readonly<Record<string, string>>);
    const others = settingChecks.filter((check) => check.name === name);
    expect(await find(others, name, who)).toMatchObject({ level });
  });
});

test('mail provider is a warning and gets no request when its key was never set', async () => {
  secrets.on(GetSecretValueCommand).resolves({ SecretString: 'k8#Jq!<random>,4z' });
  expect(await find(settingChecks, 'mail provider')).toMatchObject({ level: 'warning' });
});

describe('report', () => {
  test('has one line per check, and the fix below it', () => {
    const finding = { name: 'table', level: 'failed', detail: 'is gone', todo: 'Restore it.' } as const;
    expect(lineOf(finding)).toMatch(/failed.* table: is gone\n {9}.*Restore it\./);
  });

  test('counts findings by level', () => {
    const levels = ['ok', 'ok', 'warning', 'failed', 'skipped'] as const;
    expect(summaryOf(levels.map((level) => ({ name: 'x', level, detail: '' })))).toBe(
      '2 ok, 1 warning, 1 failed, 1 skipped',
    );
  });

  test('hides the URI of a database when an error contains it', async () => {
    const check: Check = {
      name: 'x',
      run: () => Promise.reject(new Error('cannot reach mongodb+srv://user:secret@host/db now')),
    };
    expect(lineOf(await find([check], 'x'))).toContain('Error: cannot reach … now');
  });
});
