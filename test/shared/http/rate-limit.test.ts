import type { Context } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { dataRoutes } from '../../../functions/data/routes.ts';
import { clock } from '../../../shared/core/clock.ts';
import { AppError } from '../../../shared/core/errors.ts';
import { log } from '../../../shared/core/log.ts';
import { rateLimitBeside, windowOf } from '../../../shared/http/middleware/rate-limit.ts';
import type { Event } from '../../../shared/http/stack.ts';
import { OverLimit } from '../../../shared/rate-limit/rate-limit.ts';

const table = vi.hoisted(() => ({ state: 'answers' as 'answers' | 'over' | 'known' | 'down', asked: 0 }));

vi.mock('../../../shared/rate-limit/rate-limit.ts', async (original) => ({
  ...(await original<object>()),
  knownOverLimit: () => (table.state === 'known' ? new OverLimit({ limit: 5, remaining: 0, reset: 60 }) : undefined),
  countRequest: async () => {
    table.asked += 1;
    if (table.state === 'down') throw new AppError('SERVICE_UNAVAILABLE', 'down');
    if (table.state === 'over') throw new OverLimit({ limit: 5, remaining: 0, reset: 60 });
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
  table.state = 'answers';
  time += 10_000;
  await read();
  table.asked = 0;
  vi.restoreAllMocks();
});

const begun = vi.fn();
const limit = rateLimitBeside(dataRoutes['list-documents'], begun);
const event = { requestContext: { http: { sourceIp: '192.0.2.9' } } } as Event;

/** `in` for an admitted read, otherwise the code of its error. */
const read = async (): Promise<string> => {
  const context = { answerHeaders: {} } as unknown as Context;
  try {
    await limit.before?.({ event, context } as never);
    return 'in';
  } catch (error) {
    return error instanceof AppError ? error.code : String(error);
  }
};

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

test('a limit of 0 rejects no request', () => {
  expect(windowOf('auth', 0)).toEqual([]);
  expect(windowOf('auth', 3)).toMatchObject([{ name: 'auth', limit: 3 }]);
});
