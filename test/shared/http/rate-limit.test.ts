import type { Context } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { dataRoutes } from '../../../functions/data/routes.ts';
import { clock } from '../../../shared/core/clock.ts';
import { AppError } from '../../../shared/core/errors.ts';
import { log } from '../../../shared/core/log.ts';
import { consume, rateLimitBeside, windowOf } from '../../../shared/http/middleware/rate-limit.ts';
import type { Event } from '../../../shared/http/stack.ts';
import { OverLimit } from '../../../shared/rate-limit/rate-limit.ts';

const table = vi.hoisted(() => ({
  state: 'answers' as 'answers' | 'over' | 'known' | 'down' | 'broken',
  asked: 0,
  pending: undefined as Promise<unknown> | undefined,
}));

vi.mock('../../../shared/rate-limit/rate-limit.ts', async (original) => ({
  ...(await original<object>()),
  knownOverLimit: () => (table.state === 'known' ? new OverLimit({ limit: 5, remaining: 0, reset: 60 }) : undefined),
  countRequest: async () => {
    table.asked += 1;
    const { state } = table;
    await table.pending;
    if (state === 'broken') throw new TypeError('broken');
    if (state === 'down') throw new AppError('SERVICE_UNAVAILABLE', 'down');
    if (state === 'over') throw new OverLimit({ limit: 5, remaining: 0, reset: 60 });
    return { limit: 5, remaining: 4, reset: 60 };
  },
}));

let time = 1_000_000;
const uncounted = [{ message: 'Requests continue uncounted: the table does not respond' }];

/** The warnings about reads that continued uncounted. */
const said = () => vi.mocked(log.warn).mock.calls;

beforeEach(() => {
  vi.spyOn(log, 'warn').mockReturnValue(undefined);
  vi.spyOn(clock, 'now').mockImplementation(() => time);
});
afterEach(async () => {
  Object.assign(table, { state: 'answers', pending: undefined });
  time += 10_000;
  await read();
  table.asked = 0;
  vi.restoreAllMocks();
});

const begun = vi.fn();
const limit = rateLimitBeside(dataRoutes['list-documents'], begun);
const event = { requestContext: { http: { sourceIp: '192.0.2.9' } } } as Event;

/** `in` for an admitted request, otherwise the code of its error. */
const pass = async (through: typeof limit, answerHeaders: object = {}): Promise<string> => {
  const context = { answerHeaders } as unknown as Context;
  try {
    await through.before?.({ event, context } as never);
    return 'in';
  } catch (error) {
    return error instanceof AppError ? error.code : String(error);
  }
};
const read = (): Promise<string> => pass(limit);

type Limited = Parameters<typeof rateLimitBeside>[0];
const listing: Limited = dataRoutes['list-documents'];
const creating: Limited = dataRoutes['create-document'];
const through = (route: Limited, withholds = false) => rateLimitBeside(route, begun, withholds);

describe('after the table did not respond', () => {
  test('429 for every read of a source as soon as the table reports that it is over its limit', async () => {
    table.state = 'down';
    expect(await read()).toBe('in');
    table.state = 'over';
    time += 3001;
    expect([await read(), await read(), await read()]).toEqual(Array(3).fill('RATE_LIMITED'));
    expect(said()).toEqual([uncounted]);
  });

  test('429 without any command for a source that is known to be over its limit', async () => {
    table.state = 'down';
    await read();
    begun.mockClear();
    table.asked = 0;
    table.state = 'known';
    expect(await read()).toBe('RATE_LIMITED');
    expect([begun.mock.calls.length, table.asked]).toEqual([0, 0]);
    table.state = 'down';
    expect(await read()).toBe('in');
    expect([begun.mock.calls.length, table.asked]).toEqual([1, 0]);
    expect(said()).toEqual([uncounted]);
  });
});

describe('while the table does not respond', () => {
  test.each<[string, Limited, string]>([
    ['a read', listing, 'in'],
    ['a write', creating, 'SERVICE_UNAVAILABLE'],
    ['a read that proves a password', { ...listing, credential: true }, 'SERVICE_UNAVAILABLE'],
    ['a write that proves one', { ...creating, credential: true }, 'SERVICE_UNAVAILABLE'],
  ])('%s: %#', async (_, route, expected) => {
    table.state = 'down';
    expect(await pass(through(route))).toBe(expected);
  });

  test('reads are not counted for 3 s, and then one at a time is; writes are always counted', async () => {
    table.state = 'down';
    await read();
    time += 2999;
    await read();
    expect(table.asked).toBe(1);
    await pass(through(creating));
    expect(table.asked).toBe(2);
    time += 1;
    const { promise, resolve } = Promise.withResolvers<void>();
    table.pending = promise;
    const first = read();
    expect(await read()).toBe('in');
    expect(table.asked).toBe(3);
    resolve();
    await first;
  });

  test('a write that waits does not keep a read from being counted', async () => {
    table.state = 'down';
    await read();
    time += 3000;
    const { promise, resolve } = Promise.withResolvers<void>();
    table.pending = promise;
    const both = [pass(through(creating)), read()];
    expect(table.asked).toBe(3);
    resolve();
    expect(await Promise.all(both)).toEqual(['SERVICE_UNAVAILABLE', 'in']);
  });

  test('a fault of our own is an error of reads, too', async () => {
    table.state = 'broken';
    expect([await read(), await pass(through(creating))]).toEqual(Array(2).fill('TypeError: broken'));
  });
});

describe('while the table responds', () => {
  test('each read is counted, at the same time too, and gets its headers', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    table.pending = promise;
    const headers = {};
    const both = [read(), pass(limit, headers)];
    expect(table.asked).toBe(2);
    resolve();
    await Promise.all(both);
    const shown = { 'ratelimit-limit': '5', 'ratelimit-remaining': '4', 'ratelimit-reset': '60' };
    expect(headers).toEqual(shown);
  });

  test.each([
    ['a read whose response waits', listing, true, true],
    ['a read', listing, false, false],
    ['a write', creating, true, false],
  ])('%s begins before it is counted: %#', async (_, route, withholds, isBegun) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    table.pending = promise;
    let begins = false;
    const passing = pass(through(route, withholds)).then(() => {
      begins = true;
    });
    await new Promise(setImmediate);
    expect(begins).toBe(isBegun);
    resolve();
    await passing;
  });
});

describe('the windows of a route', () => {
  const windows = async (route: object, settings: Readonly<Record<string, string>> = {}) => {
    vi.resetModules();
    for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
    const { windowsOf } = await import('../../../shared/http/middleware/rate-limit.ts');
    const found = windowsOf({ ...listing, ...route }).map(({ name, limit: most, block }) => [name, most, block]);
    vi.unstubAllEnvs();
    return found;
  };

  test.each<[object, readonly unknown[]]>([
    [{}, [['all', 100, 1]]],
    [
      { path: '/api/userAuth/me' },
      [
        ['all', 100, 1],
        ['auth', 60, 1],
      ],
    ],
    [
      { path: '/api/userAuth/login', credential: true },
      [
        ['all', 100, 1],
        ['auth', 60, 1],
        ['credential', 20, 1],
      ],
    ],
    [
      { path: '/api/auth/login', credential: true },
      [
        ['all', 100, 1],
        ['dashboard', 20, 1],
      ],
    ],
  ])('%j', async (route, expected) => {
    expect(await windows(route)).toEqual(expected);
  });

  test('are empty when the limit of all requests is 0, and have blocks of a thousandth', async () => {
    const route = { path: '/api/userAuth/login', credential: true };
    expect(await windows(route, { RATE_LIMIT: '0' })).toEqual([]);
    expect(await windows({}, { RATE_LIMIT: '3000' })).toEqual([['all', 3000, 3]]);
    expect(await windows({}, { RATE_LIMIT: '3000', RATE_BLOCK: '7' })).toEqual([['all', 3000, 7]]);
  });

  test('that are empty count nothing', async () => {
    await consume({ answerHeaders: {} }, 'source', [], false);
    expect(table.asked).toBe(0);
  });
});

test('a limit of 0 rejects no request', () => {
  expect(windowOf('auth', 0)).toEqual([]);
  expect(windowOf('auth', 3)).toMatchObject([{ name: 'auth', limit: 3 }]);
});
