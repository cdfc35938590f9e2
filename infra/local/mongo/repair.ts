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
 * Corrects MongoDB's stored document counts, which are wrong after it was killed (contract 2, "total"). Takes about 3 s
 * for a million documents, and stops with a message after a minute.
 */
export const repairCounts = async (client: MongoClient, report: (step: string) => void): Promise<void> => {
  const all = await collectionsOf(client);
  const begin = performance.now();
  let reportedAt = begin;
  for (const [index, [database, name]] of all.entries()) {
    const now = performance.now();
    if (now - begin > limitMs) {
      report(`${all.length - index} collections were not checked: totals of lists may be wrong until the next start`);
      return;
    }
    if (now - reportedAt > 1000) {
      report(`Checking collections after an unclean stop: ${index} of ${all.length}`);
      reportedAt = now;
    }
    await client.db(database).command({ validate: name });
  }
};
