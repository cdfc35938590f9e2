import type { Context } from 'aws-lambda';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { dataRoutes } from '../../../functions/data/routes.ts';
import { AppError, type ErrorCode, statusOf } from '../../../shared/core/errors.ts';
import { log } from '../../../shared/core/log.ts';
import { errorEnvelope } from '../../../shared/http/middleware/error-envelope.ts';
import type { Reply } from '../../../shared/http/reply.ts';
import { type Event, Stack } from '../../../shared/http/stack.ts';

const answerTo = (error: Error): Promise<Reply> =>
  Stack.of(dataRoutes['get-document'])
    .use(errorEnvelope())
    .handler(() => Promise.reject(error))({ requestContext: { requestId: 'r-1' } } as Event, {} as Context);

const codes = Object.keys(statusOf) as ErrorCode[];
const passing = codes.filter((code) => statusOf[code] === 429 || statusOf[code] === 503);

const docs = 'https://console.example.com/docs';
process.env.DOCS_URL = docs;

const logged = vi.spyOn(log, 'error').mockImplementation(() => undefined);
beforeEach(() => logged.mockClear());
vi.spyOn(log, 'warn').mockImplementation(() => undefined);

describe('an error', () => {
  test.each(codes)('%s links to its section in the documents', async (code) => {
    const { body } = await answerTo(new AppError(code, 'No.'));
    expect(JSON.parse(body)).toMatchObject({ docUrl: `${docs}/reference/errors#${code.toLowerCase()}` });
  });

  test.each(passing.map((code) => [statusOf[code], code] as const))('%i %s has Retry-After', async (status, code) => {
    const answer = await answerTo(new AppError(code, 'Not now.'));
    expect(answer.statusCode).toBe(status);
    expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  });

  test('429 has the given Retry-After', async () => {
    const answer = await answerTo(new AppError('RATE_LIMITED', 'Not now.', { retryAfter: 600 }));
    expect(answer.headers['retry-after']).toBe('600');
  });

  test('has no Retry-After with any other status', async () => {
    const others = codes.filter((code) => !passing.includes(code));
    for (const code of others) {
      const answer = await answerTo(new AppError(code, 'No.'));
      expect(answer.headers, code).not.toHaveProperty('retry-after');
    }
  });

  test('500 INTERNAL_ERROR, without details, for an unexpected error, which is logged', async () => {
    const answer = await answerTo(new TypeError('mongodb://user:secret@host is not a function'));
    expect(answer.statusCode).toBe(500);
    expect(answer.headers).toMatchObject({ 'x-request-id': 'r-1', 'Content-Type': 'application/json' });
    expect(JSON.parse(answer.body)).toEqual({
      success: false,
      message: 'Something went wrong on our side. Retry. If it persists, report the request id.',
      code: 'INTERNAL_ERROR',
      requestId: 'r-1',
      docUrl: `${docs}/reference/errors#internal_error`,
    });
    expect(logged).toHaveBeenCalledWith(expect.objectContaining({ requestId: 'r-1', code: 'INTERNAL_ERROR' }));
  });
});
