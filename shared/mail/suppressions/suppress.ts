import { ObjectId } from 'mongodb';
import { clock } from '../../core/clock.ts';
import { newId } from '../../core/new-id.ts';
import { canonicalAddress, onSuppressions, type SuppressionReason } from './suppression.ts';

/** Why addresses are suppressed, and the id of the mail that led to it. */
export interface NewSuppression {
  readonly reason: SuppressionReason;
  readonly providerEmailId: string | null;
}

/**
 * Has a project's mails leave these addresses out from now on. Repeating it changes nothing, except that a complaint
 * weighs more than a bounce.
 */
export const suppress = async (
  projectId: string,
  addresses: readonly string[],
  { reason, providerEmailId }: NewSuppression,
): Promise<void> => {
  const owner = new ObjectId(projectId);
  const createdAt = new Date(clock.now());
  const emails = [...new Set(addresses.map(canonicalAddress))].filter((email) => email !== '');
  if (emails.length === 0) return;
  await onSuppressions((suppressions) =>
    suppressions.bulkWrite(
      emails.map((email) => ({
        updateOne: {
          filter: { projectId: owner, email: { $eq: email } },
          update: {
            $setOnInsert: { _id: newId(), createdAt, providerEmailId, ...(reason === 'bounced' && { reason }) },
            ...(reason === 'complained' && { $set: { reason } }),
          },
          upsert: true,
        },
      })),
      { ordered: false },
    ),
  );
};
