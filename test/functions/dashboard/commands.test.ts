import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { handler as aggregateProjectDocuments } from '../../../functions/dashboard/documents/aggregate-project-documents.ts';
import { handler as createProjectDocument } from '../../../functions/dashboard/documents/create-project-document.ts';
import { handler as listProjectDocuments } from '../../../functions/dashboard/documents/list-project-documents.ts';
import { handler as listProjectMailLogs } from '../../../functions/dashboard/mail/list-project-mail-logs.ts';
import { handler as getProject } from '../../../functions/dashboard/projects/get-project.ts';
import { handler as listProjects } from '../../../functions/dashboard/projects/list-projects.ts';
import { handler as getRequestStats } from '../../../functions/dashboard/usage/get-request-stats.ts';
import { handler as listUsers } from '../../../functions/dashboard/users/list-users.ts';
import { setPlan } from '../../../shared/accounts/developers/developers.ts';
import { clock } from '../../../shared/core/clock.ts';
import { type InvokeOptions, invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { type Developer, newDeveloper, newProject } from '../../support/fixtures/project.ts';

listenToCommands();
process.env.RATE_LIMIT = '1000000';
process.env.RATE_BLOCK = '1';

const count = 'dynamodb UpdateItemCommand';
const find = 'mongodb find';
const frozen = Date.now();
let developer: Developer;
let params: Readonly<Record<string, string>>;

type Handler = Parameters<typeof invoke>[0];

const send =
  (handler: Handler, options: InvokeOptions = {}) =>
  () =>
    invoke(handler, { token: developer.token, params, ...options });

/** Returns the commands of a request that follows an equal one. */
const warm = async (request: () => Promise<unknown>): Promise<readonly string[]> => {
  await request();
  return commandsOf(request);
};

beforeAll(async () => {
  const project = await newProject([{ name: 'notes' }, { name: 'users', schema: accounts }]);
  developer = project.developer;
  params = { projectId: project.id, collectionName: 'notes' };
  const body = Array.from({ length: 3 }, (_, n) => ({ n }));
  await project.api('POST', '/api/data/notes/bulk', { body });
  // A stopped clock keeps cached lookups warm.
  clock.now = () => frozen;
});

afterEach(() => {
  clock.now = () => frozen;
});

const accounts = ['email', 'password'].map((key) => ({ key, type: 'String', required: true }));

describe('a developer’s warm request needs, apart from its counter,', () => {
  test.each<[string, Handler, InvokeOptions, readonly string[]]>([
    ['list projects: the account and one page', listProjects, {}, [find, find]],
    [
      'list projects, a full page: its total too',
      listProjects,
      { query: 'limit=1' },
      ['mongodb aggregate', find, find],
    ],
    ['get a project: one look-up by its id', getProject, {}, [find]],
    ['list 20 in the data browser: the project and one page', listProjectDocuments, {}, [find, find]],
    [
      'aggregate: the project and one aggregation',
      aggregateProjectDocuments,
      { body: { pipeline: [{ $count: 'n' }] } },
      ['mongodb aggregate', find],
    ],
    ['list users: the project and one page', listUsers, {}, [find, find]],
    ['find users by address: the project and one page', listUsers, { query: 'email=a' }, [find, find]],
    ['mail logs: the project and one page', listProjectMailLogs, {}, [find, find]],
    ['statistics: the project and one read', getRequestStats, {}, [expect.stringContaining('dynamodb '), find]],
  ])('%s', async (_name, handler, options, expected) => {
    expect((await send(handler, options)()).status).toBe(200);
    expect(await warm(send(handler, options))).toEqual([count, ...expected].sort());
  });

  test('a change reads the current project, owner and collection', async () => {
    const looked = (await warm(send(createProjectDocument, { body: { n: 4 } }))).filter((name) => name === find);
    expect(looked).toHaveLength(3);
  });
});

describe('the cached plan of a project’s owner', () => {
  test('lets a read use the old plan for 5 s at most', async () => {
    const owner = await newDeveloper('pro');
    const { id } = await newProject([], owner);
    const planOf = async () => (await invoke(getProject, { token: owner.token, params: { projectId: id } })).body.data;
    expect(await planOf()).toMatchObject({ plan: 'pro' });
    await setPlan(owner.email, 'free');
    clock.now = () => frozen + 5001;
    expect(await planOf()).toMatchObject({ plan: 'free' });
  });
});

test('200: the total of a list includes other pages, also when its page is empty', async () => {
  const owner = await newDeveloper('pro');
  for (let made = 0; made < 3; made++) await newProject([], owner);
  const totalOf = async (query: string) => {
    const { body } = await invoke(listProjects, { token: owner.token, query });
    const { items, total } = body.data as { readonly items: readonly unknown[]; readonly total: number };
    return [items.length, total];
  };
  expect(await totalOf('limit=2')).toEqual([2, 3]);
  expect(await totalOf('limit=2&page=2')).toEqual([1, 3]);
  expect(await totalOf('limit=3')).toEqual([3, 3]);
  expect(await totalOf('limit=2&page=9')).toEqual([0, 3]);
  const nobody = await newDeveloper('pro');
  const { body } = await invoke(listProjects, { token: nobody.token });
  expect(body.data).toMatchObject({ items: [], total: 0 });
});
