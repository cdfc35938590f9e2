import { GetAccountSettingsCommand, LambdaClient, ListEventSourceMappingsCommand } from '@aws-sdk/client-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { alarmEmailCheck } from '../../infra/operate/doctor/alarm-email.ts';
import { concurrencyCheck, connectionsCheck } from '../../infra/operate/doctor/capacity.ts';
import { type Check, examine, type Finding, type Target } from '../../infra/operate/doctor/check.ts';

import { settingChecks } from '../../infra/operate/doctor/settings.ts';

import { queueTriggersCheck, schedulesCheck } from '../../infra/operate/doctor/triggers.ts';

const lambda = mockClient(LambdaClient);
const registration = settingChecks.find(({ name }) => name === 'developer registration');
const arnOf = (name: string) => `arn:aws:lambda:eu-central-1:123456789012:function:${name}`;

const target = (settings: object = {}, environment: Readonly<Record<string, string>> = {}): Target => ({
  local: false,
  deployment: 'Basalt',
  environment: { DEPLOYED_SETTINGS: JSON.stringify(settings), ...environment },
  functions: ['mail', 'task', 'events'].map((name) => ({ FunctionArn: arnOf(`Basalt-Jobs-${name}`) })),
  aws: { region: 'eu-central-1' },
});

const find = async (check: Check, who = target()): Promise<Finding> => {
  for await (const finding of examine(who, [check])) return finding;
  throw new Error('No finding');
};

/** Stubs `fetch` with these responses, then 403, and returns the requests. */
const respondWith = (...answers: readonly string[]) => {
  const sent: Request[] = [];
  const left = [...answers];
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    sent.push(new Request(url, init));
    const answer = left.shift();
    return answer === undefined
      ? new Response('<Code>AuthorizationError</Code>', { status: 403 })
      : new Response(answer);
  });
  return sent;
};

beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAIOSFODNN7EXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'example');
});
afterEach(() => {
  lambda.reset();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

test.each([
  [1000, {}, 'ok'],
  [10, {}, 'failed'],
  [10, { accountConcurrency: '10' }, 'ok'],
  [3000, {}, 'warning'],
])(
  'concurrency of an account with quota %i is, for a deployment with %j, %s',
  async (ConcurrentExecutions, settings, level) => {
    lambda.on(GetAccountSettingsCommand).resolves({ AccountLimit: { ConcurrentExecutions } });
    expect(await find(concurrencyCheck, target(settings))).toMatchObject({ level });
  },
);

test.each([
  [{}, 'warning', 'unlimited: 1000 concurrent functions may open 3000'],
  [{ mongoConnections: '1500' }, 'ok', '400 concurrent functions open at most 1200 of 1500'],
  // In such a small account, a deployment reserves no concurrency.
  [{ mongoConnections: '550', accountConcurrency: '150' }, 'ok', '150 concurrent functions open at most 450 of 550'],
])('MongoDB connections of a deployment with %j are %s', async (settings, level, detail) => {
  expect(await find(connectionsCheck, target(settings))).toMatchObject({ level, detail });
});

test.each([
  [['Enabled', 'Enabled', 'Enabled'], 'ok'],
  [['Enabled', 'Enabled', 'Disabled'], 'failed'],
  [['Enabled', 'Enabled'], 'failed'],
])('queue triggers that are %j are %s', async (states, level) => {
  const names = ['Basalt-Jobs-mail', 'Basalt-Jobs-task', 'Basalt-Jobs-events'];
  const EventSourceMappings = states.map((State, at) => ({ FunctionArn: arnOf(names[at] ?? ''), State }));
  const foreign = { FunctionArn: arnOf('Other-Jobs-mail'), State: 'Disabled' };
  lambda.on(ListEventSourceMappingsCommand).resolves({ EventSourceMappings: [foreign, ...EventSourceMappings] });
  expect(await find(queueTriggersCheck)).toMatchObject({ level });
});

describe('schedules', () => {
  const rules = (count: number, State: string) =>
    JSON.stringify({ Rules: Array.from({ length: count }, (_, at) => ({ Name: `Basalt-Jobs-${at}`, State })) });

  test('are ok when all are enabled; the request is signed and names the deployment', async () => {
    const [request] = [respondWith(rules(9, 'ENABLED'))];
    expect(await find(schedulesCheck)).toMatchObject({ level: 'ok' });
    const [first] = request;
    expect(first?.url).toBe('https://events.eu-central-1.amazonaws.com/');
    expect(first?.headers.get('authorization')).toContain('/eu-central-1/events/aws4_request');
    expect(await first?.json()).toEqual({ NamePrefix: 'Basalt-Jobs-' });
  });

  test.each([
    [rules(9, 'DISABLED'), 'disabled: Basalt-Jobs-0'],
    [rules(1, 'ENABLED'), '1 of 9 exist'],
  ])('fail the check when the response is %s', async (answer, detail) => {
    respondWith(answer);
    expect(await find(schedulesCheck)).toMatchObject({ level: 'failed', detail: expect.stringContaining(detail) });
  });

  test('fail the check when the credentials may not list them', async () => {
    respondWith();
    const detail = 'Error: events responded with 403 AuthorizationError';
    expect(await find(schedulesCheck)).toMatchObject({ level: 'failed', detail });
  });
});

describe('alarm email', () => {
  const page = (topic: string, arn: string, next = '') =>
    `<ListSubscriptionsResult><Subscriptions><member><TopicArn>arn:aws:sns:eu-central-1:123456789012:${topic}</TopicArn>` +
    `<SubscriptionArn>${arn}</SubscriptionArn><Endpoint>ops@example.com</Endpoint></member></Subscriptions>` +
    `${next && `<NextToken>${next}</NextToken>`}</ListSubscriptionsResult>`;

  test.each([
    ['Basalt-Watch-Alarms1', 'arn:aws:sns:eu-central-1:123456789012:Basalt-Watch-Alarms1:1', 'ok'],
    ['Basalt-Watch-Alarms1', 'PendingConfirmation', 'warning'],
    ['Basaltic-Watch-Alarms1', 'arn:aws:sns:eu-central-1:123456789012:Basaltic-Watch-Alarms1:1', 'warning'],
  ])('of topic %s with subscription %s is %s', async (topic, arn, level) => {
    respondWith(page(topic, arn));
    expect(await find(alarmEmailCheck)).toMatchObject({ level });
  });

  test('is found when it is on the second page', async () => {
    const sent = respondWith(page('Other', 'arn:1', 'more'), page('Basalt-Watch-Alarms1', 'PendingConfirmation'));
    expect(await find(alarmEmailCheck)).toMatchObject({
      detail: 'ops@example.com has not confirmed the subscription and receives no alarms',
    });
    expect(await sent[1]?.text()).toContain('NextToken=more');
  });
});

test.each([
  [{}, 'warning'],
  [{ DEVELOPER_SIGNUP: 'open' }, 'warning'],
  [{ DEVELOPER_SIGNUP: 'closed' }, 'ok'],
] as const)('developer registration with %j is %s', async (environment, level) => {
  expect(await find(registration as Check, target({}, environment))).toMatchObject({ level });
});
