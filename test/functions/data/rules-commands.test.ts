import { beforeAll, describe, expect, test } from 'vitest';
import { handler as aggregateDocuments } from '../../../functions/data/aggregate-documents.ts';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { handler as createDocuments } from '../../../functions/data/create-documents.ts';
import { handler as deleteDocument } from '../../../functions/data/delete-document.ts';
import { handler as getDocument } from '../../../functions/data/get-document.ts';
import { handler as listDocuments } from '../../../functions/data/list-documents.ts';
import { handler as restoreDocument } from '../../../functions/data/restore-document.ts';
import { handler as updateDocument } from '../../../functions/data/update-document.ts';
import { clock } from '../../../shared/core/clock.ts';
import { type InvokeOptions, invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { newUsersProject } from '../../support/fixtures/users.ts';

listenToCommands();
process.env.RATE_LIMIT = '1000000';
process.env.RATE_BLOCK = '1';

const count = 'dynamodb UpdateItemCommand';
const me = { $user: '_id' };
const own = { userId: me };
const all = (rule: object) => ({ read: rule, create: rule, update: rule, delete: rule });
const rules = (given: object) => ({ enabled: true, mode: 'rules', ownerField: 'userId', rules: given });

const collections = [
  { name: 'memberships' },
  { name: 'mine', rls: { enabled: true, mode: 'private' } },
  { name: 'ruled', rls: rules(all(own)) },
  { name: 'anyone', rls: rules(all({ $user: {} })) },
  { name: 'teamed', rls: rules(all({ team: { $in: { $from: 'memberships', select: 'team', where: { user: me } } } })) },
  { name: 'verified', rls: rules(all({ $user: { isAnonymous: false } })) },
];

const ids = new Map<string, string[]>();
let caller: Pick<InvokeOptions, 'key' | 'token'>;

const run =
  (handler: Parameters<typeof invoke>[0], collectionName: string, options: InvokeOptions = {}) =>
  async () => {
    const answer = await invoke(handler, { ...caller, ...options, params: { collectionName, ...options.params } });
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  };

const onNext = (handler: Parameters<typeof invoke>[0], name: string, options: InvokeOptions = {}) =>
  run(handler, name, { ...options, params: { id: ids.get(name)?.pop() ?? '' } });

beforeAll(async () => {
  const project = await newUsersProject();
  for (const collection of collections) await project.addCollection({ schema: null, ...collection });
  const { userId, accessToken } = await project.newUser();
  caller = { key: project.publishableKey, token: accessToken };
  await project.api('POST', '/api/data/memberships', { body: { user: userId, team: 'red' } });
  for (const { name } of collections) {
    const made = await project.api<{ data: { ids: string[] } }>('POST', `/api/data/${name}/bulk`, {
      body: Array.from({ length: 30 }, (_, n) => ({ n, userId, team: 'red' })),
    });
    ids.set(name, made.body.data.ids);
  }
  // A stopped clock keeps the project record cached during the tests.
  const now = Date.now();
  clock.now = () => now;
  for (const { name } of collections.slice(1)) {
    for (const query of ['', 'limit=1']) await run(listDocuments, name, { query })();
    await run(createDocument, name, { body: { team: 'red' } })();
  }
});

const routes: readonly (readonly [string, (name: string) => () => Promise<void>])[] = [
  ['get', (name) => onNext(getDocument, name)],
  ['list', (name) => run(listDocuments, name)],
  ['list with a full page', (name) => run(listDocuments, name, { query: 'limit=5' })],
  ['list with a filter', (name) => run(listDocuments, name, { query: 'limit=5&n_gte=3&sort=-n' })],
  ['count', (name) => run(listDocuments, name, { query: 'count=true' })],
  ['aggregate', (name) => run(aggregateDocuments, name, { body: { pipeline: [{ $count: 'n' }] } })],
  ['update', (name) => onNext(updateDocument, name, { body: { n: 2 } })],
  ['delete', (name) => onNext(deleteDocument, name)],
  ['permanent delete', (name) => onNext(deleteDocument, name, { query: 'permanent=true' })],
  ['create', (name) => run(createDocument, name, { body: { n: 1, team: 'red' } })],
  [
    'bulk',
    (name) =>
      run(createDocuments, name, {
        body: [
          { n: 1, team: 'red' },
          { n: 2, team: 'red' },
        ],
      }),
  ],
  [
    'recover',
    (name) => {
      const id = ids.get(name)?.at(-1) ?? '';
      return run(restoreDocument, name, { params: { id } });
    },
  ],
];

/** Moves the document that will be recovered to the trash. */
const prepare = async (title: string, name: string): Promise<void> => {
  if (title !== 'recover') return;
  const id = ids.get(name)?.at(-1) ?? '';
  await run(deleteDocument, name, { params: { id } })();
};

const costOf = async (title: string, act: (name: string) => () => Promise<void>, name: string) => {
  await prepare(title, name);
  return commandsOf(act(name));
};

describe('a warm request', () => {
  test.each(routes)(
    '%s needs the same commands under rules on the user’s id as in a private collection',
    async (title, act) => {
      const known = await costOf(title, act, 'mine');
      expect(known[0]).toBe(count);
      const ruled = await costOf(title, act, 'ruled');
      // Behind the barrier, the caller’s conditions and order are stages of an aggregation.
      if (title === 'list with a filter') expect(ruled).toHaveLength(known.length);
      else expect(ruled).toEqual(known);
      // The total of all documents takes two counts.
      if (!title.startsWith('list with')) expect(await costOf(title, act, 'anyone')).toEqual(known);
    },
  );

  test.each([
    ['teamed', '$from'],
    ['verified', 'another field of the user'],
  ])('needs one extra find to list and to get under %s: %s', async (name) => {
    for (const [title, act] of routes.slice(0, 2)) {
      const known = await costOf(title, act, 'mine');
      expect(await costOf(title, act, name)).toEqual([...known, 'mongodb find'].sort());
    }
  });
});
