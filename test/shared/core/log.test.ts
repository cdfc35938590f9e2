import { MongoServerError } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { AppError } from '../../../shared/core/errors.ts';
import { describeError } from '../../../shared/core/log.ts';

describe('the log entry of a failure', () => {
  test('has name, message and place of the error and its causes', () => {
    const error = new AppError('SERVICE_UNAVAILABLE', 'not available', { cause: new TypeError('the reason') });
    const described = describeError(error);
    expect(described).toMatchObject({ name: 'AppError', message: 'not available', cause: { message: 'the reason' } });
    expect(described.stack).toMatch(/^ {4}at .*log\.test\.ts/);
  });

  test('has only the code of a MongoDB error, whose message can quote documents', () => {
    const error = new MongoServerError({ message: 'dup key: { email: "ada@example.com" }', code: 1, codeName: 'Bad' });
    expect(JSON.stringify(describeError(new Error('wrapped', { cause: error })))).not.toContain('ada@example.com');
    expect(describeError(error)).toMatchObject({ name: 'MongoServerError', code: 1, codeName: 'Bad' });
  });

  test('has the text of a value that is not an error', () => {
    expect(describeError('odd')).toEqual({ message: 'odd' });
  });
});
