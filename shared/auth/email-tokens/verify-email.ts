import { onManaged } from '../../clients/mongo.ts';
import { clock } from '../../clock.ts';
import { usersCollection } from '../../collections/collection-name.ts';
import type { Project } from '../../projects/project.ts';
import { projectScope } from '../session-keys.ts';
import type { UserRecord } from '../users/user-record.ts';
import { consumeProof, type EmailProof, invalidEmailToken } from './email-proof.ts';

/** Marks an address as verified. A token or code that is wrong, used or expired → 400 `INVALID_EMAIL_TOKEN`. */
export const verifyEmail = async (project: Project, proof: EmailProof): Promise<void> => {
  const owner = await consumeProof(projectScope(project.id), 'verify', proof);
  const { matchedCount } = await onManaged(project, (db) =>
    db
      .collection<UserRecord>(usersCollection)
      .updateOne(owner, { $set: { emailVerified: true, updatedAt: new Date(clock.now()) } }),
  );
  if (matchedCount === 0) throw invalidEmailToken();
};
