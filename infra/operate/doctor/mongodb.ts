import { type Db, MongoClient, MongoServerSelectionError } from 'mongodb';
import { controlIndexes } from '../../../shared/control-indexes.ts';
import { tryDatabase } from '../try-database.ts';
import { type Check, failed, type Outcome, ok, type Target, warning } from './check.ts';
import { secretOf } from './secrets.ts';

const reachMs = 8000;

/** From here it need not be reachable: clusters let in the addresses of the functions alone. */
const unreachable = warning(
  'does not let this machine in, so it was not looked into',
  'See that the health checks below say mongodb is ok; to have it looked into, let this machine in for a moment.',
);

/** Asks the cluster, if it lets this machine in. */
const onMongo = async (target: Target, ask: (client: MongoClient) => Promise<Outcome>): Promise<Outcome> => {
  const uri = await secretOf(target, 'MONGODB_URI', 'MONGODB_SECRET_ARN');
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: reachMs, connectTimeoutMS: reachMs });
  try {
    return await ask(client);
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
    const there = collections.has(name) ? await db.collection(name).indexes() : [];
    const names = new Set(there.map((index) => index.name));
    missing.push(...indexes.flatMap((index) => (names.has(index.name) ? [] : `${name}.${index.name}`)));
  }
  return missing;
};

/** The cluster, as far as this machine may see it. */
export const mongoChecks: readonly Check[] = [
  {
    name: 'MongoDB',
    run: (target) =>
      onMongo(target, async (client) => {
        const start = performance.now();
        await client.db('admin').command({ ping: 1 });
        return ok(`answers in ${Math.round(performance.now() - start)} ms, the way there included`);
      }),
  },
  {
    name: 'rights in MongoDB',
    run: (target) =>
      onMongo(target, async (client) => {
        if (await tryDatabase(client)) return ok('databases of projects can be made, indexed, measured and dropped');
        return failed(
          'its user may not do all that the service does',
          'Give it the roles readWriteAnyDatabase and dbAdminAnyDatabase.',
        );
      }),
  },
  {
    name: 'control database',
    run: (target) =>
      onMongo(target, async (client) => {
        const missing = await missingIndexes(client.db(target.environment.CONTROL_DATABASE ?? 'control'));
        if (missing.length === 0) return ok('every index is in place');
        return failed(
          `indexes are missing: ${missing.join(', ')}`,
          'Deploy once more, which makes them: npm run deploy.',
        );
      }),
  },
];
