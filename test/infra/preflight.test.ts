import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { unverifiedCloudFront } from '../../infra/operate/deploy/cloudformation.ts';
import { preflight } from '../../infra/operate/deploy/preflight.ts';
import { DeployProblem } from '../../infra/settings/deploy-problem.ts';

const lambda = mockClient(LambdaClient);

beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAIOSFODNN7EXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'example');
});
afterEach(() => {
  lambda.reset();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

const prepared = new Response('{"Parameter":{"Value":"30"}}');
const unprepared = () => new Response('{"__type":"ParameterNotFound"}', { status: 400 });
const forbidden = () => new Response('{"__type":"AccessDeniedException"}', { status: 400 });

/** The response of CloudFormation; `left` has the failed stacks and their reasons. */
const stackAnswer = (left: Readonly<Record<string, string>>, body: string): Response => {
  const asked = new URLSearchParams(body);
  const reason = left[asked.get('StackName') ?? ''];
  if (reason === undefined) return new Response('<Code>ValidationError</Code>', { status: 400 });
  return asked.get('Action') === 'DescribeStacks'
    ? new Response('<StackStatus>ROLLBACK_COMPLETE</StackStatus>')
    : new Response(`<ResourceStatusReason>${reason}</ResourceStatusReason>`);
};

/** Runs the preflight of a deployment with accountConcurrency=1000 in an account with this quota. */
const runPreflight = async (
  quota: number | Error,
  parameter: Response,
  left: Readonly<Record<string, string>> = {},
) => {
  const asked: string[] = [];
  const said: string[] = [];
  vi.stubGlobal('fetch', (url: string, { body }: { readonly body: string }) => {
    if (url.startsWith('https://cloudformation.')) return Promise.resolve(stackAnswer(left, body));
    asked.push(`${url} ${body}`);
    return Promise.resolve(parameter);
  });
  if (quota instanceof Error) lambda.on(GetAccountSettingsCommand).rejects(quota);
  else lambda.on(GetAccountSettingsCommand).resolves({ AccountLimit: { ConcurrentExecutions: quota } });
  const problem: unknown = await preflight(
    { deployment: 'Basalt', accountConcurrency: 1000 },
    { region: 'eu-west-1' },
    (line) => said.push(line),
  ).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { problem, asked, said };
};

test('preflight finds no problem when the account is bootstrapped and has the quota', async () => {
  expect(await runPreflight(1000, prepared.clone())).toEqual({
    problem: undefined,
    said: [],
    asked: [expect.stringMatching(/^https:\/\/ssm\.eu-west-1\.amazonaws\.com\/ .*cdk-bootstrap/) as unknown],
  });
});

test('preflight reports all problems with their fixes in one error', async () => {
  const { problem } = await runPreflight(10, unprepared());
  expect(problem).toBeInstanceOf(DeployProblem);
  expect(String(problem)).toMatch(/^Error: Nothing was deployed:\n/);
  expect(String(problem)).toContain('npx cdk bootstrap');
  expect(String(problem)).toContain('The account allows 10 concurrent function runs');
  expect(String(problem)).toContain('npm run deploy -- -c accountConcurrency=10');
});

test.each([
  ['the quota is too small', 999, prepared.clone(), 'accountConcurrency=999'],
  ['the account is not bootstrapped', 1000, unprepared(), 'npx cdk bootstrap'],
])('preflight fails when only %s', async (_what, quota, parameter, advice) => {
  const { problem } = await runPreflight(quota, parameter);
  expect(String(problem)).toContain(advice);
});

test('preflight continues with a message when the credentials lack a permission', async () => {
  const { problem, said } = await runPreflight(new Error('not authorized'), forbidden());
  expect(problem).toBeUndefined();
  expect(said).toHaveLength(2);
});

test('preflight continues with a message when Lambda returns no quota', async () => {
  lambda.on(GetAccountSettingsCommand).resolves({});
  vi.stubGlobal('fetch', () => Promise.resolve(prepared.clone()));
  const said: string[] = [];
  await preflight({ deployment: 'Basalt', accountConcurrency: 1000 }, { region: 'eu-west-1' }, (line) =>
    said.push(line),
  );
  expect(said).toEqual([expect.stringContaining('Lambda returned no quota')]);
});

const unverified =
  'Resource handler returned message: "Access denied for operation \'AWS::CloudFront::Distribution: Your account must be verified before you can add new CloudFront resources. To verify your account, please contact AWS Support"';

test('preflight says how to delete a stack when AWS rejected it in an unverified account', async () => {
  const { problem } = await runPreflight(1000, prepared.clone(), { 'Basalt-Files': unverified });
  expect(String(problem)).toContain('AWS has not verified this account');
  expect(String(problem)).toContain('npm run deploy -- -c cloudFront=off');
  expect(String(problem)).toContain('--no-enable-termination-protection --stack-name Basalt-Files');
  expect(String(problem)).not.toContain('Basalt-Data');
});

test('preflight names no reason when a stack failed for another one', async () => {
  const { problem } = await runPreflight(1000, prepared.clone(), { 'Basalt-Data': 'Table already exists' });
  expect(String(problem)).toContain('delete-stack --stack-name Basalt-Data');
  expect(String(problem)).not.toContain('verified');
});

test('failed deployment is explained when the events of a stack name CloudFront verification', async () => {
  const explain = (stack: string, reason: string) => {
    vi.stubGlobal('fetch', async (_url: string, { body }: { readonly body: string }) =>
      stackAnswer({ [`Basalt-${stack}`]: reason }, body),
    );
    return unverifiedCloudFront('Basalt', { region: 'eu-west-1' });
  };
  for (const stack of ['Files', 'Console']) {
    const lines = await explain(stack, unverified);
    expect(lines.join('\n')).toMatch(
      /AWS Support.*\n.*run npm run deploy again.*\n.*without CloudFront.*\n.*cloudFront=off$/,
    );
  }
  expect(await explain('Files', 'Bucket already exists')).toEqual([]);
  vi.stubGlobal('fetch', async () => forbidden());
  expect(await unverifiedCloudFront('Basalt', { region: 'eu-west-1' })).toEqual([]);
});
