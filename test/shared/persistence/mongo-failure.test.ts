import { MongoBulkWriteError, MongoNetworkError, MongoServerError, type WriteError } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { AppError } from '../../../shared/core/errors.ts';
import { mongoFailure } from '../../../shared/persistence/mongo-errors.ts';

const server = (code: number, rest: object = {}) => new MongoServerError({ message: 'driver text', code, ...rest });

const bulk = (field: string, value: string, op: object) => {
  const errmsg = `E11000 duplicate key error collection: p.c index: x_1 dup key: { ${field}: "${value}" }`;
  const failed = { index: 3, code: 11000, errmsg, err: { op } } as unknown as WriteError;
  const error = new MongoBulkWriteError({ message: errmsg, code: 11000 }, {} as never);
  return Object.assign(error, { writeErrors: [failed] });
};

describe('a failure of MongoDB', () => {
  test.each<[string, number]>([
    ['INVALID_UPDATE', 28],
    ['INVALID_UPDATE', 34],
    ['INVALID_UPDATE', 40],
    ['INVALID_UPDATE', 56],
    ['INVALID_UPDATE', 10396001],
    ['INVALID_UPDATE', 510],
    ['DOCUMENT_TOO_LARGE', 10334],
    ['DOCUMENT_TOO_LARGE', 17419],
    ['QUERY_TIMEOUT', 50],
    ['INVALID_QUERY', 2],
    ['INVALID_QUERY', 31249],
    ['INVALID_QUERY', 31250],
    ['INVALID_REGEX', 51091],
    ['DATABASE_UNAVAILABLE', 11600],
    ['DATABASE_UNAVAILABLE', 112],
    ['DATABASE_UNAVAILABLE', 18],
  ])('is %s for code %i, without driver text', (code, mongoCode) => {
    const failure = mongoFailure(server(mongoCode));
    expect(failure).toMatchObject({ code });
    expect(failure.message).not.toContain('driver text');
  });

  test('stays unchanged when no caller can cause its code', () => {
    const error = server(59);
    expect(mongoFailure(error)).toBe(error);
  });

  test.each<[string, unknown]>([
    ['a connection that broke', new MongoNetworkError('x')],
    ['a connection that broke during a bulk write', new MongoBulkWriteError(new Error('x'), {} as never)],
    ['an overdue answer', new Error('x')],
  ])('is DATABASE_UNAVAILABLE with Retry-After for %s', (_what, error) =>
    expect(mongoFailure(error)).toMatchObject({ code: 'DATABASE_UNAVAILABLE', retryAfter: 5 }),
  );

  test('stays unchanged when it is our own error', () => {
    const refusal = new AppError('NOT_FOUND', 'x');
    expect(mongoFailure(refusal)).toBe(refusal);
  });
});

describe('DUPLICATE_VALUE', () => {
  test('names the field of a single write', () =>
    expect(mongoFailure(server(11000, { keyPattern: { email: 1 } }))).toMatchObject({
      code: 'DUPLICATE_VALUE',
      message: 'email already exists; its value must be unique.',
      errors: [{ field: 'email', message: 'email already exists' }],
    }));

  test.each<[string, string, object]>([
    ['email', 'a', { email: 'a' }],
    ['a: b', 'x', { a: 1, 'a: b': 'x' }],
    ['email', 'dup key: { name: "x', { email: 1, name: 2 }],
  ])('names the field "%s" and the index of a bulk write of %j', (field, value, op) =>
    expect(mongoFailure(bulk(field, value, op))).toMatchObject({
      code: 'DUPLICATE_VALUE',
      message: `Item 3: ${field} already exists; its value must be unique.`,
      errors: [{ index: 3, field }],
    }),
  );
});
