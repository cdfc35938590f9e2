import { describe, expect, test } from 'vitest';
import { jobs } from '../../functions/jobs/jobs.ts';
import { dashboardRoutes, publicRoutes } from '../../functions/routes.ts';
import { areaStackName } from '../../infra/area-stack.ts';
import { methodsOf, type RouteTable } from '../../shared/http/route.ts';
import { type Json, ofType, type Resources, routesOf, synthesise, unbuilt } from './synthesis.ts';

const { stacks, outputs, missing } = synthesise();
const stack = (name: string): Resources => {
  const resources = stacks.get(`Basalt-${name}`);
  if (!resources) throw new Error(`There is no stack ${name}`);
  return resources;
};
const areas = Object.entries<RouteTable>({ ...publicRoutes, ...dashboardRoutes });
const functions = [...stacks].flatMap(([, resources]) => [...ofType(resources, 'AWS::Lambda::Function')]);
const own = functions.filter(([id]) => !id.startsWith('AWSCDK'));

test('the service is synthesised without an account: nothing is looked up', () => {
  expect(missing).toEqual([]);
});

test('the addresses of both APIs and the secrets to fill in are outputs', () => {
  expect(outputs.get('Basalt-PublicApi')).toEqual(['Url']);
  expect(outputs.get('Basalt-DashboardApi')).toEqual(['Url']);
  expect(outputs.get('Basalt-Data')).toEqual(['MongodbSecretArn', 'MailProviderSecretArn']);
});

test.each([...stacks])('the stack %s stays under 450 resources', (_name, resources) => {
  expect(resources.size).toBeLessThan(450);
});

describe.each(areas)('the area %s', (area, table) => {
  const deployed = routesOf(stack(areaStackName(area)));

  test('has one route for every row and method, and no other', () => {
    const rows = Object.values(table).flatMap((row) => methodsOf(row).map((method) => `${method} ${row.path}`));
    expect(deployed.map(({ key }) => key).sort()).toEqual(rows.sort());
  });

  test('has one function for every row, and no other', () => {
    const count = Object.keys(table).length;
    expect(ofType(stack(areaStackName(area)), 'AWS::Lambda::Function').size).toBe(count);
    expect(new Set(deployed.map(({ functionId }) => functionId)).size).toBe(count);
  });

  test('leads every method of a row to the function of that row', () => {
    for (const row of Object.values(table)) {
      for (const method of methodsOf(row)) {
        const route = deployed.find(({ key }) => key === `${method} ${row.path}`);
        expect(route?.function.Properties.Description).toBe(row.summary);
      }
    }
  });
});

test('the areas of the dashboard are behind the dashboard API, all others behind the public API', () => {
  for (const [area] of areas) {
    const api = Object.hasOwn(dashboardRoutes, area) ? 'DashboardApi' : 'PublicApi';
    for (const { Properties } of ofType(stack(areaStackName(area)), 'AWS::ApiGatewayV2::Route').values()) {
      expect(JSON.stringify(Properties.ApiId)).toContain(`"Basalt-${api}:`);
    }
  }
});

test.each(['PublicApi', 'DashboardApi'])('%s refuses unknown routes by its $default route', (name) => {
  const unknown = routesOf(stack(name)).find(({ key }) => key === '$default');
  expect(unknown?.function.Properties.Description).toBe('Refuse an unknown route in the envelope');
});

test.each(own)('the function %s has the defaults of the house', (_id, { Properties }) => {
  expect(Properties).toMatchObject({
    Runtime: 'nodejs24.x',
    Handler: 'index.handler',
    Architectures: ['arm64'],
    MemorySize: 512,
    LoggingConfig: { LogFormat: 'JSON' },
  });
});

test('functions behind a gateway have the 29 s that it waits', () => {
  const routed = [...stacks.values()].flatMap((resources) => routesOf(resources));
  expect(new Set(routed.map((route) => route.function.Properties.Timeout))).toEqual(new Set([29]));
});

test('every function has a log of its own, kept for a month', () => {
  const logs = [...stacks.values()].flatMap((resources) => [...ofType(resources, 'AWS::Logs::LogGroup').values()]);
  const gateways = 2;
  expect(logs).toHaveLength(own.length + gateways);
  expect(new Set(logs.map(({ Properties }) => Properties.RetentionInDays))).toEqual(new Set([30]));
});

test('a function with a native module gets x86_64 and a whole CPU', () => {
  const withBcrypt = synthesise({}, unbuilt('data-get-document'));
  const [route] = routesOf(withBcrypt.stacks.get('Basalt-Routes-data') ?? new Map()).filter(
    ({ key }) => key === 'GET /api/data/{collectionName}/{id}',
  );
  expect(route?.function.Properties).toMatchObject({ Architectures: ['x86_64'], MemorySize: 1769 });
});

describe('the settings of a function', () => {
  const environmentOf = (context: Record<string, string>): Json | undefined => {
    const [first] = routesOf(synthesise(context).stacks.get('Basalt-Routes-data') ?? new Map());
    return first?.function.Properties.Environment;
  };

  test('are the limits of the contract, the store it uses and the address of the service', () => {
    expect(environmentOf({})).toEqual({
      Variables: {
        RATE_LIMIT: '100',
        AUTH_RATE_LIMIT: '60',
        CREDENTIAL_RATE_LIMIT: '20',
        TABLE_NAME: expect.anything(),
        MONGODB_SECRET_ARN: expect.anything(),
        PUBLIC_URL: expect.anything(),
      },
    });
  });

  test('follow the deployment', () => {
    const context = { rateLimit: '1000', authRateLimit: '0', publicUrl: 'https://api.example.com' };
    expect(environmentOf(context)).toMatchObject({
      Variables: { RATE_LIMIT: '1000', AUTH_RATE_LIMIT: '0', PUBLIC_URL: 'https://api.example.com' },
    });
  });
});

describe('the jobs', () => {
  const resources = stack('Jobs');
  const every = Object.values(jobs).flatMap<number>(({ starts }) =>
    typeof starts === 'object' && 'everyMinutes' in starts ? [starts.everyMinutes] : [],
  );

  test('are one function each', () => {
    const summaries = [...ofType(resources, 'AWS::Lambda::Function').values()].flatMap(
      ({ Properties }) => Properties.Description ?? [],
    );
    expect(summaries.sort()).toEqual(
      Object.values(jobs)
        .map(({ summary }) => summary)
        .sort(),
    );
  });

  test('run as often as their table says', () => {
    const rates = [...ofType(resources, 'AWS::Events::Rule').values()].map(
      ({ Properties }) => Properties.ScheduleExpression,
    );
    expect(rates).toEqual(every.map((minutes) => `rate(${minutes} minutes)`));
  });

  test('are not repeated by Lambda when a scheduled run fails', () => {
    for (const { Properties } of ofType(resources, 'AWS::Lambda::EventInvokeConfig').values()) {
      expect(Properties.MaximumRetryAttempts).toBe(0);
    }
  });

  test('make the indexes on deployment, before anything is served', () => {
    expect(ofType(resources, 'Custom::Trigger').size).toBe(1);
  });
});
