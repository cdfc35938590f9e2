import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LambdaClient, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, describe, expect, test } from 'vitest';
import {
  agreeSettings,
  refuseCloudFrontChange,
  type SettingSources,
} from '../../infra/operate/deploy/agree-settings.ts';
import { deployedBefore } from '../../infra/operate/deploy/deployed-before.ts';
import { settingOptionsIn } from '../../infra/operate/deploy/setting-options.ts';
import { DeployProblem } from '../../infra/settings/deploy-problem.ts';
import { loadDeployments, writeDeployment } from '../../infra/settings/deployments-file.ts';
import type { Choice } from '../../infra/settings/settings.ts';
import { jobsOf, ofType } from './synthesis.ts';

const nothing: SettingSources = { deployed: {}, repository: {}, file: {}, commandLine: {} };
const mails = { alarmEmail: 'ops@example.com', emailFrom: 'App <no-reply@example.com>' };

const agree = (sources: Partial<SettingSources>, { keep = false, forget = [] as string[] } = {}): Choice =>
  agreeSettings({ ...nothing, ...sources }, { keep, forget });

describe('settings of a deployment', () => {
  test('are written down when they are first given, but for what is meant once', () => {
    expect(agree({ commandLine: { ...mails, deployment: 'Staging', restart: '1' } })).toEqual(mails);
  });

  test('stay when the next deployment gives none, or one more', () => {
    expect(agree({ deployed: mails, file: mails })).toEqual(mails);
    const more = agree({ deployed: mails, file: mails, commandLine: { rateLimit: '200' } });
    expect(more).toEqual({ ...mails, rateLimit: '200' });
  });

  test('may stand in cdk.json instead', () => {
    expect(agree({ deployed: mails, repository: mails })).toEqual({});
  });

  test('are refused where one that is deployed would be lost, with what to do', () => {
    const lose = () => agree({ deployed: { ...mails, restart: '1' }, commandLine: { rateLimit: '200' } });
    expect(lose).toThrow(DeployProblem);
    expect(lose).toThrow(/would be lost:\n {2}alarmEmail=ops@example\.com\n {2}emailFrom=App .*\n.*--keep\n.*--forget/);
  });

  test('are taken over from what is deployed with --keep, what is given first', () => {
    const kept = agree({ deployed: { ...mails, logDays: '7' }, file: { logDays: 14 } }, { keep: true });
    expect(kept).toEqual({ ...mails, logDays: 14 });
  });

  test('go with --forget', () => {
    expect(agree({ deployed: mails, file: mails }, { forget: ['alarmEmail'] })).toEqual({ emailFrom: mails.emailFrom });
  });

  test('of a later release are refused when going back, even with --keep, until they are forgotten', () => {
    const deployed = { ...mails, somethingNew: '1' };
    expect(() => agree({ deployed }, { keep: true })).toThrow('somethingNew=1');
    expect(agree({ deployed }, { keep: true, forget: ['somethingNew'] })).toEqual(mails);
  });

  test.each([
    [{ commandLine: { alarmMail: 'x' } }, [], 'Unknown deployment setting alarmMail'],
    [{}, ['alarmMail'], 'Unknown deployment setting alarmMail'],
    [{ repository: mails }, ['alarmEmail'], 'alarmEmail stands in cdk.json'],
    [{ commandLine: mails }, ['alarmEmail'], 'alarmEmail cannot be given and forgotten'],
    [{ commandLine: { rateLimit: 'many' } }, [], 'rateLimit must be a whole number'],
  ] as const)('%j, forgetting %j: refused', (sources, forget, message) => {
    expect(() => agree(sources as Partial<SettingSources>, { forget: [...forget] })).toThrow(message);
  });
});

test('options of the deployment itself are not given to the CDK', () => {
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
  expect(settingOptionsIn(args)).toEqual({
    options: { keep: true, forget: ['logDays', 'egress'] },
    untried: true,
    rest: ['-c', 'rateLimit=1', '--profile', 'ops'],
  });
  expect(() => settingOptionsIn(['--forget'])).toThrow('--forget needs');
});

describe('deployments.json', () => {
  const folder = mkdtempSync(join(tmpdir(), 'basalt-deployments-'));
  const file = join(folder, 'deployments.json');
  afterEach(() => rmSync(file, { force: true }));

  test('need not be there, and holds each deployment by its name', () => {
    expect(loadDeployments(file)).toEqual({});
    writeDeployment(file, 'Basalt', { rateLimit: 200 });
    writeDeployment(file, 'Staging', { logDays: '7' });
    writeDeployment(file, 'Basalt', { rateLimit: '300' });
    expect(loadDeployments(file)).toEqual({ Basalt: { rateLimit: '300' }, Staging: { logDays: '7' } });
  });

  test.each(['{', '[1]', '{"alarmEmail":"ops@example.com"}', '{"Basalt":{"egress":null}}'])('%s is refused', (text) => {
    writeFileSync(file, text);
    expect(() => loadDeployments(file)).toThrow('deployments.json must be JSON such as');
  });
});

describe('what is deployed', () => {
  const lambda = mockClient(LambdaClient);
  afterEach(() => lambda.reset());

  test('is written down at one function, and read from there', async () => {
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

  test('is nothing before the first time', async () => {
    lambda.on(ListFunctionsCommand).resolves({ Functions: [{ FunctionName: 'Other-Jobs-1' }] });
    expect(await deployedBefore('Basalt', { region: 'eu-west-1' })).toEqual({
      running: false,
      settings: {},
      cloudFront: undefined,
    });
  });

  test('is said not to be known where AWS does not answer', async () => {
    lambda.on(ListFunctionsCommand).rejects(Object.assign(new Error('Region is missing'), { name: 'Error' }));
    await expect(deployedBefore('Basalt', {})).rejects.toThrow(/AWS did not say .*Region is missing.*\n.*AWS_REGION/);
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
  ] as const)('deployed as %s may be deployed as %s', (deployed, wanted) => {
    expect(() => refuseCloudFrontChange(deployed, wanted)).not.toThrow();
  });

  test.each([
    ['off', 'on', 'npm run deploy -- -c cloudFront=added'],
    ['on', 'off', 'Deploy with cloudFront=on'],
    ['on', 'added', 'Deploy with cloudFront=on'],
    ['added', 'on', 'Deploy with cloudFront=added'],
    ['added', 'off', 'Deploy with cloudFront=added'],
  ] as const)('deployed as %s is refused as %s, with what to do', (deployed, wanted, advice) => {
    expect(() => refuseCloudFrontChange(deployed, wanted)).toThrow(DeployProblem);
    expect(() => refuseCloudFrontChange(deployed, wanted)).toThrow(advice);
  });
});
