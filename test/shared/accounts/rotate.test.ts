import { afterEach, describe, expect, test, vi } from 'vitest';
import { rotate } from '../../../shared/accounts/refresh-sessions.ts';
import { newRefreshToken } from '../../../shared/accounts/sessions.ts';
import { answerForAws, cancelled } from '../../support/faults/aws-answers.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Makes the table reject. */
const refuse = (...codes: string[]) =>
  answerForAws(() => {
    throw cancelled(...codes);
  });

const client = { ip: '192.0.2.1', userAgent: 'test' };
const exchange = () => rotate('p#test', newRefreshToken('a'.repeat(24), 'b'.repeat(24)).token, client);

describe('exchanging a refresh token', () => {
  test('401 when a condition fails, with one call', async () => {
    const asked = refuse('ConditionalCheckFailed', 'TransactionConflict');
    await expect(exchange()).rejects.toMatchObject({ code: 'REFRESH_TOKEN_INVALID' });
    expect(asked).toHaveLength(1);
  });

  test('503 under contention; the token stays valid', async () => {
    refuse('None', 'None', 'TransactionConflict');
    await expect(exchange()).rejects.toMatchObject({ code: 'TOO_MANY_WRITERS', retryAfter: 1 });
  });
});
