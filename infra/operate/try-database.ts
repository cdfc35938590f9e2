import type { MongoClient } from 'mongodb';
import { projectDatabaseName } from '../../shared/persistence/mongo.ts';

/** The database of no project; it is dropped afterwards. */
const trialDatabase = projectDatabaseName('0'.repeat(24));

/** MongoDB's error code for a missing permission. */
const unauthorized = 13;

/**
 * Tries everything on a cluster that the service does with a project's database: write, index, measure, drop. Returns
 * false if the user lacks permission.
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
