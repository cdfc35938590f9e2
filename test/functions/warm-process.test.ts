import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { handler as aggregateDocuments } from '../../functions/data/aggregate-documents.ts';
import { handler as createDocument } from '../../functions/data/create-document.ts';
import { handler as getDocument } from '../../functions/data/get-document.ts';
import { handler as getSchema } from '../../functions/data/get-schema.ts';
import { handler as listDocuments } from '../../functions/data/list-documents.ts';
import { clock } from '../../shared/core/clock.ts';
import { inParallel } from '../support/clients/client.ts';
import { type InvokeOptions, invoke } from '../support/clients/invoke.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

/** The time after which settings are in effect everywhere (contract 1). */
const withinMs = 5000;
const realNow = clock.now;

/** Advances the clock by this many milliseconds. */
const advance = (ms: number): void => {
  const before = clock.now;
  clock.now = () => before() + ms;
};

afterEach(() => {
  clock.now = realNow;
});

const params = { collectionName: 'notes' };
const list = (key: string, options: InvokeOptions = {}) => invoke(listDocuments, { key, params, ...options });
const userId = 'a'.repeat(24);

describe('two projects in one process', () => {
  let first: TestProject;
  let second: TestProject;

  const fill = async ({ api }: TestProject, mark: string): Promise<void> => {
    for (let n = 0; n < 5; n++) await api('POST', '/api/data/notes', { body: { mark, n } });
    await api('POST', '/api/data/todos', { body: { mark, userId } });
  };

  beforeAll(async () => {
    const todos = { name: 'todos', rls: { enabled: true, mode: 'private' } };
    first = await newProject([{ name: 'notes' }, todos]);
    second = await newProject([
      {
        name: 'notes',
        schema: [
          { key: 'n', type: 'Number', required: true },
          { key: 'mark', type: 'String' },
        ],
      },
      todos,
    ]);
    await fill(first, 'first');
    await fill(second, 'second');
  });

  test('see only their own documents, schemas and joins when their requests interleave', async () => {
    const sides = [
      { project: first, mark: 'first', other: 'second', token: await first.tokenFor(userId) },
      { project: second, mark: 'second', other: 'first', token: await second.tokenFor(userId) },
    ] as const;
    await inParallel(40, async (turn) => {
      const { project, mark, other, token } = sides[turn % 2] as (typeof sides)[number];
      const { secretKey, publishableKey } = project;
      const pipeline = [
        { $limit: 1 },
        { $lookup: { from: 'todos', pipeline: [], as: 'todos' } },
        { $unionWith: 'notes' },
      ];
      const answers = await Promise.all([
        list(secretKey),
        list(publishableKey, { query: 'count=true' }),
        list(publishableKey, { query: 'sort=mark&limit=2&cursor=' }),
        list(publishableKey, { token, params: { collectionName: 'todos' } }),
        invoke(getSchema, { key: publishableKey, params }),
        invoke(aggregateDocuments, { key: publishableKey, token, params, body: { pipeline } }),
      ]);
      for (const { status, body } of answers) {
        expect(status).toBe(200);
        expect(JSON.stringify(body)).not.toContain(other);
      }
      const [all, count, page, own, schema] = answers;
      expect(all.body).toMatchObject({ data: { total: 5, items: [{ mark }, {}, {}, {}, {}] } });
      expect(count.body).toMatchObject({ data: { count: 5 } });
      expect(page.body).toMatchObject({ data: { total: 5, items: [{ mark }, { mark }] } });
      expect(own.body).toMatchObject({ data: { total: 1, items: [{ mark, userId }] } });
      const { model } = (schema.body.data as { collection: { model: unknown[] } }).collection;
      expect(model).toHaveLength(project === first ? 0 : 2);
    });
  });

  test('validate by their own schema when their requests interleave', async () => {
    const answers = await inParallel(40, (turn) =>
      invoke(createDocument, {
        key: (turn % 2 ? first : second).secretKey,
        params: { collectionName: 'notes' },
        body: { n: 'text', mark: 'written' },
      }),
    );
    for (const [turn, { status }] of answers.entries()) expect(status).toBe(turn % 2 ? 201 : 400);
  });

  test("never accept each other's tokens, cached or not", async () => {
    const tokens = { first: await first.tokenFor(userId), second: await second.tokenFor(userId) };
    const read = (project: TestProject, token: string) =>
      list(project.publishableKey, { token, params: { collectionName: 'todos' } });
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all([
        read(first, tokens.first),
        read(second, tokens.first),
        read(second, tokens.second),
        read(first, tokens.second),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 401, 200, 401]);
    }
  });

  test("never find each other's documents by id", async () => {
    const made = await invoke(createDocument, { key: first.secretKey, params, body: { mark: 'first' } });
    const id = String(made.body._id);
    const read = (project: TestProject) => invoke(getDocument, { key: project.secretKey, params: { ...params, id } });
    for (let round = 0; round < 3; round++) {
      const [mine, theirs] = await Promise.all([read(first), read(second)]);
      expect([mine.status, theirs.status]).toEqual([200, 404]);
    }
  });

  test('reject altered and relabelled keys', async () => {
    for (const { secretKey, publishableKey } of [first, second]) {
      for (const key of [
        secretKey.replace('sk_', 'pk_'),
        publishableKey.replace('pk_', 'sk_'),
        `${secretKey} `,
        `${secretKey}\n`,
        secretKey.toLowerCase(),
        secretKey.slice(0, -1),
      ]) {
        expect(await list(key)).toMatchObject({ status: 401, body: { code: 'API_KEY_INVALID' } });
      }
      expect(await list(`${secretKey},${secretKey}`)).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_FAILED' },
      });
      expect((await list(secretKey)).status).toBe(200);
    }
  });

  test('reject a token when it expires, also if it was cached as valid', async () => {
    const token = await first.tokenFor(userId);
    const read = () => list(first.publishableKey, { token, params: { collectionName: 'todos' } });
    expect((await read()).status).toBe(200);
    advance(890_000);
    expect((await read()).status).toBe(200);
    advance(11_000);
    expect(await read()).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
    expect(await read()).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
  });
});

describe('a warm process follows within 5 seconds', () => {
  const rotate = async (project: TestProject, type: string, graceHours: number): Promise<string> => {
    const answer = await project.developer.dashboard<{ data: { key: string } }>(
      'POST',
      `/api/projects/${project.id}/keys/rotate`,
      { type, graceHours },
    );
    expect(answer.status).toBe(201);
    return answer.body.data.key;
  };

  test.each(['secret', 'publishable'] as const)('when a %s key is rotated', async (type) => {
    const project = await newProject([{ name: 'notes' }, { name: 'other' }]);
    const old = type === 'secret' ? project.secretKey : project.publishableKey;
    const other = { params: { collectionName: 'other' } };
    const read = async (key: string) => [(await list(key)).status, (await list(key, other)).status];
    expect(await read(old)).toEqual([200, 200]);
    const key = await rotate(project, type, 0);
    expect(await read(key)).toEqual([200, 200]);
    advance(withinMs);
    expect(await read(old)).toEqual([401, 401]);
    expect(await read(key)).toEqual([200, 200]);
    expect((await list(type === 'secret' ? project.publishableKey : project.secretKey)).status).toBe(200);
  });

  test('when a key was rotated with a grace period: it works until the period ends', async () => {
    const project = await newProject([{ name: 'notes' }]);
    const key = await rotate(project, 'secret', 1);
    advance(3_590_000);
    expect((await list(project.secretKey)).status).toBe(200);
    advance(10_001);
    expect(await list(project.secretKey)).toMatchObject({ status: 401, body: { code: 'API_KEY_INVALID' } });
    expect((await list(key)).status).toBe(200);
  });

  test('when a project is deleted', async () => {
    const project = await newProject([{ name: 'notes' }]);
    expect((await list(project.secretKey)).status).toBe(200);
    await project.developer.dashboard('DELETE', `/api/projects/${project.id}`);
    advance(withinMs);
    for (const key of [project.secretKey, project.publishableKey]) {
      expect(await list(key)).toMatchObject({ status: 401, body: { code: 'API_KEY_INVALID' } });
    }
  });

  test('when allowed domains change, with the secret key only for pages of other origins', async () => {
    const project = await newProject([{ name: 'notes' }]);
    const allow = (allowedDomains: string[]) =>
      project.developer.dashboard('PATCH', `/api/projects/${project.id}`, { allowedDomains });
    const statuses = async () => {
      const { publishableKey, secretKey } = project;
      const from = (origin: string) => list(publishableKey, { headers: { origin } });
      const answers = [
        await list(publishableKey),
        await from('https://app.example.com'),
        await from('https://evil.example'),
        await list(secretKey, { headers: { origin: 'https://evil.example' } }),
        await list(secretKey),
      ];
      return answers.map(({ status }) => status);
    };
    expect(await statuses()).toEqual([200, 200, 200, 200, 200]);
    await allow(['https://app.example.com']);
    advance(withinMs);
    expect(await statuses()).toEqual([403, 200, 403, 403, 200]);
    await allow(['*']);
    advance(withinMs);
    expect(await statuses()).toEqual([200, 200, 200, 200, 200]);
    await allow([]);
    advance(withinMs);
    expect(await statuses()).toEqual([403, 403, 403, 403, 200]);
  });

  test('when row security is turned on, in lists and in joins', async () => {
    const project = await newProject([{ name: 'notes' }, { name: 'joined' }]);
    await project.api('POST', '/api/data/joined', { body: { userId } });
    const key = project.publishableKey;
    const pipeline = [{ $unionWith: 'joined' }, { $count: 'n' }];
    const read = async (token?: string) => {
      const who = { key, ...(token === undefined ? {} : { token }) };
      const answers = [
        await invoke(listDocuments, { ...who, params: { collectionName: 'joined' } }),
        await invoke(aggregateDocuments, { ...who, params, body: { pipeline } }),
      ];
      return answers.map(({ status }) => status);
    };
    expect(await read()).toEqual([200, 200]);
    const rls = { enabled: true, mode: 'private' };
    await project.developer.dashboard('PUT', `/api/projects/${project.id}/collections/joined`, { rls });
    advance(withinMs);
    expect(await read()).toEqual([401, 401]);
    const token = await project.tokenFor(userId);
    expect(await read(token)).toEqual([200, 200]);
  });

  test('when a collection is created after it was requested: within half a second, also in joins', async () => {
    const project = await newProject([{ name: 'notes' }]);
    const key = project.secretKey;
    const outcomes = async () => {
      const body = { pipeline: [{ $unionWith: 'later' }, { $count: 'n' }] };
      const answers = [
        await invoke(createDocument, { key, params: { collectionName: 'later' }, body: {} }),
        await invoke(aggregateDocuments, { key, params, body }),
      ];
      return answers.map(({ status }) => status);
    };
    expect(await outcomes()).toEqual([404, 404]);
    await project.addCollection({ name: 'later' });
    advance(500);
    expect(await outcomes()).toEqual([201, 200]);
  });

  test('when a schema changes, or a collection is created or deleted', async () => {
    const project = await newProject([{ name: 'notes' }]);
    const insert = (collectionName: string) =>
      invoke(createDocument, { key: project.secretKey, params: { collectionName }, body: { n: 'text' } });
    const outcomes = async () => [(await insert('notes')).status, (await insert('later')).status];
    const path = `/api/projects/${project.id}/collections`;
    expect(await outcomes()).toEqual([201, 404]);
    await project.addCollection({ name: 'later' });
    await project.developer.dashboard('PUT', `${path}/notes`, { schema: [{ key: 'n', type: 'Number' }], force: true });
    advance(withinMs);
    expect(await outcomes()).toEqual([400, 201]);
    await project.developer.dashboard('DELETE', `${path}/later`);
    advance(withinMs);
    expect(await outcomes()).toEqual([400, 404]);
  });
});
