import { beforeAll, describe, expect, test } from 'vitest';
import type { Answer, RequestOptions } from '../../support/clients/client.ts';
import { runGuide } from '../../support/fixtures/guide.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

/* The code blocks of the two guides create the collections; each recipe must hold for the publishable key. */

interface Who extends RequestOptions {
  readonly id: string;
}
interface Doc {
  readonly _id: string;
}

let project: UsersProject;
let answers: readonly string[];
let [ann, bob, eve]: Who[] = [];
const stranger = (): RequestOptions => ({ key: project.publishableKey });

const api = <Body = Record<string, unknown>>(method: string, at: string, who?: RequestOptions, body?: unknown) =>
  project.api<Body>(method, `/api/data/${at}`, { ...who, ...(body === undefined ? {} : { body }) });

const insert = async (collection: string, body: unknown, who?: RequestOptions): Promise<string> => {
  const made = await api<Doc>('POST', collection, who, body);
  expect(made).toMatchObject({ status: 201 });
  return made.body._id;
};

const listed = async (collection: string, who?: RequestOptions): Promise<readonly string[]> => {
  const { status, body } = await api<{ data: { items: Doc[] } }>('GET', collection, who);
  expect(status).toBe(200);
  return body.data.items.map(({ _id }) => _id);
};

const statusOf = async (answer: Promise<Answer<unknown>>): Promise<number> => (await answer).status;

beforeAll(async () => {
  project = await newUsersProject();
  const sharing = await runGuide('guides/sharing-data.md', project);
  const further = await runGuide('guides/roles-likes-and-votes.md', project);
  answers = [...sharing.answers, ...further.answers];
  const people = await Promise.all(Array.from({ length: 3 }, () => project.newUser()));
  [ann, bob, eve] = people.map(({ userId, accessToken }) => ({
    id: userId,
    key: project.publishableKey,
    token: accessToken,
  }));
});

describe('the guides to sharing data', () => {
  test('have only blocks that succeed', () => {
    expect(answers.length).toBeGreaterThanOrEqual(12);
    expect(answers.filter((answer) => !answer.startsWith('{"success":true'))).toEqual([]);
  });

  test('a board: every signed-in user reads, and authors write', async () => {
    const note = await insert('board', { text: 'hello' }, ann);
    expect(await listed('board', bob)).toEqual([note]);
    expect(await statusOf(api('GET', 'board', stranger()))).toBe(401);
    expect(await statusOf(api('PATCH', `board/${note}`, bob, { text: 'x' }))).toBe(403);
  });

  test('named readers read, and only the owner changes', async () => {
    const paper = await insert('papers', { text: 'a', readers: [bob?.id] }, ann);
    expect(await listed('papers', bob)).toEqual([paper]);
    expect(await listed('papers', eve)).toEqual([]);
    expect(await statusOf(api('PATCH', `papers/${paper}`, bob, { readers: [bob?.id, eve?.id] }))).toBe(403);
    expect(await statusOf(api('PATCH', `papers/${paper}`, ann, { readers: [] }))).toBe(200);
    expect(await statusOf(api('GET', `papers/${paper}`, bob))).toBe(404);
  });

  test('teams: members join through the owner or with a code, and have roles', async () => {
    const team = await insert('teams', { title: 'red' }, ann);
    const join = (who: Who | undefined, more: object) => api<Doc>('POST', 'memberships', who, { team, ...more });
    expect(await join(ann, { user: ann?.id, role: 'admin' })).toMatchObject({ status: 201 });
    expect(await join(bob, { user: bob?.id, role: 'member' })).toMatchObject({ status: 403 });
    const hour = 3_600_000;
    const until = (ms: number): string => new Date(Date.now() + ms).toISOString();
    await insert('codes', { team, code: 'open-sesame', until: until(hour) }, ann);
    await insert('codes', { team, code: 'too-late', until: until(-hour) }, ann);
    expect(await listed('codes', bob)).toEqual([]);
    expect(await statusOf(api('POST', 'codes', bob, { team, code: 'mine', until: until(hour) }))).toBe(403);
    expect(await join(bob, { user: bob?.id, role: 'member', code: 'too-late' })).toMatchObject({ status: 403 });
    expect(await join(bob, { user: bob?.id, role: 'admin', code: 'open-sesame' })).toMatchObject({ status: 403 });
    expect(await join(bob, { user: eve?.id, role: 'member', code: 'open-sesame' })).toMatchObject({ status: 403 });
    const other = await insert('teams', { title: 'blue' }, eve);
    const body = { team: other, user: bob?.id, role: 'member', code: 'open-sesame' };
    expect(await statusOf(api('POST', 'memberships', bob, body))).toBe(403);
    const joined = await join(bob, { user: bob?.id, role: 'member', code: 'open-sesame' });
    expect(joined).toMatchObject({ status: 201 });
    const card = await insert('cards', { title: 'to do', team }, ann);
    expect(await listed('cards', bob)).toEqual([card]);
    expect(await listed('cards', eve)).toEqual([]);
    expect(await statusOf(api('PATCH', `cards/${card}`, bob, { title: 'done' }))).toBe(200);
    expect(await statusOf(api('PATCH', `cards/${card}`, bob, { team: other }))).toBe(403);
    expect(await statusOf(api('DELETE', `cards/${card}`, bob))).toBe(403);
    expect(await statusOf(api('DELETE', `memberships/${joined.body._id}`, eve))).toBe(404);
    expect(await statusOf(api('DELETE', `memberships/${joined.body._id}`, ann))).toBe(200);
    expect(await listed('cards', bob)).toEqual([]);
    expect(await statusOf(api('PATCH', `memberships/${joined.body._id}/recover`, bob))).toBe(403);
    expect(await statusOf(api('DELETE', `cards/${card}`, ann))).toBe(200);
  });

  test('editors publish submissions of authors, visible from a set time', async () => {
    const editor = await project.newUser();
    const role = await project.developer.dashboard('PATCH', `/api/projects/${project.id}/users/${editor.userId}`, {
      role: 'editor',
    });
    expect(role.status).toBe(200);
    const asEditor = { key: project.publishableKey, token: editor.accessToken };
    expect(await statusOf(api('POST', 'stories', ann, { title: 'a', status: 'published' }))).toBe(403);
    const story = await insert('stories', { title: 'a' }, ann);
    const change = (who: RequestOptions | undefined, body: object) =>
      statusOf(api('PATCH', `stories/${story}`, who, body));
    expect(await statusOf(api('GET', `stories/${story}`, bob))).toBe(404);
    expect(await change(ann, { status: 'published' })).toBe(403);
    expect(await change(ann, { status: 'review' })).toBe(200);
    expect(await listed('stories', asEditor)).toEqual([story]);
    expect(await change(asEditor, { status: 'published', publishAt: '2100-01-01' })).toBe(200);
    expect(await listed('stories', stranger())).toEqual([]);
    expect(await change(asEditor, { publishAt: '2020-01-01' })).toBe(200);
    expect(await listed('stories', stranger())).toEqual([story]);
    expect(await change(ann, { title: 'other' })).toBe(403);
    expect(await change(ann, { title: 'other', status: 'review' })).toBe(200);
    expect(await listed('stories', stranger())).toEqual([]);
    const update = { token: ann?.token ?? '', body: { role: 'editor' } };
    expect(await statusOf(project.auth('PUT', 'update-profile', update))).toBe(403);
  });

  test('likes and attendance change by one', async () => {
    expect(await statusOf(api('POST', 'gatherings', ann, { title: 'party', likes: 9 }))).toBe(403);
    const gathering = await insert('gatherings', { title: 'party' }, ann);
    const change = (who: RequestOptions | undefined, body: object) =>
      statusOf(api('PATCH', `gatherings/${gathering}`, who, body));
    expect(await change(bob, { likes: 1 })).toBe(200);
    expect(await change(bob, { likes: 3 })).toBe(403);
    expect(await change(bob, { guests: [eve?.id] })).toBe(403);
    expect(await change(bob, { guests: [bob?.id], title: 'mine' })).toBe(403);
    expect(await change(bob, { guests: [bob?.id] })).toBe(200);
    expect(await change(eve, { guests: [eve?.id] })).toBe(403);
    expect(await change(eve, { guests: [bob?.id, eve?.id] })).toBe(200);
    expect(await change(bob, { guests: [eve?.id] })).toBe(200);
    expect(await change(bob, { title: 'mine' })).toBe(403);
    expect(await change(ann, { title: 'big party' })).toBe(200);
    expect(await change(stranger(), { likes: 2 })).toBe(401);
  });

  test('unlisted documents are readable only by id', async () => {
    const handout = await insert('handouts', { text: 'a' }, ann);
    expect(await statusOf(api('GET', `handouts/${handout}`, stranger()))).toBe(200);
    expect(await listed('handouts', bob)).toEqual([]);
    expect(await listed('handouts', ann)).toEqual([handout]);
    const count = await api<{ data: { count: number } }>('GET', 'handouts?count=true', bob);
    expect(count.body.data.count).toBe(0);
  });

  test('one of 50 concurrent votes by one user counts', async () => {
    const [poll, other] = [await insert('polls', { question: 'tea?' }), await insert('polls', { question: 'milk?' })];
    const votes = await Promise.all(
      Array.from({ length: 50 }, () => api('POST', 'votes', ann, { poll, choice: 'yes' })),
    );
    expect(votes.filter(({ status }) => status === 201)).toHaveLength(1);
    const clashes = votes.filter(({ status }) => status !== 201);
    expect(new Set(clashes.map(({ status }) => status))).toEqual(new Set([409]));
    const vote = await insert('votes', { poll, choice: 'yes' }, bob);
    await insert('votes', { poll: other, choice: 'no' }, bob);
    expect(await statusOf(api('PATCH', `votes/${vote}`, bob, { choice: 'no' }))).toBe(200);
    expect(await statusOf(api('PATCH', `votes/${vote}`, bob, { poll: other }))).toBe(403);
    expect(await statusOf(api('DELETE', `votes/${vote}`, bob))).toBe(403);
    expect(await statusOf(api('PATCH', `votes/${vote}`, ann, { choice: 'yes' }))).toBe(404);
    expect(await statusOf(api('POST', 'votes', bob, { choice: 'yes' }))).toBe(400);
  });
});
