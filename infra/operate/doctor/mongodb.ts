import { type Db, MongoClient, MongoServerSelectionError } from 'mongodb';
import { controlIndexes } from '../../../shared/control-indexes.ts';
import { tryDatabase } from '../try-database.ts';
import { type Check, failed, type Outcome, ok, type Target, warning } from './check.ts';
import { secretOf } from './secrets.ts';

const reachMs = 8000;

/** No failure, because a cluster may allow only the addresses of the functions. */
const unreachable = warning(
  'not checked, because the cluster does not allow this machine to connect',
  'The health checks below show whether the functions can connect. To check more, allow this machine for a moment.',
);

const onMongo = async (target: Target, check: (client: MongoClient) => Promise<Outcome>): Promise<Outcome> => {
  const uri = await secretOf(target, 'MONGODB_URI', 'MONGODB_SECRET_ARN');
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: reachMs, connectTimeoutMS: reachMs });
  try {
    return await check(client);
  } catch (error) {
    if (error instanceof MongoServerSelectionError && !target.local) return unreachable;
    throw error;
  } finally {
    await client.close();
  }
};

const missingIndexes = async (db: Db): Promise<string[]> => {
  const missing: string[] = [];
  const collections = new Set((await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name));
  for (const [name, indexes] of Object.entries(controlIndexes)) {
    const existing = collections.has(name) ? await db.collection(name).indexes() : [];
    const names = new Set(existing.map((index) => index.name));
    missing.push(...indexes.flatMap((index) => (names.has(index.name) ? [] : `${name}.${index.name}`)));
  }
  return missing;
};

export const mongoChecks: readonly Check[] = [
  {
    name: 'MongoDB',
    run: (target) =>
      onMongo(target, async (client) => {
        const start = performance.now();
        await client.db('admin').command({ ping: 1 });
        return ok(`responds within ${Math.round(performance.now() - start)} ms`);
      }),
  },
  {
    name: 'MongoDB permissions',
    run: (target) =>
      onMongo(target, async (client) => {
        if (await tryDatabase(client)) return ok('a project database can be created, indexed, measured and dropped');
        return failed(
          'the user lacks permissions that the service needs',
          'Give the user the roles readWriteAnyDatabase and dbAdminAnyDatabase.',
        );
      }),
  },
  {
    name: 'control database',
    run: (target) =>
      onMongo(target, async (client) => {
        const missing = await missingIndexes(client.db(target.environment.CONTROL_DATABASE ?? 'control'));
        if (missing.length === 0) return ok('every index exists');
        return failed(`indexes are missing: ${missing.join(', ')}`, 'Deploy again, which creates them: npm run deploy');
      }),
  },
];
