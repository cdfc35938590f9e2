import { MongoNetworkError, MongoNetworkTimeoutError } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AppError } from '../../../shared/core/errors.ts';
import { closeMongo, onControl } from '../../../shared/persistence/mongo.ts';

// Nothing is sent there: a client only connects when it is used.
beforeAll(() => {
  process.env.MONGODB_URI = 'mongodb://127.0.0.1:1';
});

afterAll(closeMongo);

const coded = (code: string): Error => Object.assign(new Error('This socket has been ended'), { code });

const thrownFor = (error: unknown): Promise<unknown> =>
  onControl(() => Promise.reject(error)).catch((reason: unknown) => reason);

describe('an operation on MongoDB', () => {
  test.each([
    new MongoNetworkError('connection closed'),
    new MongoNetworkTimeoutError('connection timed out'),
    coded('EPIPE'),
    coded('ECONNRESET'),
    coded('ERR_STREAM_DESTROYED'),
  ])('DATABASE_UNAVAILABLE for %s', async (error) => {
    const thrown = await thrownFor(error);
    expect(thrown).toMatchObject({ code: 'DATABASE_UNAVAILABLE', retryAfter: 5, cause: error });
    expect((thrown as AppError).message).not.toContain(error.message);
  });

  test.each([
    new AppError('DOCUMENT_NOT_FOUND', 'Document not found'),
    new TypeError('our own mistake'),
    coded('ERR_INVALID_ARG_TYPE'),
  ])('throws %s unchanged', async (error) => {
    expect(await thrownFor(error)).toBe(error);
  });
});
