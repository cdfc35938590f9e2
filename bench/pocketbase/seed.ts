import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { passwordCost } from '../password-cost.ts';
import { sampleDocument } from '../samples.ts';
import { jumping } from '../seed.ts';
import type { PocketBase } from './start.ts';

/** Like its own ids: 15 lower-case letters and digits. */
const newId = (): string => randomBytes(10).toString('hex').slice(0, 15);

const stamp = (): string => new Date().toISOString().replace('T', ' ');

const inFile = <T>(file: string, act: (database: DatabaseSync) => T): T => {
  const database = new DatabaseSync(file, { timeout: 10_000 });
  try {
    return act(database);
  } finally {
    database.close();
  }
};

const inOneCommit = (database: DatabaseSync, act: () => void): void => {
  database.exec('BEGIN IMMEDIATE');
  act();
  database.exec('COMMIT');
};

/** Inserts `count` records in PocketBase's stored form. */
export const fillPocketBase = ({ file }: PocketBase, collection: string, count: number): void =>
  inFile(file, (database) => {
    const columns = 'id, title, author, body, likes, published, tags, created, updated';
    const insert = database.prepare(`INSERT INTO ${collection} (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    inOneCommit(database, () => {
      for (let index = 0; index < count; index++) {
        const { title, author, body, likes, published, tags } = sampleDocument(index);
        const now = stamp();
        const texts = [title, author, body].map(String);
        insert.run(newId(), ...texts, Number(likes), Number(published), JSON.stringify(tags), now, now);
      }
    });
  });

/** Ids of at most `count` existing records in a pseudo-random order. */
export const pocketBaseIdsOf = ({ file }: PocketBase, collection: string, count: number): string[] =>
  inFile(file, (database) =>
    jumping(
      database
        .prepare(`SELECT id FROM ${collection} LIMIT ?`)
        .all(count)
        .map(({ id }) => String(id)),
    ),
  );

const fields = [
  { name: 'title', type: 'text', required: true },
  { name: 'author', type: 'text' },
  { name: 'body', type: 'text' },
  { name: 'likes', type: 'number' },
  { name: 'published', type: 'bool' },
  { name: 'tags', type: 'json' },
  { name: 'created', type: 'autodate', onCreate: true },
  { name: 'updated', type: 'autodate', onCreate: true, onUpdate: true },
];

interface AuthCollection {
  readonly fields: readonly { readonly name: string }[];
}

/**
 * Creates and fills collections with the index that the requests need. Turns off the request log, and sets the same
 * bcrypt cost.
 */
export const seedPocketBase = async (
  pocketBase: PocketBase,
  collections: Readonly<Record<string, number>>,
): Promise<void> => {
  const { call } = pocketBase;
  await call('PATCH', '/api/settings', { logs: { maxDays: 0 } });
  for (const [name, count] of Object.entries(collections)) {
    const indexes = [`CREATE INDEX ${name}_author ON ${name} (author)`];
    await call('POST', '/api/collections', { name, type: 'base', fields, indexes });
    fillPocketBase(pocketBase, name, count);
  }
  const users = await call<AuthCollection>('GET', '/api/collections/users', undefined);
  await call('PATCH', '/api/collections/users', {
    authAlert: { enabled: false },
    fields: users.fields.map((field) => (field.name === 'password' ? { ...field, cost: passwordCost } : field)),
  });
};

/** Adds users with this password hash. */
export const addPocketBaseUsers = ({ file }: PocketBase, emails: readonly string[], hash: string): void =>
  inFile(file, (database) => {
    const columns = 'id, email, password, tokenKey, verified, created, updated';
    const insert = database.prepare(`INSERT INTO users (${columns}) VALUES (?, ?, ?, ?, 1, ?, ?)`);
    inOneCommit(database, () => {
      for (const email of emails) {
        insert.run(newId(), email, hash, randomBytes(25).toString('hex'), stamp(), stamp());
      }
    });
  });
