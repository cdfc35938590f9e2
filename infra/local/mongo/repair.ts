import type { MongoClient } from 'mongodb';

const limitMs = 60_000;
const systemDatabases: ReadonlySet<string> = new Set(['admin', 'config', 'local']);

const collectionsOf = async (client: MongoClient): Promise<readonly (readonly [database: string, name: string])[]> => {
  const { databases } = await client.db('admin').admin().listDatabases({ nameOnly: true });
  const found: [string, string][] = [];
  for (const { name } of databases.filter((database) => !systemDatabases.has(database.name))) {
    const collections = await client.db(name).listCollections({ type: 'collection' }, { nameOnly: true }).toArray();
    found.push(...collections.map((collection): [string, string] => [name, collection.name]));
  }
  return found;
};

/**
 * Sets right the counts that MongoDB keeps of every collection, which are off after it was killed (contract 2,
 * "total"). Takes about 3 s for a million documents; gives up after a minute and says so.
 */
export const repairCounts = async (client: MongoClient, report: (step: string) => void): Promise<void> => {
  const all = await collectionsOf(client);
  const begin = performance.now();
  let told = begin;
  for (const [index, [database, name]] of all.entries()) {
    const now = performance.now();
    if (now - begin > limitMs) {
      report(`${all.length - index} collections are left unchecked: totals of lists may be off until the next start`);
      return;
    }
    if (now - told > 1000) {
      report(`Checking collections after an unclean stop: ${index} of ${all.length}`);
      told = now;
    }
    await client.db(database).command({ validate: name });
  }
};
