import { expect, test } from 'vitest';
import { deployedJobs } from '../../functions/jobs/jobs.ts';
import { dashboardRoutes, publicRoutes, routes } from '../../functions/routes.ts';
import { type RouteTable, routedMethodsOf } from '../../shared/http/route.ts';
import { apiOf, expectJob, expectRoute } from './compare.ts';
import type { Inventory } from './inventory.ts';

/** All rows of some tables. */
const rowsOf = (tables: Readonly<Record<string, RouteTable>>) =>
  Object.values(tables).flatMap((table) => Object.values(table));

/** Tests that hold for every deployment with any settings. `at` returns its inventory. */
export const asTheTablesSay = (at: () => Inventory): void => {
  test('every stack is complete, and those with data are protected', () => {
    const unfinished = Object.entries(at().stacks).filter(
      ([, { status }]) => !/^(CREATE|UPDATE)_COMPLETE$/.test(status),
    );
    expect(unfinished).toEqual([]);
    const held = Object.entries(at().stacks).filter(([name, stack]) => name.startsWith('Basalt-') && stack.protected);
    expect(
      held
        .map(([name]) => name)
        .filter((name) => name !== 'Basalt-Network')
        .sort(),
    ).toEqual(['Basalt-Data', 'Basalt-Files']);
  });

  test.each(Object.entries(publicRoutes))(
    'every route of %s has its function, gateway route and permission at the public API',
    (_area, table) => {
      for (const row of Object.values(table)) expectRoute(at(), apiOf(at(), 'Basalt-PublicApi'), row);
    },
  );

  test.each(Object.entries(dashboardRoutes))(
    'every route of %s has its function, gateway route and permission at the dashboard API',
    (_area, table) => {
      for (const row of Object.values(table)) expectRoute(at(), apiOf(at(), 'Basalt-DashboardApi'), row);
    },
  );

  test.each(deployedJobs('on'))('%s has its function and its trigger', (_name, job) => expectJob(at(), job));

  test.each([
    ['Basalt-PublicApi', rowsOf(publicRoutes), 1],
    ['Basalt-DashboardApi', rowsOf(dashboardRoutes), 0],
  ] as const)('%s has no other routes except preflights and $default', (name, rows, preflights) => {
    const wanted = rows.flatMap((row) => routedMethodsOf(row).map((method) => `${method} ${row.path}`));
    const more = Object.keys(apiOf(at(), name).routes).filter((key) => !wanted.includes(key));
    expect(more.sort()).toEqual(['$default', ...(preflights ? ['OPTIONS /{proxy+}'] : [])]);
  });

  test('only routes, jobs, gateways and the CDK have functions', () => {
    const described = [
      ...Object.values(routes).flatMap((table) => Object.values(table)),
      ...deployedJobs('on').map(([, job]) => job),
    ];
    const summaries = new Set<string>(described.map(({ summary }) => summary));
    const more = Object.values(at().functions).filter(({ description }) => !summaries.has(description));
    expect(more.map(({ description }) => description).sort()).toEqual([
      '',
      'Let the gateway respond to CORS preflights',
      'Return 404 for an unknown route',
      'Return 404 for an unknown route',
    ]);
    expect(Object.keys(at().functions)).toHaveLength(described.length + more.length);
  });

  test('every function has its own role and a log with the configured retention', () => {
    const { functions, logGroups } = at();
    const roles = Object.values(functions).map(({ role }) => role);
    expect(new Set(roles).size).toBe(roles.length);
    const own = Object.entries(logGroups).filter(([name]) => /^\/(?:aws\/vendedlogs\/)?Basalt-/.test(name));
    expect(own.filter(([, days]) => days !== 30)).toEqual([]);
    // A log of the gateway's for each API; the provider of the trigger, which is the CDK's, has none.
    expect(own).toHaveLength(roles.length + 2 - 1);
  });

  test('every alarm notifies the topic', () => {
    const { alarms, topics } = at();
    expect(topics).toHaveLength(1);
    expect(alarms.length).toBeGreaterThan(20);
    expect(alarms.filter(({ actions }) => actions.length !== 1 || actions[0] !== topics[0])).toEqual([]);
  });
};
