import type { MongoClient } from 'mongodb';
import { projectDatabaseName } from '../../shared/persistence/mongo.ts';

/** Of no project: what is tried out there is gone afterwards. */
const trialDatabase = projectDatabaseName('0'.repeat(24));

/** Code of MongoDB where a user may not do something. */
const unauthorized = 13;

/**
 * Does with a cluster everything that the service does with a project's database: writes, indexes, measures, drops.
 * Returns false where its user may not.
 */
export const tryDatabase = async (client: MongoClient): Promise<boolean> => {
  const db = client.db(trialDatabase);
  try {
    await db.collection('trial').insertOne({ at: new Date() }, { writeConcern: { w: 'majority', journal: true } });
    await db.collection('trial').createIndex({ at: 1 });
    await db.stats();
    await db.dropDatabase();
    return true;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== unauthorized) throw error;
    return false;
  }
};
