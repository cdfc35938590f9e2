import { expect } from 'vitest';
import { type Job, jobs } from '../../functions/jobs/jobs.ts';
import { timeoutOf } from '../../infra/stacks/job-function.ts';
import { type NamedRoute, routedMethodsOf } from '../../shared/http/route.ts';
import { account, region } from './emulator.ts';
import type { ApiState, FunctionState, Inventory } from './inventory.ts';

/** The gateway that a deployment has for one base address. */
export const apiOf = ({ apis }: Inventory, name: string): ApiState => {
  const found = apis.filter((api) => api.name === name);
  expect(found.map((api) => api.stages)).toEqual([['$default']]);
  return found[0] as ApiState;
};

const byArn = ({ functions }: Inventory, arn: string | undefined): FunctionState | undefined =>
  Object.values(functions).find((one) => one.arn === arn);

const gatewayMay = (api: ApiState, path: string) => ({
  action: 'lambda:InvokeFunction',
  principal: 'apigateway.amazonaws.com',
  source: `arn:aws:execute-api:${region}:${account}:${api.id}/*/*${path}`,
});

/** Permissions of a function that checks its callers itself. */
const anybodyMay = [
  { action: 'lambda:InvokeFunction', principal: '*', source: null },
  { action: 'lambda:InvokeFunctionUrl', principal: '*', source: null },
];

/** The list in a fixed order. */
export const inOrder = <T>(values: readonly T[]): readonly T[] =>
  values.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));

/**
 * Checks that the account has a route: every method leads to the function with the route's description. Only the
 * gateway may invoke it, for these paths. A function with its own address may also be invoked there.
 */
export const expectRoute = (inventory: Inventory, api: ApiState, row: NamedRoute): void => {
  const methods = routedMethodsOf(row);
  const arns = methods.map((method) => api.routes[`${method} ${row.path}`]);
  expect([row.id, new Set(arns).size]).toEqual([row.id, 1]);
  const there = byArn(inventory, arns[0]);
  expect([row.id, there?.description]).toEqual([row.id, row.summary]);
  const callers = [...methods.map(() => gatewayMay(api, row.path)), ...(row.ownUrl ? anybodyMay : [])];
  expect([row.id, inOrder(there?.callers ?? [])]).toEqual([row.id, inOrder(callers)]);
  const url = row.ownUrl ? { url: expect.stringMatching(/^https:\/\/\S+$/), auth: 'NONE' } : null;
  expect([row.id, there?.url]).toEqual([row.id, url]);
  expect([row.id, there?.runtime, there?.timeout]).toEqual([row.id, 'nodejs24.x', 29]);
};

/** The rules, queues and permissions that start a job in the account. */
const startsOf = (inventory: Inventory, there: FunctionState) => ({
  rules: inventory.rules
    .filter(({ targets }) => targets.includes(there.arn))
    .map(({ schedule, state }) => [schedule, state]),
  messages: inventory.mappings
    .filter((mapping) => mapping.function === there.arn)
    .map(({ source, batch, concurrency, responses, state }) => ({
      queue: source.split(':').at(-1)?.split('-')[2]?.slice(0, 4),
      batch,
      concurrency,
      responses,
      state,
    })),
  callers: there.callers.map(({ principal }) => principal),
  retries: there.retries,
});

const queueNames = { mail: 'Mail', work: 'Work', webhooks: 'Webh' } as const;

const wantedStarts = (job: Job) => {
  const { starts } = job;
  const none = { rules: [], messages: [], callers: [], retries: null };
  if (job === jobs['authorize-channel']) return { ...none, callers: ['appsync.amazonaws.com'] };
  // By its URL, which takes a permission for that and one for the call.
  if (starts === 'by the origin of files') return { ...none, callers: Array(4).fill('cloudfront.amazonaws.com') };
  if (typeof starts === 'string') return none;
  if ('queue' in starts) {
    const { queue, batchSize: batch, concurrency } = starts;
    return {
      ...none,
      messages: [
        { queue: queueNames[queue], batch, concurrency, responses: ['ReportBatchItemFailures'], state: 'Enabled' },
      ],
    };
  }
  const { everyMinutes } = starts;
  const minutes = everyMinutes === 1 ? 'minute' : 'minutes';
  const schedule = everyMinutes === 60 ? 'rate(1 hour)' : `rate(${everyMinutes} ${minutes})`;
  return { ...none, rules: [[schedule, 'ENABLED']], callers: ['events.amazonaws.com'], retries: 0 };
};

/** Whether one job is what the account has: its function, and what starts it. */
export const expectJob = (inventory: Inventory, job: Job): void => {
  const found = Object.values(inventory.functions).filter(({ description }) => description === job.summary);
  expect(found).toHaveLength(1);
  const [there] = found as [FunctionState];
  expect(startsOf(inventory, there)).toEqual(wantedStarts(job));
  expect(there.timeout).toBe(timeoutOf(job).toSeconds());
};
