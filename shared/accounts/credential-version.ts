import { nowSeconds } from '../core/clock.ts';
import { write } from '../table/item.ts';
import { itemKey } from '../table/item-key.ts';
import * as kinds from '../table/keys.ts';
import type { Write } from '../table/transact.ts';
import type { SessionScope } from './session-keys.ts';

/** How long an entry is kept: longer than any sign-in takes from reading the user to opening the session. */
const keptSeconds = 3600;

const gateKey = (scope: SessionScope, userId: string) => itemKey(kinds.gate, scope, { userId });

/** Higher than any credential version: after it no session can be opened any more. */
export const noVersion: number = Number.MAX_SAFE_INTEGER;

/**
 * The condition check of a transaction that opens a session: it fails for a sign-in that read the user before their
 * password was changed or they were disabled.
 */
export const requireCredentialVersion = (scope: SessionScope, userId: string, version: number): Write => ({
  check: gateKey(scope, userId),
  condition: 'attribute_not_exists(pk) OR credentialVersion <= :version OR expiresAt <= :now',
  values: { version, now: nowSeconds() },
});

/** Rejects new sessions for credentials older than this version. The caller then ends the existing sessions. */
export const raiseCredentialVersion = async (scope: SessionScope, userId: string, version: number): Promise<void> => {
  await write({
    update: gateKey(scope, userId),
    change: 'SET credentialVersion = :version, expiresAt = :end',
    condition: 'attribute_not_exists(pk) OR credentialVersion <= :version',
    values: { version, end: nowSeconds() + keptSeconds },
  });
};
