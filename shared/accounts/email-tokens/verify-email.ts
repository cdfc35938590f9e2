import type { Filter } from 'mongodb';
import { onManaged } from '../../clients/mongo.ts';
import { usersCollection } from '../../collections/schema/collection-name.ts';
import { clock } from '../../core/clock.ts';
import type { Project } from '../../projects/project.ts';
import { projectScope } from '../session-keys.ts';
import type { UserRecord } from '../users/user-record.ts';
import { type EmailProof, withProof } from './email-proof.ts';

/**
 * Marks an address as verified. A token or code that is wrong, used or expired, or whose user is disabled → 400
 * `INVALID_EMAIL_TOKEN`.
 */
export const verifyEmail = (project: Project, proof: EmailProof): Promise<void> =>
  withProof(projectScope(project.id), 'verify', proof, async (owner) => {
    const { matchedCount } = await onManaged(project, (db) =>
      db
        .collection<UserRecord>(usersCollection)
        .updateOne({ ...owner, isDisabled: { $ne: true }, isDeleted: { $ne: true } } as Filter<UserRecord>, {
          $set: { emailVerified: true, updatedAt: new Date(clock.now()) },
        }),
    );
    return matchedCount > 0;
  });
