import { beforeAll, expect, test } from 'vitest';
import type { RequestOptions } from '../../support/clients/client.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

/* Another user fills a list that a rule reads beyond its limit of 10,000 values. */

const mine = { $from: 'grants', select: 'team', where: { user: { $user: '_id' } } };
const rls = (rules: object) => ({ enabled: true, mode: 'rules', rules });

let project: UsersProject;
let victim: RequestOptions;
let userId: string;

const insert = async (collection: string, body: unknown): Promise<string> => {
  const made = await project.api<{ _id: string }>('POST', `/api/data/${collection}`, { body });
  expect(made.status).toBe(201);
  return made.body._id;
};

const list = (collection: string) =>
  project.api<{ data: { items: { team: string }[] } }>('GET', `/api/data/${collection}`, victim);

beforeAll(async () => {
  project = await newUsersProject();
  await project.addCollection({ name: 'grants', rls: rls({ create: true }) });
  await project.addCollection({ name: 'cards', rls: rls({ read: { team: { $in: mine } } }) });
  await project.addCollection({ name: 'others', rls: rls({ read: { team: { $nin: mine } } }) });
  const user = await project.newUser();
  userId = user.userId;
  victim = { key: project.publishableKey, token: user.accessToken };
  await insert('grants', { user: userId, team: 'home' });
  for (let page = 0; page < 100; page += 1) {
    const body = Array.from({ length: 100 }, (_, at) => ({ user: userId, team: `spam-${page}-${at}` }));
    expect(await project.api('POST', '/api/data/grants/bulk', { body })).toMatchObject({ status: 201 });
  }
});

test('10,001 memberships block no user: a list uses the oldest ones, and reading one document has no limit', async () => {
  await insert('cards', { team: 'home' });
  await insert('grants', { user: userId, team: 'late' });
  const late = await insert('cards', { team: 'late' });
  await insert('cards', { team: 'of others' });
  expect((await list('cards')).body.data.items.map(({ team }) => team)).toEqual(['home']);
  expect(await project.api('GET', `/api/data/cards/${late}`, victim)).toMatchObject({ status: 200 });
});

test('403 RULE_LIMIT when a list must exclude more than 10,000 values, which would otherwise show hidden documents', async () => {
  expect(await list('others')).toMatchObject({ status: 403, body: { code: 'RULE_LIMIT' } });
});
