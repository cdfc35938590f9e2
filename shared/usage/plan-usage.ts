import { activeIn, collectionRecords } from '../collections/collection-record.ts';
import { usersCollection } from '../collections/names.ts';
import { variantUsage } from '../files/images/variant-items.ts';
import { storageUsage } from '../files/list-files.ts';
import { mailUsage } from '../mail/quota.ts';
import { onManaged } from '../persistence/mongo.ts';
import { databaseUsed } from '../projects/database-quota.ts';
import { plans } from '../projects/plans.ts';
import type { Project } from '../projects/project.ts';
import { getRequestStats } from './requests.ts';

const countUsers = (project: Project): Promise<number> =>
  onManaged(project, (db) => db.collection(usersCollection).estimatedDocumentCount({ maxTimeMS: 5000 }));

const countCollections = (project: Project): Promise<number> => collectionRecords.countDocuments(activeIn(project));

/** Returns the use of the plan's limits; `null` means unlimited. A customer's database counts nothing. */
export const getUsage = async (project: Project) => {
  const plan = plans[project.plan];
  const [database, storage, variants, mail, users, collections, requests] = await Promise.all([
    databaseUsed(project),
    storageUsage(project),
    variantUsage(project.id),
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
    imageSizesUsed: variants,
    imageSizesLimit: plan.variantBytes,
    mailUsed: mail.used,
    mailLimit: mail.limit,
    users,
    usersLimit: plan.users,
    collections,
    collectionsLimit: plan.collections,
    requestsToday: requests.requests,
  };
};
