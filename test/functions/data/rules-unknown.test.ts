import { beforeAll, expect, test } from 'vitest';
import type { RequestOptions } from '../../support/clients/client.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

/*
 * A condition about other documents that is unknown for some of them. What is unknown is not false, so $not and $nin
 * of it allow nothing, in lists as for one document.
 */

const isEditor = { $user: { role: 'editor' } };
const blocked = (where: object) => ({ $from: 'posts', select: 'state', where });

/** Rules for documents of the states `open`, `blocked` and `none`, each with a post of the same state or none. */
const cases: Readonly<Record<string, readonly [rule: object, visible: readonly string[]]>> = {
  'a caller in $ref': [{ $not: { $ref: { post: { $or: [isEditor, { state: 'blocked' }] } } } }, ['none']],
  'a field of the caller in $ref': [
    { $not: { $ref: { post: { $or: [{ state: { $user: 'role' } }, { state: 'blocked' }] } } } },
    ['none'],
  ],
  'a caller in $from': [{ $not: { state: { $in: blocked({ $or: [isEditor, { state: 'blocked' }] }) } } }, []],
  'a field of the caller in $from': [
    { state: { $nin: blocked({ $or: [{ state: { $user: 'role' } }, { state: 'blocked' }] }) } },
    [],
  ],
  'a caller in $from that also allows': [
    { state: { $in: blocked({ $or: [isEditor, { state: 'blocked' }] }) } },
    ['blocked'],
  ],
  'a caller in $from for every element': [
    { states: { $every: { $in: blocked({ $or: [isEditor, { state: 'blocked' }] }) } } },
    ['blocked'],
  ],
  'a caller in $from for not every element': [
    { $not: { states: { $every: { $nin: blocked({ $or: [isEditor, { state: 'blocked' }] }), $ne: 'open' } } } },
    ['blocked', 'none', 'open'],
  ],
};

let project: UsersProject;
const callers = new Map<string, RequestOptions>();

const insert = async (collection: string, body: object): Promise<string> => {
  const made = await project.api<{ _id: string }>('POST', `/api/data/${collection}`, { body });
  expect(made).toMatchObject({ status: 201 });
  return made.body._id;
};

beforeAll(async () => {
  project = await newUsersProject({
    collection: {
      name: 'users',
      schema: [
        { key: 'email', type: 'String', required: true, unique: true },
        { key: 'password', type: 'String', required: true },
        { key: 'role', type: 'String', write: 'server' },
      ],
    },
  });
  const text = (key: string) => ({ key, type: 'String' });
  await project.addCollection({ name: 'posts', schema: [text('state')] });
  const { accessToken } = await project.newUser();
  callers.set('no user', { key: project.publishableKey });
  callers.set('a user without the field', { key: project.publishableKey, token: accessToken });
});

test.each(Object.entries(cases))('lists and gets show the same documents for %s', async (title, [read, visible]) => {
  const name = `c${Object.keys(cases).indexOf(title)}`;
  await project.addCollection({
    name,
    schema: [
      { key: 'state', type: 'String' },
      { key: 'states', type: 'Array', items: { type: 'String' } },
      { key: 'post', type: 'Ref', ref: 'posts' },
    ],
    rls: { enabled: true, mode: 'rules', rules: { read } },
  });
  const ids = new Map<string, string>();
  for (const state of ['open', 'blocked'])
    ids.set(await insert(name, { state, states: [state], post: await insert('posts', { state }) }), state);
  ids.set(await insert(name, {}), 'none');
  for (const [who, options] of callers) {
    const listed = await project.api<{ data: { items: { _id: string }[] } }>('GET', `/api/data/${name}`, options);
    const shown = listed.body.data.items.map(({ _id }) => ids.get(_id)).sort();
    const got: (string | undefined)[] = [];
    for (const [id, state] of ids) {
      if ((await project.api('GET', `/api/data/${name}/${id}`, options)).status === 200) got.push(state);
    }
    expect([who, shown, got.sort()]).toEqual([who, visible, visible]);
  }
});
