import { describe, expect, test } from 'vitest';
import { type Job, jobs, servesRequests } from '../../functions/jobs/jobs.ts';
import { dashboardRoutes, publicRoutes } from '../../functions/routes.ts';
import { areaStackName } from '../../infra/stacks/area-stack.ts';
import { type RouteTable, routedMethodsOf } from '../../shared/http/route.ts';
import { everything, type Json, ofType, type Resources, routesOf, synthesise } from './synthesis.ts';

const { stacks, outputs, missing } = synthesise();
const chosen = synthesise(everything);
const stack = (name: string): Resources => {
  const resources = stacks.get(`Basalt-${name}`);
  if (!resources) throw new Error(`There is no stack ${name}`);
  return resources;
};
const areas = Object.entries<RouteTable>({ ...publicRoutes, ...dashboardRoutes });
const functions = [...stacks].flatMap(([, resources]) => [...ofType(resources, 'AWS::Lambda::Function')]);
const own = functions.filter(([id]) => !id.startsWith('AWSCDK'));

test('service is synthesised without an AWS account', () => {
  expect(missing).toEqual([]);
});

test('addresses of both APIs and ARNs of the secrets are outputs', () => {
  expect(outputs.get('Basalt-PublicApi')).toEqual(['Url']);
  expect(outputs.get('Basalt-DashboardApi')).toEqual(['Url']);
  expect(outputs.get('Basalt-Data')).toEqual([
    'MongodbSecretArn',
    'MailProviderSecretArn',
    'LanguageModelSecretArn',
    'MailWebhookSecretArn',
    'DashboardGithubSecretArn',
  ]);
});

test.each([...stacks, ...chosen.stacks])('stack %s has fewer than 450 resources', (_name, resources) => {
  expect(resources.size).toBeLessThan(450);
});

describe.each(areas)('area %s', (area, table) => {
  const deployed = routesOf(stack(areaStackName(area)));

  test('has exactly one gateway route for each method of its routes', () => {
    const rows = Object.values(table).flatMap((row) => routedMethodsOf(row).map((method) => `${method} ${row.path}`));
    expect(deployed.map(({ key }) => key).sort()).toEqual(rows.sort());
  });

  test('has exactly one function for each route', () => {
    const count = Object.keys(table).length;
    expect(ofType(stack(areaStackName(area)), 'AWS::Lambda::Function').size).toBe(count);
    expect(new Set(deployed.map(({ functionId }) => functionId)).size).toBe(count);
  });

  test('connects every method to the function of its route', () => {
    for (const row of Object.values(table)) {
      for (const method of routedMethodsOf(row)) {
        const route = deployed.find(({ key }) => key === `${method} ${row.path}`);
        expect(route?.function.Properties.Description).toBe(row.summary);
      }
    }
  });
});

test('only dashboard areas are behind the dashboard API', () => {
  for (const [area] of areas) {
    const api = Object.hasOwn(dashboardRoutes, area) ? 'DashboardApi' : 'PublicApi';
    for (const { Properties } of ofType(stack(areaStackName(area)), 'AWS::ApiGatewayV2::Route').values()) {
      expect(JSON.stringify(Properties.ApiId)).toContain(`"Basalt-${api}:`);
    }
  }
});

test.each(['PublicApi', 'DashboardApi'])('%s returns 404 for unknown routes by its $default route', (name) => {
  const unknown = routesOf(stack(name)).find(({ key }) => key === '$default');
  expect(unknown?.function.Properties.Description).toBe('Return 404 for an unknown route');
});

test.each(own)('function %s has the shared defaults', (_id, { Properties }) => {
  expect(Properties).toMatchObject({
    Runtime: 'nodejs24.x',
    Handler: 'index.handler',
    Architectures: ['arm64'],
    MemorySize: 512,
    LoggingConfig: { LogFormat: 'JSON', SystemLogLevel: 'WARN' },
  });
});

test('functions behind a gateway have a timeout of 29 s', () => {
  const routed = [...stacks.values()].flatMap((resources) => routesOf(resources));
  expect(new Set(routed.map((route) => route.function.Properties.Timeout))).toEqual(new Set([29]));
});

test('every function and gateway has its own log, kept for a month or the configured time', () => {
  const logsOf = (all: typeof stacks) =>
    [...all.values()].flatMap((resources) => [...ofType(resources, 'AWS::Logs::LogGroup').values()]);
  const gateways = 2;
  const logs = logsOf(stacks);
  expect(new Set(logs.map(({ Properties }) => Properties.LogGroupName)).size).toBe(own.length + gateways);
  expect(logs).toHaveLength(own.length + gateways);
  expect(new Set(logs.map(({ Properties }) => Properties.RetentionInDays))).toEqual(new Set([30]));
  expect(new Set(logsOf(chosen.stacks).map(({ Properties }) => Properties.RetentionInDays))).toEqual(new Set([90]));
});

test('log groups are named after stack and route', () => {
  const names = [...ofType(stack('Routes-data'), 'AWS::Logs::LogGroup').values()].map(
    ({ Properties }) => Properties.LogGroupName,
  );
  expect(names).toContain('/Basalt-Routes-data/list-documents');
  const [requests] = ofType(stack('PublicApi'), 'AWS::Logs::LogGroup').values();
  expect(requests?.Properties.LogGroupName).toBe('/aws/vendedlogs/Basalt-PublicApi/requests');
});

test('starts and reports of runs are logged only when platformLogs is all', () => {
  const [some] = ofType(chosen.stacks.get('Staging-Routes-data') ?? new Map(), 'AWS::Lambda::Function').values();
  expect(some?.Properties.LoggingConfig).toMatchObject({ SystemLogLevel: 'INFO' });
});

test.each([
  ['PublicApi', 5000, 2500, 9000, 4500],
  ['DashboardApi', 500, 250, 100, 50],
])('%s limits requests per second as configured', (name, rate, burst, chosenRate, chosenBurst) => {
  const throttleOf = (resources: Resources | undefined) =>
    [...ofType(resources ?? new Map(), 'AWS::ApiGatewayV2::Stage').values()][0]?.Properties.DefaultRouteSettings;
  expect(throttleOf(stack(name))).toEqual({ ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst });
  expect(throttleOf(chosen.stacks.get(`Staging-${name}`))).toEqual({
    ThrottlingRateLimit: chosenRate,
    ThrottlingBurstLimit: chosenBurst,
  });
});

test('every resource is tagged with its deployment', () => {
  expect(new Set([...synthesise().tags.values()].map((tags) => JSON.stringify(tags)))).toEqual(
    new Set(['{"service":"Basalt"}']),
  );
  const names = [...chosen.stacks.keys()];
  expect(names.every((name) => name.startsWith('Staging-'))).toBe(true);
  expect(new Set([...chosen.tags.values()].map(({ service }) => service))).toEqual(new Set(['Staging']));
});

test('fixed names differ between two deployments', () => {
  const fixed = ['FunctionName', 'LogGroupName', 'AlarmName', 'DashboardName', 'TopicName', 'QueueName', 'RoleName'];
  for (const resources of chosen.stacks.values()) {
    for (const [id, { Properties = {} }] of resources) {
      for (const name of fixed) {
        const value = Properties[name];
        if (typeof value === 'string')
          expect(value, `${id} ${name}`).toMatch(/^(?:(?:\/aws\/vendedlogs)?\/)?Staging\b/);
      }
    }
  }
});

describe('environment of a function', () => {
  const environmentOf = ({ stacks: all }: typeof chosen, name: string): Json | undefined => {
    const route = routesOf(all.get(name) ?? new Map()).find(({ key }) => key === 'GET /api/data/{collectionName}');
    return route?.function.Properties.Environment;
  };

  test('has the limits of the contract, its stores and the addresses of the service', () => {
    expect(environmentOf(synthesise(), 'Basalt-Routes-data')).toEqual({
      Variables: {
        RATE_LIMIT: '100',
        AUTH_RATE_LIMIT: '60',
        CREDENTIAL_RATE_LIMIT: '20',
        RATE_BLOCK: '0',
        MAIL_RECIPIENTS_PER_DAY: '5000',
        TABLE_NAME: expect.anything(),
        MONGODB_SECRET_ARN: expect.anything(),
        ENCRYPTION_SECRET_ARN: expect.anything(),
        PUBLIC_URL: expect.anything(),
        DOCS_URL: { 'Fn::Join': ['', ['https://', expect.anything(), '/docs']] },
      },
    });
  });

  test('has the dashboard pages and its GitHub app only in the dashboard API', () => {
    for (const [name, resources] of chosen.stacks) {
      for (const { function: lambda } of name.includes('Routes') ? routesOf(resources) : []) {
        const known = JSON.stringify(lambda.Properties.Environment);
        const expected = name.startsWith('Staging-Routes-dashboard');
        for (const part of [
          '//app.example.com',
          'some-client',
          'DASHBOARD_API_URL',
          'DASHBOARD_ORIGINS',
          'DEVELOPER_SIGNUP',
        ]) {
          expect(known.includes(part), `${name} ${part}`).toBe(expected);
        }
      }
    }
  });

  test('has the language model only in the schema assistant', () => {
    const named = [...chosen.stacks].filter(([, resources]) =>
      [...ofType(resources, 'AWS::Lambda::Function').values()].some(({ Properties }) =>
        JSON.stringify(Properties.Environment ?? {}).includes('"AI_BASE_URL"'),
      ),
    );
    expect(named.map(([name]) => name)).toEqual(['Staging-Routes-dashboard-assistant']);
  });

  test('follows the settings of the deployment', () => {
    expect(environmentOf(chosen, 'Staging-Routes-data')).toMatchObject({
      Variables: {
        RATE_LIMIT: '1000',
        AUTH_RATE_LIMIT: '0',
        PUBLIC_URL: 'https://api.example.com',
        EMAIL_FROM: 'Example <no-reply@example.com>',
        RESTART: '2026-01-01',
      },
    });
  });
});

describe('jobs', () => {
  const resources = stack('Jobs');
  const every = Object.values(jobs).flatMap<number>(({ starts }) =>
    typeof starts === 'object' && 'everyMinutes' in starts ? [starts.everyMinutes] : [],
  );

  test('are one function each', () => {
    const summaries = [...ofType(resources, 'AWS::Lambda::Function').values()].flatMap(
      ({ Properties }) => Properties.Description ?? [],
    );
    expect(summaries.sort()).toEqual(
      Object.values<Job>(jobs)
        .filter(({ starts }) => !servesRequests(starts))
        .map(({ summary }) => summary)
        .sort(),
    );
  });

  test('run as often as configured', () => {
    const rates = [...ofType(resources, 'AWS::Events::Rule').values()].map(
      ({ Properties }) => Properties.ScheduleExpression,
    );
    const rateOf = (minutes: number) => (minutes === 1 ? 'rate(1 minute)' : `rate(${minutes} minutes)`);
    expect(rates).toEqual(every.map((minutes) => (minutes === 60 ? 'rate(1 hour)' : rateOf(minutes))));
  });

  test('are not retried by Lambda when a scheduled run fails', () => {
    for (const { Properties } of ofType(resources, 'AWS::Lambda::EventInvokeConfig').values()) {
      expect(Properties.MaximumRetryAttempts).toBe(0);
    }
  });

  test('create the indexes before anything else is deployed', () => {
    expect(ofType(resources, 'Custom::Trigger').size).toBe(1);
  });
});
