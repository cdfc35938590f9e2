import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, describe, expect, test } from 'vitest';
import { deploymentIn, profileIn } from '../../infra/operate/deploy/arguments.ts';
import { deploy } from '../../infra/operate/deploy/deploy.ts';
import type { UriTrial } from '../../infra/operate/deploy/try-uri.ts';
import { DeployProblem } from '../../infra/settings/deploy-problem.ts';
import { filledSecrets } from '../../infra/stacks/secrets.ts';
import { everything, synthesise } from './synthesis.ts';

const secrets = mockClient(SecretsManagerClient);
afterEach(() => secrets.reset());

const uri = 'mongodb+srv://basalt:hunter2@cluster.example.mongodb.net';
const arnOf = (output: string): string => `arn:aws:secretsmanager:eu-west-1:123456789012:secret:${output}`;
const arns = Object.fromEntries(Object.values(filledSecrets).map(({ output }) => [output, arnOf(output)]));

const outputs = {
  'Basalt-Data': arns,
  'Basalt-Console': { Url: 'https://console.example.com', Bucket: 'pages', PublicApi: 'https://api.example.com' },
  'Basalt-PublicApi': { Url: 'https://api.example.com', ExportsOutputRefApi: 'abc' },
  'Basalt-DashboardApi': { Url: 'https://dashboard-api.example.com' },
  'Basalt-Routes-mail-webhook': { receivewebhookurl: 'https://abc.lambda-url.eu-west-1.on.aws/' },
  'Basalt-Files': { FilesUrl: 'https://files.example.com', DistributionId: 'E1' },
  'Basalt-Watch': { AlarmTopicArn: 'arn:aws:sns:eu-west-1:123456789012:alarms' },
};

const nextSteps = [
  '',
  'Basalt is deployed:',
  '  console        https://console.example.com',
  '  public API     https://api.example.com',
  '  dashboard API  https://dashboard-api.example.com',
  '  mail webhook   https://abc.lambda-url.eu-west-1.on.aws/',
  '  public files   https://files.example.com',
  '  alarm topic    arn:aws:sns:eu-west-1:123456789012:alarms',
  'Rate limit: 100 requests per 15 minutes from one IP address, which the people in one office share.' +
    ' To raise it: npm run deploy -- -c rateLimit=<requests>',
];

/** Runs a deployment with these variables while the secrets hold `stored`. Returns the steps in order. */
const run = async (
  environment: Record<string, string>,
  stored = 'random letters',
  args: string[] = [],
  {
    trial = 'works',
    untried = false,
    refusal,
  }: { readonly trial?: UriTrial; readonly untried?: boolean; readonly refusal?: readonly string[] } = {},
) => {
  const running = stored === uri;
  const events: string[] = [];
  const versions = { old: ['AWSPREVIOUS', 'DEPLOYED'], new: ['AWSCURRENT'] };
  secrets.on(GetSecretValueCommand).resolves({ SecretString: stored, VersionId: 'new', VersionStages: versions.new });
  secrets.on(DescribeSecretCommand).resolves({ VersionIdsToStages: versions });
  secrets.on(PutSecretValueCommand).callsFake(({ SecretId }: { readonly SecretId: string }) => {
    events.push(`put ${SecretId.split(':').at(-1)}`);
    return {};
  });
  const outcome = deploy(args, {
    deployment: 'Basalt',
    running,
    rateLimit: 100,
    untried,
    tryUri: async () => trial,
    cdk: async (all) => {
      events.push(`cdk ${all.join(' ')}`);
      if (refusal && all.includes('--all')) throw new DeployProblem('cdk deploy failed (exit code 1); see above.');
    },
    explain: async () => refusal ?? [],
    outputsFile: 'outputs.json',
    readOutputs: async () => outputs,
    environment,
    putConsole: async (bucket, publicApi) => void events.push(`console in ${bucket} for ${publicApi}`),
    say: (line) => void events.push(line),
  });
  const problem = await outcome.then(
    () => undefined,
    (error: unknown) => error,
  );
  return { events, problem };
};

const first = 'cdk deploy Basalt-Data --outputs-file outputs.json';
const all = 'cdk deploy --all --outputs-file outputs.json';
const pages = 'console in pages for https://api.example.com';

describe('first deployment', () => {
  test('sets the secret after the stack that holds it and before all others', async () => {
    const { events } = await run({ MONGODB_URI: uri });
    expect(events).toEqual([first, 'put MongodbSecretArn', all, pages, ...nextSteps, 'Next: npm run doctor']);
    expect(secrets.commandCalls(PutSecretValueCommand)[0]?.args[0].input.SecretString).toBe(uri);
  });

  test('stops after the first stack with the fix when MONGODB_URI is missing', async () => {
    const { events, problem } = await run({});
    expect(events).toEqual([first]);
    expect(problem).toBeInstanceOf(DeployProblem);
    expect(String(problem)).toContain("MONGODB_URI='…' npm run deploy");
  });

  test('sets all secrets when all are given', async () => {
    const { events } = await run({
      MONGODB_URI: uri,
      MAIL_PROVIDER_KEY: 're_123',
      MAIL_WEBHOOK_SECRET: 'whsec_abc',
      DASHBOARD_GITHUB_SECRET: 'abc',
      AI_API_KEY: 'sk-1',
    });
    expect(events.filter((event) => event.startsWith('put'))).toHaveLength(5);
  });
});

test.each([
  ['known', ['AWS has not verified this account'], 'AWS has not verified this account'],
  ['unknown', [], 'cdk deploy failed (exit code 1); see above.'],
])('failed deployment ends with the right message when the reason is %s', async (_what, refusal, words) => {
  const { events, problem } = await run({}, uri, [], { refusal });
  expect(events.at(-1)).toBe(all);
  expect(problem).toBeInstanceOf(DeployProblem);
  expect((problem as Error).message).toBe(words);
});

describe('later deployment', () => {
  test('succeeds when no secret is given', async () => {
    const { events } = await run({}, uri);
    expect(events).toEqual([first, all, pages, ...nextSteps, 'Next: npm run doctor']);
  });

  test('does not write a secret when its value is the same', async () => {
    const { events } = await run({ MONGODB_URI: uri }, uri);
    expect(events).toEqual([first, all, pages, ...nextSteps, 'Next: npm run doctor']);
  });

  test('passes its arguments to the CDK', async () => {
    const { events } = await run({}, uri, ['-c', 'rateLimit=200']);
    expect(events.slice(0, 2)).toEqual([`${first} -c rateLimit=200`, `${all} -c rateLimit=200`]);
  });

  test.each([
    ['five stacks at a time when the CDK needs no approval', ['--require-approval', 'never'], ' --concurrency 5'],
    ['one stack at a time when the CDK asks for approval', [], ''],
    ['as many stacks at a time as given', ['--require-approval', 'never', '--concurrency', '2'], ''],
  ])('deploys %s', async (_what, args, added) => {
    const { events } = await run({}, uri, args);
    const given = args.map((arg) => ` ${arg}`).join('');
    expect(events[1]).toBe(`cdk deploy --all${added} --outputs-file outputs.json${given}`);
  });

  test('says how to restart running functions when a secret changes', async () => {
    const { events } = await run({ MONGODB_URI: `${uri}/?appName=new` }, uri);
    expect(events.slice(1, 3)).toEqual(['put MongodbSecretArn', expect.stringMatching(/^Changed secrets: MongodbUri/)]);
  });

  test('prints the doctor command with the profile when one is given', async () => {
    const { events } = await run({}, uri, ['--profile', 'ops']);
    expect(events.at(-1)).toBe('Next: npm run doctor -- --profile ops');
  });
});

describe('new MongoDB URI', () => {
  const another = 'mongodb+srv://basalt:hunter3@clutser.example.mongodb.net';
  const given = { MONGODB_URI: another, MAIL_PROVIDER_KEY: 're_123' };

  test('is not stored or printed when it is wrong, and neither is any other secret', async () => {
    const trial = { problem: 'its host name does not exist' };
    const { events, problem } = await run(given, uri, [], { trial, untried: true });
    expect(events).toEqual([first]);
    expect(problem).toBeInstanceOf(DeployProblem);
    expect(String(problem)).toContain(
      'MONGODB_URI does not work: its host name does not exist. The stored secret was not changed',
    );
    expect(String(problem)).not.toContain('hunter3');
  });

  test('is not stored when it cannot be tested and functions are running', async () => {
    const { events, problem } = await run(given, uri, [], { trial: 'unreachable' });
    expect(events).toEqual([first]);
    expect(String(problem)).toContain('npm run deploy -- --untried');
  });

  test('is stored untested when --untried is given or nothing is running', async () => {
    const wanted = await run(given, uri, [], { trial: 'unreachable', untried: true });
    expect(wanted.events.slice(1, 3)).toEqual([expect.stringContaining('was not tested'), 'put MongodbSecretArn']);
    const { events } = await run(given, 'random letters', [], { trial: 'unreachable' });
    expect(events).toContain('put MongodbSecretArn');
  });

  test('is not tested when it is the stored one', async () => {
    const { events } = await run({ MONGODB_URI: uri }, uri, [], { trial: 'unreachable' });
    expect(events).toContain(all);
  });

  test('gets the label of the previous one when the deployment succeeds', async () => {
    await run({}, uri);
    expect(secrets.commandCalls(UpdateSecretVersionStageCommand).map(({ args: [{ input }] }) => input)).toEqual([
      {
        SecretId: arnOf('MongodbSecretArn'),
        VersionStage: 'DEPLOYED',
        MoveToVersionId: 'new',
        RemoveFromVersionId: 'old',
      },
    ]);
  });

  test('gets no label when the deployment fails', async () => {
    await run({}, 'random letters');
    expect(secrets.commandCalls(UpdateSecretVersionStageCommand)).toEqual([]);
  });
});

test.each([
  ['MONGODB_URI', 'http://hunter2'],
  ['MAIL_PROVIDER_KEY', 'hunter2'],
  ['MAIL_WEBHOOK_SECRET', 'whsec_a hunter2'],
  ['AI_API_KEY', 'hunter2 two'],
])('%s is rejected before anything is stored, and not printed, when it is malformed', async (variable, value) => {
  const { events, problem } = await run({ MONGODB_URI: uri, [variable]: value });
  expect(events).toEqual([first]);
  expect(String(problem)).toContain(variable);
  expect(String(problem)).not.toContain('hunter2');
});

test('data stack has exactly the secrets of the table as outputs', () => {
  const outputs = synthesise(everything).outputs.get('Staging-Data');
  expect(outputs).toEqual(Object.values(filledSecrets).map(({ output }) => output));
});

test.each([
  [[], {}, 'Basalt'],
  [['-c', 'deployment=Staging'], {}, 'Staging'],
  [['--context', 'deployment=Staging'], { deployment: 'Other' }, 'Staging'],
  [['--context=deployment=Staging'], {}, 'Staging'],
  [['-c', 'deployment=Staging', '-c', 'deployment=Test'], {}, 'Test'],
  [['-c', 'rateLimit=1'], { deployment: 'Other' }, 'Other'],
])('arguments %j with the context %j deploy %s', (args, context, name) => {
  expect(deploymentIn(args, context)).toBe(name);
});

test('every printed address is an output of its stack', () => {
  const { outputs: made } = synthesise();
  for (const [stack, values] of Object.entries(outputs)) {
    const wanted = Object.keys(values).filter((name) => !name.startsWith('ExportsOutput'));
    expect(made.get(stack)).toEqual(expect.arrayContaining(wanted));
  }
});

test.each([
  [['--profile', 'ops'], 'ops'],
  [['-c', 'rateLimit=1', '--profile=ops'], 'ops'],
  [['--profiles', 'ops'], undefined],
  [[], undefined],
])('arguments %j name the profile %s', (args, profile) => {
  expect(profileIn(args)).toBe(profile);
});

test('secrets are set with the credentials of the given profile', async () => {
  await run({ MONGODB_URI: uri }, 'random letters', ['--profile', 'ops']);
  const clients = secrets.calls().map(({ thisValue }) => (thisValue as SecretsManagerClient).config);
  expect(clients.length).toBeGreaterThan(0);
  expect(clients.map((config) => (config as { readonly profile?: string }).profile)).toEqual(clients.map(() => 'ops'));
});
