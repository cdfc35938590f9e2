import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ObjectId } from 'mongodb';
import { basalt } from '../../client/src/index.ts';
import { markVerified } from '../../shared/accounts/email-proofs.ts';
import { createUser } from '../../shared/accounts/users/manage-users.ts';
import { userAccounts } from '../../shared/accounts/users/users.ts';
import type { CollectionInput } from '../../shared/collections/create-collection.ts';
import { findProjectByKey } from '../../shared/collections/find-project-by-key.ts';
import { updateCollection } from '../../shared/collections/update-collection.ts';
import { updateProject } from '../../shared/projects/change-project.ts';
import { findOwnedProject } from '../../shared/projects/find-project.ts';
import type { Project } from '../../shared/projects/project.ts';
import { buildClientScripts } from '../build/client.ts';
import { type ProjectKeys, seedProject } from './demo.ts';
import { listen, portAfter, preferPort } from './ports.ts';

const exampleFolder = path.resolve(import.meta.dirname, '../../examples/board');

const mia = { name: 'Mia Chen', email: 'mia@example.com', role: 'owner' };
const noah = { name: 'Noah Berg', email: 'noah@example.com', role: 'editor' };
const zoe = { name: 'Zoe Okafor', email: 'zoe@example.com', role: 'reader' };

/** The users of the example, with their roles in its first workspace. They all have this password. */
export const exampleUsers = { password: 'a shared board', users: [mia, noah, zoe] };

const columns = ['Ideas', 'To do', 'Doing', 'Done'];

/** Column, title, description and assignee of each card. */
const cards: readonly (readonly [string, string, (string | undefined)?, string?])[] = [
  ['Ideas', 'Live music on Fridays'],
  ['Ideas', 'A loyalty card without an app'],
  ['Ideas', 'Cooking class for children', 'Saturday mornings, at most eight children.'],
  ['To do', 'Order chairs for the terrace', 'Twelve chairs, foldable, weatherproof.', 'Noah Berg'],
  ['To do', 'Ask the neighbours about opening hours', undefined, 'Mia Chen'],
  ['To do', 'Photos for the website'],
  ['Doing', 'Write the summer menu', 'Two soups, four mains, three cakes. Prices are in the file.', 'Mia Chen'],
  ['Doing', 'Find a baker who delivers on Sundays', undefined, 'Noah Berg'],
  ['Done', 'Sign the lease', undefined, 'Mia Chen'],
  ['Done', 'Paint the walls', 'Sage green, two coats.', 'Noah Berg'],
];

/** The collections refer to each other in rules and effects, which are therefore added when all exist. */
const createProject = async (ownerId: string, siteUrl: string): Promise<ProjectKeys> => {
  const collections = Object.entries(
    JSON.parse(await readFile(path.join(exampleFolder, 'collections.json'), 'utf8')) as Record<string, CollectionInput>,
  );
  const bare = collections.map(([name, { rls: _, effects: _later, ...collection }]) => [name, collection] as const);
  const keys = await seedProject(ownerId, { name: 'Board', siteUrl }, Object.fromEntries(bare));
  const match = await findProjectByKey(keys.secretKey, '');
  if (!match) throw new Error('The project of the example cannot be found');
  for (const [name, { rls, effects }] of collections) {
    if (rls) await updateCollection(match.project, name, { rls, effects });
  }
  return keys;
};

const createUsers = (project: Project): Promise<string[]> =>
  Promise.all(
    exampleUsers.users.map(async ({ name, email }) => {
      const { _id } = await createUser(project, { name, email, password: exampleUsers.password });
      await markVerified(userAccounts(project), { _id: new ObjectId(_id) });
      return _id;
    }),
  );

/** Fills the board as its users would, with the publishable key. */
const fillBoard = async (api: string, { publishableKey, secretKey }: ProjectKeys, project: Project): Promise<void> => {
  const ids = await createUsers(project);
  const idOf = new Map(exampleUsers.users.map(({ name }, index) => [name, ids[index]]));
  const [mias, noahs] = [basalt(api, publishableKey), basalt(api, publishableKey)];
  const { password } = exampleUsers;
  await Promise.all([
    mias.auth.login({ email: mia.email, password }),
    noahs.auth.login({ email: noah.email, password }),
  ]);
  const { _id: workspace } = await mias.collection('workspaces').insert({ title: 'Garden café', columns });
  const others = [noah, zoe].map(({ name, role }) => ({ workspace, user: idOf.get(name), role }));
  await basalt(api, secretKey).collection('memberships').insertMany(others);
  const documents = cards.map(([column, title, text, assignee], position) => ({
    ...{ workspace, column, position, title },
    ...(text !== undefined && { text }),
    ...(assignee !== undefined && { assignee: idOf.get(assignee) }),
  }));
  const { ids: cardIds } = await mias.collection('cards').insertMany(documents);
  const card = cardIds[cards.findIndex(([, title]) => title === 'Write the summer menu')] ?? '';
  const menu = new File(['Carrot soup 6.50\nLeek quiche 9.80\nPlum cake 4.20\n'], 'menu.txt', { type: 'text/plain' });
  await mias.files.upload(menu, { of: { collection: 'cards', id: card } });
  await noahs.collection('comments').insert({ card, text: 'Can we keep the plum cake? Everyone asks for it.' });
  await mias.collection('comments').insert({ card, text: 'Of course. It stays all year.' });
};

/** Whether the keys are those of this example; an earlier version had other collections. */
const isBoard = async ({ secretKey }: ProjectKeys): Promise<boolean> =>
  Boolean((await findProjectByKey(secretKey, 'cards'))?.collection?.partition);

/** Returns the example's project of an earlier start, or creates it. Links in its emails lead to the example. */
const provideExample = async (
  api: string,
  siteUrl: string,
  demo: ProjectKeys,
  earlier: ProjectKeys | undefined,
): Promise<ProjectKeys> => {
  const owner = await findProjectByKey(demo.secretKey, '');
  if (!owner) throw new Error('The demo project cannot be found');
  const { ownerId } = owner.project;
  const known = earlier && (await isBoard(earlier)) ? earlier : undefined;
  const keys = known ?? (await createProject(ownerId, siteUrl));
  const owned = await findOwnedProject(ownerId, keys.projectId);
  if (owned) {
    const directory = { read: { $user: {} }, fields: ['name'] };
    await updateProject(owned, { siteUrl, uploads: { users: true }, directory });
    if (!known) await fillBoard(api, keys, owned.project);
  }
  return keys;
};

/** The preferred port, counted from the public API's. Users stay signed in after a restart if the port is the same. */
const portOffset = 10;

interface ExampleFile {
  readonly path: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** Links in emails lead here. */
const accountPages: ReadonlySet<string> = new Set(['/verify-email', '/invitations/accept']);

const serveFiles = (files: readonly ExampleFile[]): RequestListener => {
  const byPath = new Map(files.map((file) => [file.path, file]));
  return ({ method, url = '/' }, response) => {
    const asked = url.split(/[?#]/)[0] ?? '';
    const file = byPath.get(accountPages.has(asked) ? '/' : asked);
    if (!file || method !== 'GET') {
      response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('Not found');
      return;
    }
    const headers = { 'content-type': file.type, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' };
    response.writeHead(200, headers).end(file.bytes);
  };
};

/** Builds the files of the client package. */
const clientFiles = async (): Promise<readonly ExampleFile[]> => {
  const built = await mkdtemp(path.join(tmpdir(), 'basalt-example-'));
  try {
    await buildClientScripts(built);
    const names = await readdir(built);
    return await Promise.all(
      names.map(async (name) => ({
        path: `/client/${name}`,
        type: 'text/javascript',
        bytes: await readFile(path.join(built, name)),
      })),
    );
  } finally {
    await rm(built, { recursive: true, force: true });
  }
};

const ownFile = async (at: string, name: string, type: string): Promise<ExampleFile> => ({
  path: at,
  type,
  bytes: await readFile(path.join(exampleFolder, name)),
});

/** Serves the app in `examples/board`, with a project of its own. */
export const startExample = async (
  port: number,
  api: string,
  demo: ProjectKeys,
  earlier: ProjectKeys | undefined,
): Promise<{ readonly keys: ProjectKeys; readonly url: string }> => {
  const at = await preferPort(portAfter(port, portOffset));
  const url = `http://localhost:${at}`;
  const keys = await provideExample(api, url, demo, earlier);
  const project = { url: api, key: keys.publishableKey };
  const script = Object.entries(project).map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`);
  const files: readonly ExampleFile[] = [
    ...(await Promise.all([
      ownFile('/', 'index.html', 'text/html; charset=utf-8'),
      ownFile('/style.css', 'style.css', 'text/css'),
      ownFile('/board.js', 'board.js', 'text/javascript'),
    ])),
    { path: '/project.js', type: 'text/javascript', bytes: Buffer.from(script.join('')) },
    ...(await clientFiles()),
  ];
  await listen(createServer(serveFiles(files)), at);
  return { keys, url };
};
