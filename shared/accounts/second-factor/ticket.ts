import { nowSeconds } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { itemKey, type Key } from '../../table/item-key.ts';
import * as kinds from '../../table/keys.ts';
import { countTry } from '../../table/single-use.ts';
import { consumeSecret, isSecret, issueSecret, type OneTime, sha256 } from '../one-time-secrets.ts';
import type { SessionScope } from '../sessions.ts';

const tries = 5;
const tickets: OneTime = { keyOf: (scope, hash) => itemKey(kinds.ticket, scope, { hash }), seconds: 300 };

/** What a first factor was proved for: whose account, in which version of its credentials, and how. */
interface FirstFactor {
  readonly userId: string;
  readonly version: number;
  readonly amr: readonly string[];
}

type TicketItem = Key & {
  readonly userId: string;
  readonly version: number;
  readonly amr: string;
  readonly tries: number;
  readonly expiresAt: number;
};

/** Refuses a sign-in until its second factor is there: 401 `SECOND_FACTOR_REQUIRED` with a ticket for 5 minutes. */
export const secondFactorRequired = async (
  scope: SessionScope,
  { userId, version, amr }: FirstFactor,
): Promise<AppError> => {
  const ticket = await issueSecret(tickets, scope, { userId, version, amr: amr.join(' '), tries: 0 });
  const message = 'Enter the code of your authenticator app, or a recovery code, to sign in.';
  return new AppError('SECOND_FACTOR_REQUIRED', message, { ticket });
};

/** Counts a try with a ticket, of five; `undefined` for a ticket that is unknown, used, expired or tried out. */
export const countTicketTry = async (scope: SessionScope, ticket: string): Promise<FirstFactor | undefined> => {
  if (!isSecret(ticket)) return undefined;
  const item = await countTry<TicketItem>({
    key: tickets.keyOf(scope, sha256(ticket)),
    condition: 'attribute_not_exists(usedBy) AND expiresAt > :now AND tries < :most',
    values: { most: tries, now: nowSeconds() },
  });
  return item && { userId: item.userId, version: item.version, amr: item.amr.split(' ') };
};

/** Uses a ticket up: true for one of any number of parallel callers. */
export const consumeTicket = async (scope: SessionScope, ticket: string): Promise<boolean> =>
  (await consumeSecret(tickets, scope, ticket)) !== undefined;
