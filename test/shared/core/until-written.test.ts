import { describe, expect, test } from 'vitest';
import { AppError } from '../../../shared/core/errors.ts';
import { onDuplicateKey, retryOnConflict } from '../../../shared/core/retry.ts';

const busy = 'Too many things are being made at once. Retry.';

describe('a write with concurrent writers', () => {
  test('is retried until an attempt is not null', async () => {
    const attempts: number[] = [];
    const attempt = async (number: number) => {
      attempts.push(number);
      return number < 2 ? null : 'written';
    };
    await expect(retryOnConflict(busy, attempt)).resolves.toBe('written');
    expect(attempts).toEqual([0, 1, 2]);
  });

  test('503 TOO_MANY_WRITERS when every attempt failed', async () => {
    let attempts = 0;
    const attempt = async () => {
      attempts += 1;
      return null;
    };
    await expect(retryOnConflict(busy, attempt, 5)).rejects.toMatchObject({
      code: 'TOO_MANY_WRITERS',
      message: busy,
      retryAfter: 1,
    });
    expect(attempts).toBe(5);
  });

  test('throws the error of an attempt', async () => {
    const limit = new AppError('PLAN_LIMIT', 'No more of them.');
    await expect(retryOnConflict(busy, () => Promise.reject(limit))).rejects.toBe(limit);
  });
});

describe('a duplicate key', () => {
  const taken = new AppError('DUPLICATE_VALUE', 'name already exists');

  test('has the caller’s result or error', async () => {
    await expect(onDuplicateKey(Promise.reject(taken), (error) => error.message)).resolves.toBe('name already exists');
    const exists = new AppError('TEMPLATE_EXISTS', 'There is one already.');
    const refuse = () => {
      throw exists;
    };
    await expect(onDuplicateKey(Promise.reject(taken), refuse)).rejects.toBe(exists);
  });

  test('does not change successful writes and other errors', async () => {
    await expect(onDuplicateKey(Promise.resolve('written'), () => null)).resolves.toBe('written');
    const gone = new AppError('DATABASE_UNAVAILABLE', 'The database did not answer.');
    await expect(onDuplicateKey(Promise.reject(gone), () => null)).rejects.toBe(gone);
  });
});
