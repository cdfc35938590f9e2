import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { handler as listDocuments } from '../../../functions/data/list-documents.ts';
import { handler as createTicket } from '../../../functions/realtime/create-ticket.ts';
import { handler as listDirectory } from '../../../functions/user-auth/list-directory.ts';
import { clock } from '../../../shared/core/clock.ts';
import { type InvokeOptions, invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { addMany } from '../../support/fixtures/many-documents.ts';
import type { CollectionInput } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';
import { newUsersProject } from '../../support/fixtures/users.ts';

listenToCommands();
Object.assign(process.env, { RATE_LIMIT: '0' });

const members = 10_000;
const maxCommands = 12;

const file = path.resolve(import.meta.dirname, '../../../examples/board/collections.json');
const { users, ...others } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Omit<CollectionInput, 'name'>>;

/** The database commands of each request when the example board is opened, as its page sends them. */
test(`the requests that open the board of ${members} members send at most ${maxCommands} database commands`, async () => {
  const settings = { directory: { read: { $user: {} }, fields: ['name'] } };
  const project = await newUsersProject({ collection: { ...users, name: 'users' }, settings });
  for (const [name, { rls: _, effects: _later, ...collection }] of Object.entries(others)) {
    await project.addCollection({ ...collection, name });
  }
  for (const [name, { rls, effects }] of Object.entries(others)) {
    const at = `/api/projects/${project.id}/collections/${name}`;
    const edited = await project.developer.dashboard('PUT', at, { rls, ...(effects !== undefined && { effects }) });
    expect(edited).toMatchObject({ status: 200 });
  }
  const [mia, noah] = [await project.newUser({ name: 'Mia' }), await project.newUser({ name: 'Noah' })];
  const as = { key: project.publishableKey, token: mia.accessToken };
  const add = async (name: string, body: object, options = {}): Promise<string> => {
    const answer = await project.api<{ _id: string }>('POST', `/api/data/${name}`, { ...options, body });
    expect(answer).toMatchObject({ status: 201 });
    return answer.body._id;
  };
  const workspace = await add('workspaces', { title: 'Large', columns: ['To do'] }, as);
  for (const title of ['One', 'Two']) {
    await add('cards', { workspace, title, column: 'To do', position: 1, assignee: noah.userId }, as);
  }
  const domain = await domainProject(project);
  await addMany(domain, 'memberships', members, () => ({
    workspace: new ObjectId(workspace),
    user: new ObjectId(),
    role: 'reader',
  }));

  const list = (collection: string, query: Readonly<Record<string, string>>) =>
    [listDocuments, { params: { collectionName: collection }, query: String(new URLSearchParams(query)) }] as const;
  const ticket = (body: object) => [createTicket, { method: 'POST', body }] as const;
  const where = (condition: object) => ({ where: JSON.stringify(condition) });
  const opening: readonly (readonly [typeof listDocuments, InvokeOptions, number])[] = [
    [
      ...list('memberships', { ...where({ user: mia.userId }), populate: 'workspace', sort: '_id', limit: '1000' }),
      200,
    ],
    [...ticket({ collections: ['cards'] }), 400],
    [...ticket({ rooms: [{ of: { collection: 'workspaces', id: workspace } }] }), 201],
    [...ticket({ collections: [{ collection: 'cards', partition: workspace }] }), 201],
    [
      ...list('cards', {
        ...where({ workspace }),
        ...{ sort: 'position', limit: '1000', populate: 'assignee', meta: 'rev' },
      }),
      200,
    ],
    [listDirectory, { query: `ids=${noah.userId}` }, 200],
  ];
  const frozen = Date.now();
  const before = clock.now;
  // A stopped clock keeps projects and collections cached, as in a warm function.
  clock.now = () => frozen;
  try {
    const open = async (): Promise<Record<string, string[]>> => {
      const sent: Record<string, string[]> = {};
      for (const [index, [handler, options, status]] of opening.entries()) {
        const run = async () => expect(await invoke(handler, { ...as, ...options })).toMatchObject({ status });
        sent[index] = await commandsOf(run);
      }
      return sent;
    };
    await open();
    const sent = await open();
    const all = Object.values(sent).flat();
    expect(all.length, JSON.stringify(sent)).toBeGreaterThan(opening.length - 2);
    expect(all.length, JSON.stringify(sent)).toBeLessThanOrEqual(maxCommands);
  } finally {
    clock.now = before;
  }
});
