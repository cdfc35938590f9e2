import { describe, expect, test } from 'vitest';
import { AppError } from '../../../shared/core/errors.ts';
import { onDuplicateKey, retryOnConflict } from '../../../shared/core/retry.ts';

const busy = 'Too many things are being made at once. Retry.';

describe('a write that others may be in the way of', () => {
  test('is tried until an attempt is not null', async () => {
    const attempts: number[] = [];
    const attempt = async (number: number) => {
      attempts.push(number);
      return number < 2 ? null : 'written';
    };
    await expect(retryOnConflict(busy, attempt)).resolves.toBe('written');
    expect(attempts).toEqual([0, 1, 2]);
  });

  test('503 TOO_MANY_WRITERS where every attempt was in vain', async () => {
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

  test('ends with what an attempt throws', async () => {
    const limit = new AppError('PLAN_LIMIT', 'No more of them.');
    await expect(retryOnConflict(busy, () => Promise.reject(limit))).rejects.toBe(limit);
  });
});

describe('a value that a unique index has', () => {
  const taken = new AppError('DUPLICATE_VALUE', 'name already exists');

  test('is what the caller says of it', async () => {
    await expect(onDuplicateKey(Promise.reject(taken), (error) => error.message)).resolves.toBe('name already exists');
    const exists = new AppError('TEMPLATE_EXISTS', 'There is one already.');
    const refuse = () => {
      throw exists;
    };
    await expect(onDuplicateKey(Promise.reject(taken), refuse)).rejects.toBe(exists);
  });

  test('leaves what was written, and other failures, as they are', async () => {
    await expect(onDuplicateKey(Promise.resolve('written'), () => null)).resolves.toBe('written');
    const gone = new AppError('DATABASE_UNAVAILABLE', 'The database did not answer.');
    await expect(onDuplicateKey(Promise.reject(gone), () => null)).rejects.toBe(gone);
  });
});
