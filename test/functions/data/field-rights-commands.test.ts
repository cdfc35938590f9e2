import { beforeAll, expect, test } from 'vitest';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { handler as getDocument } from '../../../functions/data/get-document.ts';
import { handler as listDocuments } from '../../../functions/data/list-documents.ts';
import { handler as updateDocument } from '../../../functions/data/update-document.ts';
import { clock } from '../../../shared/core/clock.ts';
import { type InvokeOptions, invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { newUsersProject } from '../../support/fixtures/users.ts';

listenToCommands();
process.env.RATE_LIMIT = '1000000';
process.env.RATE_BLOCK = '1';

const text = (key: string, more: object = {}) => ({ key, type: 'String', ...more });
const rls = { enabled: true, mode: 'public-read' };
const collections = [
  { name: 'plain', schema: [text('a'), text('b'), text('c')], rls },
  { name: 'words', schema: [text('a'), text('b', { write: 'server' }), text('c', { read: 'server' })], rls },
  { name: 'ruled', schema: [text('a'), text('b'), text('c', { read: { $user: { isAnonymous: false } } })], rls },
];

const ids = new Map<string, string>();
let caller: Pick<InvokeOptions, 'key' | 'token'>;

const costOf = (handler: Parameters<typeof invoke>[0], collectionName: string, options: InvokeOptions = {}) =>
  commandsOf(async () => {
    const params = { collectionName, id: ids.get(collectionName) ?? '' };
    const answer = await invoke(handler, { ...caller, ...options, params });
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  });

beforeAll(async () => {
  const project = await newUsersProject();
  for (const collection of collections) await project.addCollection(collection);
  const { userId, accessToken } = await project.newUser();
  caller = { key: project.publishableKey, token: accessToken };
  for (const { name } of collections) {
    const made = await project.api<{ _id: string }>('POST', `/api/data/${name}`, { body: { a: 'x', b: 'y', userId } });
    ids.set(name, made.body._id);
  }
  const now = Date.now();
  clock.now = () => now;
  for (const { name } of collections) {
    await costOf(listDocuments, name, { query: 'limit=1' });
    await costOf(listDocuments, name);
    await costOf(createDocument, name, { body: { a: 'x' } });
  }
});

const cases = [
  ['get', getDocument, {}],
  ['list', listDocuments, { query: 'limit=5&a=x' }],
  ['insert', createDocument, { body: { a: 'x' } }],
  ['update', updateDocument, { body: { a: 'z' } }],
] as const;

test.each(cases)(
  '%s needs no extra command when named roles define who reads and writes fields',
  async (_title, handler, options) => {
    expect(await costOf(handler, 'words', options)).toEqual(await costOf(handler, 'plain', options));
  },
);

test('an update of a field with rights needs one extra find', async () => {
  const known = await costOf(updateDocument, 'plain', { body: { a: 'z' } });
  expect(await costOf(updateDocument, 'words', { body: { a: 'z', b: 'y' } })).toEqual(
    [...known, 'mongodb find'].sort(),
  );
});

test.each(cases)(
  '%s needs one extra find for the caller’s record when a rule uses it',
  async (_title, handler, options) => {
    const known = await costOf(handler, 'plain', options);
    expect(await costOf(handler, 'ruled', options)).toEqual([...known, 'mongodb find'].sort());
  },
);
