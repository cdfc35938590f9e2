import { afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { handler as getTypes } from '../../../functions/service/get-types.ts';
import { clock } from '../../../shared/core/clock.ts';
import { type Answer, call } from '../../support/clients/client.ts';
import { compile, expecting } from '../../support/clients/compile.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

listenToCommands();
process.env.RATE_LIMIT = '1000000';
process.env.RATE_BLOCK = '1';

let project: TestProject;
let answer: Answer<string>;

const get = (key: string, headers: Readonly<Record<string, string>> = {}) =>
  call<string>(inject('stack').baseUrl, 'GET', '/api/types.ts', { key, headers });

afterEach(() => {
  vi.restoreAllMocks();
});

beforeAll(async () => {
  project = await newProject([
    {
      name: 'tasks',
      schema: [{ key: 'title', type: 'String', required: true }],
      rls: { enabled: true, mode: 'private' },
    },
    { name: 'notes' },
    {
      name: 'users',
      schema: [
        { key: 'email', type: 'String', required: true },
        { key: 'password', type: 'String', required: true },
        { key: 'name', type: 'String' },
      ],
    },
  ]);
  answer = await get(project.publishableKey);
});

describe('GET /api/types.ts', () => {
  test('200 with the collections as types, in plain text that caches revalidate', async () => {
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'private, no-cache',
      etag: expect.stringMatching(/^"[\w-]{27}"$/),
    });
    const uses = expecting(
      "import type { Schema } from './schema.ts';",
      [
        "const t: Schema['tasks']['insert'] = { title: 'a' };",
        "const t: Schema['notes']['insert'] = { anything: 'goes' };",
        "const f: Schema['tasks']['filter'] = { userId: 'x', title: { $startsWith: 'a' } };",
        "const u = {} as Schema['users']['document']; u.emailVerified satisfies boolean; u.name;",
      ],
      [
        "const t: Schema['tasks']['insert'] = { title: 5 };",
        "const u = {} as Schema['users']['document']; u.password;",
      ],
    );
    expect(await compile({ 'schema.ts': answer.body, 'uses.ts': uses })).toBe('');
  });

  test('200 with the same text for both keys and repeated requests', async () => {
    const other = await get(project.secretKey);
    expect([other.body, other.headers.get('etag')]).toEqual([answer.body, answer.headers.get('etag')]);
  });

  test.each([
    ['the tag', (tag: string) => tag],
    ['a weak one', (tag: string) => `W/${tag}`],
    ['one of several', (tag: string) => `"other", ${tag}`],
    ['any', () => '*'],
  ])('304 without a body when If-None-Match names %s', async (_what, named) => {
    const tag = answer.headers.get('etag') ?? '';
    const again = await get(project.secretKey, { 'if-none-match': named(tag) });
    expect(again).toMatchObject({ status: 304, body: {} });
    expect(again.headers.get('etag')).toBe(tag);
    expect(again.headers.get('cache-control')).toBe('private, no-cache');
  });

  test('200 when If-None-Match names another text, for example after a collection changed', async () => {
    const own = await newProject([{ name: 'notes' }]);
    const before = await get(own.secretKey);
    await own.addCollection({ name: 'added', schema: [{ key: 'at', type: 'Date' }] });
    const after = await get(own.secretKey, { 'if-none-match': before.headers.get('etag') ?? '' });
    expect(after.status).toBe(200);
    expect(before.body).not.toContain('added');
    expect(after.body).toContain('added');
  });

  test('400 RESULT_TOO_LARGE when the types exceed the size of a response', async () => {
    const own = await newProject();
    const inner = Array.from({ length: 99 }, (_, at) => ({ key: `${'x'.repeat(60)}${at}`, type: 'String' }));
    const fields = Array.from({ length: 20 }, (_, at) => ({
      key: `${'y'.repeat(60)}${at}`,
      type: 'Object',
      fields: inner,
    }));
    for (let at = 0; at < 9; at += 1) await own.addCollection({ name: `c${at}`, schema: fields });
    expect(await get(own.secretKey)).toMatchObject({ status: 400, body: { code: 'RESULT_TOO_LARGE' } });
  });

  test('costs one find and one count', async () => {
    const ask = () => invoke(getTypes, { key: project.secretKey, headers: { 'if-none-match': '*' } });
    // Keeps the cache valid, so that cached settings are not loaded again.
    vi.spyOn(clock, 'now').mockReturnValue(Date.now());
    await ask();
    expect(await commandsOf(ask)).toEqual(['dynamodb UpdateItemCommand', 'mongodb find']);
  });
});
