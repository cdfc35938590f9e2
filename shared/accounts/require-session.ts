import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { onTable } from '../clients/dynamo.ts';
import { nowSeconds } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { type SessionScope, sessionKey } from './session-keys.ts';

/** The refusal of an access token whose session has ended meanwhile (401). */
export const sessionEnded = (): AppError =>
  new AppError('TOKEN_INVALID', 'The session of this access token has ended. Sign in again.');

/**
 * Refuses an access token whose session has ended meanwhile: 401 `TOKEN_INVALID`. For acts that a stolen token must not
 * do.
 */
export const requireSession = async (scope: SessionScope, userId: string, sessionId: string): Promise<void> => {
  const { Item } = await onTable((client, TableName) =>
    client.send(new GetItemCommand({ TableName, Key: sessionKey(scope, userId, sessionId), ConsistentRead: true })),
  );
  if (Number(Item?.expiresAt?.N ?? 0) > nowSeconds()) return;
  throw sessionEnded();
};
