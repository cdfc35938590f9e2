import { ConditionalCheckFailedException, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { onTable } from '../clients/dynamo.ts';
import { nowSeconds } from '../core/clock.ts';
import type { Write } from '../table/transact.ts';
import { throughConflicts } from '../table/write-conflicts.ts';
import type { SessionScope } from './session-keys.ts';

/** How long an entry is kept: longer than any sign-in takes from reading the user to opening the session. */
const keptSeconds = 3600;

const gateKey = (scope: SessionScope, userId: string) => ({ pk: { S: scope }, sk: { S: `gate#${userId}` } });

const number = (value: number) => ({ N: String(value) });

/** Higher than any credential version: after it no session can be opened any more. */
export const noVersion: number = Number.MAX_SAFE_INTEGER;

/**
 * The condition check of a transaction that opens a session: it fails for a sign-in that read the user before their
 * password was changed or they were disabled.
 */
export const requireCredentialVersion = (scope: SessionScope, userId: string, version: number): Write => ({
  ConditionCheck: {
    Key: gateKey(scope, userId),
    ConditionExpression: 'attribute_not_exists(pk) OR credentialVersion <= :version OR expiresAt <= :now',
    ExpressionAttributeValues: { ':version': number(version), ':now': number(nowSeconds()) },
  },
});

/** Rejects new sessions for credentials older than this version. The caller then ends the existing sessions. */
export const raiseCredentialVersion = async (scope: SessionScope, userId: string, version: number): Promise<void> => {
  try {
    await onTable((client, TableName) =>
      throughConflicts(() =>
        client.send(
          new UpdateItemCommand({
            TableName,
            Key: gateKey(scope, userId),
            UpdateExpression: 'SET credentialVersion = :version, expiresAt = :end',
            ConditionExpression: 'attribute_not_exists(pk) OR credentialVersion <= :version',
            ExpressionAttributeValues: { ':version': number(version), ':end': number(nowSeconds() + keptSeconds) },
          }),
        ),
      ),
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
};
