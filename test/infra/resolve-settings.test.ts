import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LambdaClient, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, describe, expect, test } from 'vitest';
import { deployOptionsIn } from '../../infra/operate/deploy/arguments.ts';
import { deployedBefore } from '../../infra/operate/deploy/deployed-before.ts';
import {
  requireSameCloudFront,
  resolveSettings,
  type SettingSources,
} from '../../infra/operate/deploy/resolve-settings.ts';
import { DeployProblem } from '../../infra/settings/deploy-problem.ts';
import { loadDeployments, writeDeployment } from '../../infra/settings/deployments-file.ts';
import type { Choice } from '../../infra/settings/settings.ts';
import { jobsOf, ofType } from './synthesis.ts';

const nothing: SettingSources = { deployed: {}, repository: {}, file: {}, commandLine: {} };
const mails = { alarmEmail: 'ops@example.com', emailFrom: 'App <no-reply@example.com>' };

const resolve = (sources: Partial<SettingSources>, { keep = false, forget = [] as string[] } = {}): Choice =>
  resolveSettings({ ...nothing, ...sources }, { keep, forget });

describe('settings of a deployment', () => {
  test('are stored when they are given, except one-time settings', () => {
    expect(resolve({ commandLine: { ...mails, deployment: 'Staging', restart: '1' } })).toEqual(mails);
  });

  test('stay when the next deployment gives none or another one', () => {
    expect(resolve({ deployed: mails, file: mails })).toEqual(mails);
    const more = resolve({ deployed: mails, file: mails, commandLine: { rateLimit: '200' } });
    expect(more).toEqual({ ...mails, rateLimit: '200' });
  });

  test('are not stored when cdk.json has them', () => {
    expect(resolve({ deployed: mails, repository: mails })).toEqual({});
  });

  test('are rejected with the fix when a deployed one would be lost', () => {
    const lose = () => resolve({ deployed: { ...mails, restart: '1' }, commandLine: { rateLimit: '200' } });
    expect(lose).toThrow(DeployProblem);
    expect(lose).toThrow(/would be lost:\n {2}alarmEmail=ops@example\.com\n {2}emailFrom=App .*\n.*--keep\n.*--forget/);
  });

  test('include the deployed ones when --keep is given, with lower priority', () => {
    const kept = resolve({ deployed: { ...mails, logDays: '7' }, file: { logDays: 14 } }, { keep: true });
    expect(kept).toEqual({ ...mails, logDays: 14 });
  });

  test('are removed when --forget names them', () => {
    expect(resolve({ deployed: mails, file: mails }, { forget: ['alarmEmail'] })).toEqual({
      emailFrom: mails.emailFrom,
    });
  });

  test('of a later release are rejected when --keep is given, until they are forgotten', () => {
    const deployed = { ...mails, somethingNew: '1' };
    expect(() => resolve({ deployed }, { keep: true })).toThrow('somethingNew=1');
    expect(resolve({ deployed }, { keep: true, forget: ['somethingNew'] })).toEqual(mails);
  });

  test.each([
    [{ commandLine: { alarmMail: 'x' } }, [], 'Unknown deployment setting alarmMail'],
    [{}, ['alarmMail'], 'Unknown deployment setting alarmMail'],
    [{ repository: mails }, ['alarmEmail'], 'alarmEmail is set in cdk.json'],
    [{ commandLine: mails }, ['alarmEmail'], 'alarmEmail cannot be set and forgotten'],
    [{ commandLine: { rateLimit: 'many' } }, [], 'rateLimit must be a whole number'],
  ] as const)('are rejected when the sources are %j and %j is forgotten', (sources, forget, message) => {
    expect(() => resolve(sources as Partial<SettingSources>, { forget: [...forget] })).toThrow(message);
  });
});

test('own options of npm run deploy are not passed to the CDK', () => {
  const args = [
    '--keep',
    '--untried',
    '-c',
    'rateLimit=1',
    '--forget',
    'logDays',
    '--forget=egress',
    '--profile',
    'ops',
  ];
  expect(deployOptionsIn(args)).toEqual({
    options: { keep: true, forget: ['logDays', 'egress'] },
    untried: true,
    rest: ['-c', 'rateLimit=1', '--profile', 'ops'],
  });
  expect(() => deployOptionsIn(['--forget'])).toThrow('--forget needs');
});

describe('deployments.json', () => {
  const folder = mkdtempSync(join(tmpdir(), 'basalt-deployments-'));
  const file = join(folder, 'deployments.json');
  afterEach(() => rmSync(file, { force: true }));

  test('is created when it is missing, and holds each deployment by name', () => {
    expect(loadDeployments(file)).toEqual({});
    writeDeployment(file, 'Basalt', { rateLimit: 200 });
    writeDeployment(file, 'Staging', { logDays: '7' });
    writeDeployment(file, 'Basalt', { rateLimit: '300' });
    expect(loadDeployments(file)).toEqual({ Basalt: { rateLimit: '300' }, Staging: { logDays: '7' } });
  });

  test.each(['{', '[1]', '{"alarmEmail":"ops@example.com"}', '{"Basalt":{"egress":null}}'])(
    'is rejected when it contains %s',
    (text) => {
      writeFileSync(file, text);
      expect(() => loadDeployments(file)).toThrow('deployments.json must be JSON such as');
    },
  );
});

describe('state of the last deployment', () => {
  const lambda = mockClient(LambdaClient);
  afterEach(() => lambda.reset());

  test('is stored in the environment of one function and read from there', async () => {
    const jobs = jobsOf({ alarmEmail: mails.alarmEmail, restart: '1' });
    const variables = [...ofType(jobs, 'AWS::Lambda::Function').values()].map(
      ({ Properties }) => (Properties.Environment as { readonly Variables?: Record<string, string> })?.Variables ?? {},
    );
    const [record, ...others] = variables.flatMap(({ DEPLOYED_SETTINGS = [] }) => DEPLOYED_SETTINGS);
    expect(others).toEqual([]);
    lambda.on(ListFunctionsCommand).resolves({
      Functions: [
        { FunctionName: 'Basalt-Jobs-1', Environment: { Variables: { DEPLOYED_SETTINGS: String(record) } } },
        { FunctionName: 'Basalt-Jobs-2' },
      ],
    });
    const settings = { alarmEmail: mails.alarmEmail, restart: '1' };
    expect(await deployedBefore('Basalt', { region: 'eu-west-1' })).toEqual({
      running: true,
      settings,
      cloudFront: 'on',
    });
  });

  test('is empty when nothing was deployed', async () => {
    lambda.on(ListFunctionsCommand).resolves({ Functions: [{ FunctionName: 'Other-Jobs-1' }] });
    expect(await deployedBefore('Basalt', { region: 'eu-west-1' })).toEqual({
      running: false,
      settings: {},
      cloudFront: undefined,
    });
  });

  test('is an error with the fix when AWS does not respond', async () => {
    lambda.on(ListFunctionsCommand).rejects(Object.assign(new Error('Region is missing'), { name: 'Error' }));
    await expect(deployedBefore('Basalt', {})).rejects.toThrow(
      /could not be listed .*Region is missing.*\n.*AWS_REGION/,
    );
  });
});

describe('CloudFront', () => {
  test.each([
    [undefined, 'on'],
    [undefined, 'off'],
    ['on', 'on'],
    ['off', 'off'],
    ['off', 'added'],
    ['added', 'added'],
  ] as const)('setting %s can be deployed as %s', (deployed, wanted) => {
    expect(() => requireSameCloudFront(deployed, wanted)).not.toThrow();
  });

  test.each([
    ['off', 'on', 'npm run deploy -- -c cloudFront=added'],
    ['on', 'off', 'Deploy with cloudFront=on'],
    ['on', 'added', 'Deploy with cloudFront=on'],
    ['added', 'on', 'Deploy with cloudFront=added'],
    ['added', 'off', 'Deploy with cloudFront=added'],
  ] as const)('setting %s is rejected with the fix when it is deployed as %s', (deployed, wanted, advice) => {
    expect(() => requireSameCloudFront(deployed, wanted)).toThrow(DeployProblem);
    expect(() => requireSameCloudFront(deployed, wanted)).toThrow(advice);
  });
});
