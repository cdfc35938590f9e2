import { DynamoDBClient, TransactionCanceledException, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, describe, expect, test } from 'vitest';
import { startSession } from '../../../shared/accounts/refresh-sessions.ts';

const table = mockClient(DynamoDBClient);
afterEach(() => table.reset());

const cancelled = (Code: string) =>
  new TransactionCanceledException({ $metadata: {}, message: 'cancelled', CancellationReasons: [{ Code }] });
const start = () => startSession('p#test', 'a'.repeat(24), { ip: '192.0.2.1', userAgent: 'test' });

describe('opening a session', () => {
  test('401 where a condition decided against it, asked once', async () => {
    table.on(TransactWriteItemsCommand).rejects(cancelled('ConditionalCheckFailed'));
    await expect(start()).rejects.toMatchObject({ code: 'INVALID_CREDENTIALS' });
    expect(table.calls()).toHaveLength(1);
  });

  test('503 where others hold its items all the time: the password was right', async () => {
    table.on(TransactWriteItemsCommand).rejects(cancelled('TransactionConflict'));
    await expect(start()).rejects.toMatchObject({ code: 'TOO_MANY_WRITERS', retryAfter: 1 });
  });
});
