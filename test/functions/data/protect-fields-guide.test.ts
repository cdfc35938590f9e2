import { beforeAll, describe, expect, test } from 'vitest';
import type { RequestOptions } from '../../support/clients/client.ts';
import { runGuide } from '../../support/fixtures/guide.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

/* The code blocks of docs/guides/protect-fields.md create the collections; each recipe must hold for the publishable key. */

interface Doc extends Readonly<Record<string, unknown>> {
  readonly _id: string;
}

let project: UsersProject;
let text: string;
let answers: readonly string[];
let [ann, bob, editor]: (RequestOptions & { readonly id: string })[] = [];

const api = <Body = Record<string, unknown>>(method: string, at: string, who?: RequestOptions, body?: unknown) =>
  project.api<Body>(method, `/api/data/${at}`, { ...who, ...(body === undefined ? {} : { body }) });

const isProtected = { status: 403, body: { code: 'FIELD_PROTECTED' } };

const setUser = async (id: string, body: object): Promise<void> => {
  const answer = await project.developer.dashboard('PATCH', `/api/projects/${project.id}/users/${id}`, body);
  expect(answer).toMatchObject({ status: 200 });
};

beforeAll(async () => {
  project = await newUsersProject();
  ({ text, answers } = await runGuide('guides/protect-fields.md', project));
  const people = await Promise.all(Array.from({ length: 3 }, () => project.newUser()));
  [ann, bob, editor] = people.map(({ userId, accessToken }) => ({
    id: userId,
    key: project.publishableKey,
    token: accessToken,
  }));
  await setUser(editor?.id ?? '', { role: 'editor', notes: 'for the server' });
});

describe('the guide to protected fields', () => {
  test('has only blocks that succeed, and at most 6 KB', () => {
    expect(answers).toHaveLength(4);
    expect(answers.filter((answer) => !answer.startsWith('{"success":true'))).toEqual([]);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(6 * 1024);
  });

  test('users: only the server sets role and plan, and only the user sees the phone number', async () => {
    const credentials = { email: 'guide@example.com', password: 'long enough 1' };
    expect(await project.signUp({ ...credentials, role: 'editor' })).toMatchObject(isProtected);
    const token = ann?.token ?? '';
    const change = (body: object) => project.auth('PUT', 'update-profile', { token, body });
    expect(await change({ plan: 'paid' })).toMatchObject(isProtected);
    expect(await change({ role: 'reader', plan: 'free', phone: '123' })).toMatchObject({
      status: 200,
      body: { user: { phone: '123' } },
    });
    const me = await project.auth('GET', 'me', { token: editor?.token ?? '' });
    expect(JSON.stringify(me.body)).not.toContain('for the server');
  });

  test('prices: users set and see only their own fields', async () => {
    expect(await api('POST', 'offers', ann, { title: 'a', price: 1 })).toMatchObject(isProtected);
    const { _id } = (await api<Doc>('POST', 'offers', ann, { title: 'a', terms: { note: 'n' } })).body;
    await api('PATCH', `offers/${_id}`, {}, { price: 9, cost: 5, 'terms.discount': 2 });
    expect(await api('PATCH', `offers/${_id}`, ann, { price: 9, terms: null })).toMatchObject({
      status: 200,
      body: { data: { price: 9, terms: { discount: 2 } } },
    });
    expect((await api<Doc>('GET', `offers/${_id}`, bob)).body).not.toHaveProperty('cost');
    for (const query of ['cost_gt=1', 'sort=cost', 'fields=cost']) {
      expect(await api('GET', `offers?${query}`, bob)).toMatchObject({ status: 400 });
    }
    expect(await api('GET', 'offers?price=9', bob)).toMatchObject({ status: 200, body: { data: { total: 1 } } });
  });

  test('values that are set once', async () => {
    const { _id } = (await api<Doc>('POST', 'agents', ann, { motto: 'm' })).body;
    expect(await api('PATCH', `agents/${_id}`, ann, { codeName: 'fox' })).toMatchObject({ status: 200 });
    expect(await api('PATCH', `agents/${_id}`, ann, { codeName: 'owl' })).toMatchObject(isProtected);
  });

  test('counters and states', async () => {
    const { _id } = (await api<Doc>('POST', 'tickets', ann, { text: 't' })).body;
    expect(await api('PATCH', `tickets/${_id}`, bob, { seen: 1 })).toMatchObject({ status: 200 });
    expect(await api('PATCH', `tickets/${_id}`, bob, { seen: 3 })).toMatchObject(isProtected);
    expect(await api('PATCH', `tickets/${_id}`, bob, { state: 'done' })).toMatchObject(isProtected);
    expect(await api('PATCH', `tickets/${_id}`, editor, { state: 'done', grade: 'A' })).toMatchObject({ status: 200 });
    expect((await api('GET', `tickets/${_id}`, editor)).body).toMatchObject({ state: 'done', grade: 'A' });
    expect((await api('GET', `tickets/${_id}`, ann)).body).not.toHaveProperty('grade');
  });
});
