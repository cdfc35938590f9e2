import { beforeAll, expect, inject, test } from 'vitest';
import { call } from '../support/clients/client.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';
import { users } from '../support/fixtures/users.ts';

let project: TestProject;

beforeAll(async () => {
  project = await newProject([{ name: 'posts' }, users]);
});

const numbers = Array.from({ length: 400_000 }, () => 1);
/** Each quote takes four bytes in a response. */
const name = '"'.repeat(500_000);
const names = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [at.toString(36), 1]));

const below = (path: string) => `/api/projects/${project.id}${path}`;

/** Requests whose errors would list more than fits in a response. */
test.each<[string, 'open' | 'dashboard', string, () => string, unknown]>([
  ['links to files', 'open', 'POST', () => '/api/storage/sign', { paths: numbers }],
  ['a ticket', 'open', 'POST', () => '/api/realtime/tickets', { collections: numbers }],
  ['a document', 'open', 'POST', () => '/api/data/posts', { [`.${name}`]: 1 }],
  ['a body of the public API', 'open', 'POST', () => '/api/storage/sign', { [name]: 1 }],
  ['a pipeline', 'open', 'POST', () => '/api/data/posts/aggregate', { pipeline: [{ [`$${name}`]: 1 }] }],
  ['a mail', 'open', 'POST', () => '/api/mail/send', { to: name, subject: 'x', text: 'x' }],
  ['settings', 'dashboard', 'PATCH', () => below(''), { allowedDomains: numbers }],
  ['a name of a setting', 'dashboard', 'PATCH', () => below(''), { [name]: 1 }],
  ['a token', 'dashboard', 'POST', () => '/api/auth/tokens', { name: 'x', scopes: numbers, expiresInDays: 1 }],
  ['a deletion of files', 'dashboard', 'DELETE', () => below('/storage/files'), { paths: numbers }],
  ['a webhook', 'dashboard', 'POST', () => below('/webhooks'), { url: 'https://a.example', events: numbers }],
  ['fields of a user', 'dashboard', 'POST', () => below('/users'), { email: 'a@example.com', password: 'x', ...names }],
  [
    'a field of a user',
    'dashboard',
    'POST',
    () => below('/users'),
    { email: 'a@example.com', password: 'x', [name]: 1 },
  ],
  ['a collection', 'dashboard', 'POST', () => below('/collections'), { name, schema: null }],
  ['a schema', 'dashboard', 'POST', () => below('/collections'), { name: 'x', schema: [{ key: 'x', type: name }] }],
])('400 for %s', async (_what, api, method, path, body) => {
  const { status, body: answer } =
    api === 'open'
      ? await call(inject('stack').baseUrl, method, path(), { key: project.secretKey, body })
      : await project.developer.dashboard(method, path(), body);
  expect({ status, ...answer }).toMatchObject({ status: 400, success: false });
  const text = JSON.stringify(answer);
  expect(text.length).toBeLessThan(100_000);
});

test.each(['😀', '🇩🇪', '👨‍👩‍👧'])(
  '404 for a long path ends before a character that does not fit: %s',
  async (character) => {
    for (let letters = 90; letters < 101; letters += 1) {
      const path = `/${'x'.repeat(letters)}${encodeURIComponent(character)}y`;
      const answer = await call<{ message: string }>(inject('stack').baseUrl, 'GET', path);
      expect(answer.status).toBe(404);
      expect(answer.body.message).toMatch(
        new RegExp(`^There is no GET /x{${letters}}(?:${character}y?)?\\.$|^There is no GET /x{99}\\.$`),
      );
    }
  },
);
