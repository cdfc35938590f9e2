import { DynamoDBClient, TransactionCanceledException, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, describe, expect, test } from 'vitest';
import { rotate } from '../../../shared/accounts/refresh-sessions.ts';
import { newRefreshToken } from '../../../shared/accounts/refresh-token.ts';

const table = mockClient(DynamoDBClient);
afterEach(() => table.reset());

const cancelled = (...codes: string[]) =>
  new TransactionCanceledException({
    $metadata: {},
    message: 'cancelled',
    CancellationReasons: codes.map((Code) => ({ Code })),
  });
const exchange = () => rotate('p#test', newRefreshToken('a'.repeat(24), 'b'.repeat(24)).token);

describe('exchanging a refresh token', () => {
  test('401 where a condition decided against it, asked once', async () => {
    table.on(TransactWriteItemsCommand).rejects(cancelled('ConditionalCheckFailed', 'TransactionConflict'));
    await expect(exchange()).rejects.toMatchObject({ code: 'REFRESH_TOKEN_INVALID' });
    expect(table.calls()).toHaveLength(1);
  });

  test('503 where others hold its items all the time: the token is still good', async () => {
    table.on(TransactWriteItemsCommand).rejects(cancelled('None', 'None', 'TransactionConflict'));
    await expect(exchange()).rejects.toMatchObject({ code: 'TOO_MANY_WRITERS', retryAfter: 1 });
  });
});
