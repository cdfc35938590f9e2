import { onManaged } from '../../clients/mongo.ts';
import { activeIn, collectionRecords } from '../../collections/control-collections.ts';
import { usersCollection } from '../../collections/schema/collection-name.ts';
import { storageUsage } from '../../files/list-files.ts';
import { mailUsage } from '../../mail/outbox/mail-quota.ts';
import { plans } from '../../projects/plans.ts';
import type { Project } from '../../projects/project.ts';
import { databaseUsed } from '../../projects/quota/database-quota.ts';
import { getRequestStats } from './request-stats.ts';

const countUsers = (project: Project): Promise<number> =>
  onManaged(project, (db) => db.collection(usersCollection).estimatedDocumentCount({ maxTimeMS: 5000 }));

const countCollections = (project: Project): Promise<number> => collectionRecords.countDocuments(activeIn(project));

/**
 * What a project uses of its plan; bytes and numbers, `null` where there is no limit (contract 6, "Usage"). Reads every
 * counter side by side; of documents in its own database, which have no limit, none.
 */
export const getUsage = async (project: Project) => {
  const plan = plans[project.plan];
  const [database, storage, mail, users, collections, requests] = await Promise.all([
    databaseUsed(project),
    storageUsage(project),
    mailUsage(project),
    countUsers(project),
    countCollections(project),
    getRequestStats(project.id),
  ]);
  return {
    databaseUsed: database,
    databaseLimit: project.placement.kind === 'managed' ? plan.databaseBytes : null,
    storageUsed: storage.used,
    storageLimit: storage.limit,
    mailUsed: mail.used,
    mailLimit: mail.limit,
    users,
    usersLimit: plan.users,
    collections,
    collectionsLimit: plan.collections,
    requestsToday: requests.requests,
  };
};
