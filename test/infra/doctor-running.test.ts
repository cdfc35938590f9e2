import { GetAccountSettingsCommand, LambdaClient, ListEventSourceMappingsCommand } from '@aws-sdk/client-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { alarmMailCheck } from '../../infra/operate/doctor/alarm-mail.ts';
import { type Check, examine, type Finding, type Target } from '../../infra/operate/doctor/check.ts';
import { concurrencyCheck } from '../../infra/operate/doctor/concurrency.ts';
import { connectionsCheck } from '../../infra/operate/doctor/connections.ts';
import { messagesCheck } from '../../infra/operate/doctor/messages.ts';
import { registrationCheck } from '../../infra/operate/doctor/registration.ts';
import { schedulesCheck } from '../../infra/operate/doctor/schedules.ts';

const lambda = mockClient(LambdaClient);
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
  throw new Error('Nothing was found');
};

/** What AWS answers to what no client asks, page by page, and what it was sent. */
const answering = (...answers: readonly string[]) => {
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
])('an account that runs %i at once, deployed with %j: %s', async (ConcurrentExecutions, settings, level) => {
  lambda.on(GetAccountSettingsCommand).resolves({ AccountLimit: { ConcurrentExecutions } });
  expect(await find(concurrencyCheck, target(settings))).toMatchObject({ level });
});

test.each([
  [{}, 'warning', 'are unbounded: 1000 functions at once may open 3000'],
  [{ mongoConnections: '1500' }, 'ok', '400 functions at once open at most 1200 of 1500'],
  // Nothing is reserved or withheld in so small an account, as its deployment has it.
  [{ mongoConnections: '550', accountConcurrency: '150' }, 'ok', '150 functions at once open at most 450 of 550'],
])('connections of MongoDB with %j: %s', async (settings, level, detail) => {
  expect(await find(connectionsCheck, target(settings))).toMatchObject({ level, detail });
});

test.each([
  [['Enabled', 'Enabled', 'Enabled'], 'ok'],
  [['Enabled', 'Enabled', 'Disabled'], 'failed'],
  [['Enabled', 'Enabled'], 'failed'],
])('queues that are %j: %s', async (states, level) => {
  const names = ['Basalt-Jobs-mail', 'Basalt-Jobs-task', 'Basalt-Jobs-events'];
  const EventSourceMappings = states.map((State, at) => ({ FunctionArn: arnOf(names[at] ?? ''), State }));
  const foreign = { FunctionArn: arnOf('Other-Jobs-mail'), State: 'Disabled' };
  lambda.on(ListEventSourceMappingsCommand).resolves({ EventSourceMappings: [foreign, ...EventSourceMappings] });
  expect(await find(messagesCheck)).toMatchObject({ level });
});

describe('schedules', () => {
  const rules = (count: number, State: string) =>
    JSON.stringify({ Rules: Array.from({ length: count }, (_, at) => ({ Name: `Basalt-Jobs-${at}`, State })) });

  test('ok: all are on, asked for by the name of the deployment and signed', async () => {
    const [request] = [answering(rules(8, 'ENABLED'))];
    expect(await find(schedulesCheck)).toMatchObject({ level: 'ok' });
    const [first] = request;
    expect(first?.url).toBe('https://events.eu-central-1.amazonaws.com/');
    expect(first?.headers.get('authorization')).toContain('/eu-central-1/events/aws4_request');
    expect(await first?.json()).toEqual({ NamePrefix: 'Basalt-Jobs-' });
  });

  test.each([
    [rules(8, 'DISABLED'), 'are off: Basalt-Jobs-0'],
    [rules(1, 'ENABLED'), '1 of 8 are there'],
  ])('failed: %s', async (answer, detail) => {
    answering(answer);
    expect(await find(schedulesCheck)).toMatchObject({ level: 'failed', detail: expect.stringContaining(detail) });
  });

  test('failed: the credentials may not look at them', async () => {
    answering();
    const detail = 'Error: events responded with 403 AuthorizationError';
    expect(await find(schedulesCheck)).toMatchObject({ level: 'failed', detail });
  });
});

describe('the mail of alarms', () => {
  const page = (topic: string, arn: string, next = '') =>
    `<ListSubscriptionsResult><Subscriptions><member><TopicArn>arn:aws:sns:eu-central-1:123456789012:${topic}</TopicArn>` +
    `<SubscriptionArn>${arn}</SubscriptionArn><Endpoint>ops@example.com</Endpoint></member></Subscriptions>` +
    `${next && `<NextToken>${next}</NextToken>`}</ListSubscriptionsResult>`;

  test.each([
    ['Basalt-Watch-Alarms1', 'arn:aws:sns:eu-central-1:123456789012:Basalt-Watch-Alarms1:1', 'ok'],
    ['Basalt-Watch-Alarms1', 'PendingConfirmation', 'warning'],
    ['Basaltic-Watch-Alarms1', 'arn:aws:sns:eu-central-1:123456789012:Basaltic-Watch-Alarms1:1', 'warning'],
  ])('of a topic %s, subscribed as %s: %s', async (topic, arn, level) => {
    answering(page(topic, arn));
    expect(await find(alarmMailCheck)).toMatchObject({ level });
  });

  test('is looked for on every page', async () => {
    const sent = answering(page('Other', 'arn:1', 'more'), page('Basalt-Watch-Alarms1', 'PendingConfirmation'));
    expect(await find(alarmMailCheck)).toMatchObject({
      detail: 'ops@example.com has not confirmed, and is told nothing',
    });
    expect(await sent[1]?.text()).toContain('NextToken=more');
  });
});

test.each([
  [{}, 'warning'],
  [{ DEVELOPER_SIGNUP: 'open' }, 'warning'],
  [{ DEVELOPER_SIGNUP: 'closed' }, 'ok'],
] as const)('registration with %j: %s', async (environment, level) => {
  expect(await find(registrationCheck, target({}, environment))).toMatchObject({ level });
});
