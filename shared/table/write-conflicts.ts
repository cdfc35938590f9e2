import { setTimeout as sleep } from 'node:timers/promises';
import { cancellation, isHeld } from '../clients/dynamo.ts';

const tries = 6;

const reasonsOf = (error: unknown): ReadonlySet<string | undefined> =>
  new Set(cancellation(error)?.map(({ Code }) => Code));

/** True where a condition decided against a transaction, and not merely another write that held one of its items. */
export const isRefused = (error: unknown): boolean => reasonsOf(error).has('ConditionalCheckFailed');

/** A write that did not happen: a decision of its conditions as it came, anything else a fault. */
const outcome = (error: unknown): unknown =>
  cancellation(error) && !isRefused(error) ? new Error('The transaction was cancelled', { cause: error }) : error;

/** True where a write was refused only because another one held one of its items. */
const isConflict = (error: unknown): boolean => {
  const reasons = reasonsOf(error);
  return isHeld(error) || (reasons.has('TransactionConflict') && !reasons.has('ConditionalCheckFailed'));
};

/**
 * Sends a write to items that transactions write too; for use inside `onTable`. DynamoDB refuses it while another write
 * holds an item, and may refuse both of two, so it is sent again, up to six times within about a second; then the
 * refusal is thrown. A transaction cancelled for load is an `Error`, which `onTable` makes `SERVICE_UNAVAILABLE`.
 */
export const throughConflicts = async <T>(write: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (!isConflict(error)) throw outcome(error);
      if (attempt === tries) throw error;
      await sleep(Math.random() * 20 * 2 ** attempt);
    }
  }
};
