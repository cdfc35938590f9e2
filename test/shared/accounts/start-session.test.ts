import { afterEach, describe, expect, test, vi } from 'vitest';
import { startSession } from '../../../shared/accounts/refresh-sessions.ts';
import { answerForAws, cancelled } from '../../support/faults/aws-answers.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Makes the table reject. */
const refuse = (...codes: string[]) =>
  answerForAws(() => {
    throw cancelled(...codes);
  });

const start = () => startSession('p#test', 'a'.repeat(24), { ip: '192.0.2.1', userAgent: 'test' });

describe('opening a session', () => {
  test('401 when a condition fails, with one call', async () => {
    const asked = refuse('ConditionalCheckFailed');
    await expect(start()).rejects.toMatchObject({ code: 'INVALID_CREDENTIALS' });
    expect(asked).toHaveLength(1);
  });

  test('503 under contention, because the password was right', async () => {
    refuse('TransactionConflict');
    await expect(start()).rejects.toMatchObject({ code: 'TOO_MANY_WRITERS', retryAfter: 1 });
  });
});
