import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Answer } from '../../../support/clients/client.ts';
import { mailTo } from '../../../support/clients/inbox.ts';
import { type Developer, newDeveloper, newProject, type TestProject } from '../../../support/fixtures/project.ts';

interface Body {
  readonly success: boolean;
  readonly code?: string;
  readonly data: { readonly id: string; readonly data: readonly Readonly<Record<string, unknown>>[] };
}

const withOwnKey = async (developer?: Developer): Promise<TestProject> => {
  const project = await newProject([], developer);
  const providerApiKey = `re_${randomBytes(12).toString('hex')}`;
  const set = await project.developer.dashboard('PATCH', `/api/projects/${project.id}`, { providerApiKey });
  if (set.status !== 200) throw new Error(JSON.stringify(set.body));
  return project;
};

let project: TestProject;

beforeAll(async () => {
  project = await withOwnKey();
});

const call = (method: string, path: string, body?: unknown, of = project): Promise<Answer<Body>> =>
  of.developer.dashboard(method, `/api/projects/${of.id}/mail/${path}`, body);
/** Sends the same request to the mail API, whose response the dashboard must return. */
const open = (path: string): Promise<Answer<Body>> => project.api('GET', `/api/mail/${path}`);

describe('audiences and contacts, as in the mail API', () => {
  test('are created, listed, changed and deleted', async () => {
    const made = await call('POST', 'audiences', { name: 'Readers' });
    expect(made).toMatchObject({ status: 201, body: { success: true, data: { id: expect.any(String) } } });
    const audience = `audiences/${made.body.data.id}`;
    expect((await call('GET', 'audiences')).body).toEqual((await open('audiences')).body);

    const contact = await call('POST', `${audience}/contacts`, { email: 'ada@example.com', firstName: 'Ada' });
    expect(contact.status).toBe(201);
    const one = `${audience}/contacts/${contact.body.data.id}`;
    expect(await call('PATCH', one, { unsubscribed: true, lastName: 'Lovelace' })).toMatchObject({ status: 200 });
    const contacts = await call('GET', `${audience}/contacts`);
    expect(contacts.body.data.data).toMatchObject([
      { email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace', unsubscribed: true },
    ]);
    expect(contacts.body).toEqual((await open(`${audience}/contacts`)).body);
    expect((await call('DELETE', one)).status).toBe(200);
    expect((await call('GET', `${audience}/contacts`)).body.data.data).toEqual([]);
    expect((await call('DELETE', audience)).status).toBe(200);
    expect(await call('DELETE', audience)).toMatchObject({ status: 404, body: { code: 'MAIL_PROVIDER_NOT_FOUND' } });
  });

  test.each<[string, string, string, unknown]>([
    ['an audience without name', 'POST', 'audiences', {}],
    ['a name that is an operator', 'POST', 'audiences', { name: { $ne: 1 } }],
    ['a contact without address', 'POST', 'audiences/x/contacts', { firstName: 'a' }],
    ['a contact that is not an address', 'POST', 'audiences/x/contacts', { email: 'a' }],
    ['a change of nothing', 'PATCH', 'audiences/x/contacts/y', {}],
    ['a broadcast with a header in its subject', 'POST', 'broadcasts', { audienceId: 'x', subject: 'a\nb', html: 'x' }],
    ['a broadcast at no time', 'POST', 'broadcasts', { audienceId: 'x', subject: 'a', html: 'x', scheduledAt: 'soon' }],
  ])('400 for %s', async (_what, method, path, body) => {
    expect((await call(method, path, body)).status).toBe(400);
  });

  test.each(['audiences/..%2F..%2Femails', 'audiences/a%2Fb', 'broadcasts/..%2Faudiences', 'broadcasts/none'])(
    '404 for %s, which reaches no other path at the provider',
    async (path) => {
      expect(await call('DELETE', path)).toMatchObject({ status: 404, body: { code: 'MAIL_PROVIDER_NOT_FOUND' } });
    },
  );
});

describe('broadcasts, as in the mail API', () => {
  test('are created, read, sent to everyone in the audience, and deleted as drafts', async () => {
    const to = `reader-${randomBytes(6).toString('hex')}@example.com`;
    const audienceId = (await call('POST', 'audiences', { name: 'All' })).body.data.id;
    await call('POST', `audiences/${audienceId}/contacts`, { email: to });
    const draft = { audienceId, subject: 'News', html: '<p>News</p>' };
    const made = await call('POST', 'broadcasts', draft);
    expect(made.status).toBe(201);
    const { id } = made.body.data;
    expect((await call('GET', `broadcasts/${id}`)).body).toEqual((await open(`broadcasts/${id}`)).body);
    expect((await call('GET', 'broadcasts')).body).toEqual((await open('broadcasts')).body);
    expect((await call('POST', `broadcasts/${id}/send`)).status).toBe(200);
    expect((await mailTo(to)).html).toMatch(/News.*Unsubscribe/s);

    const unsent = (await call('POST', 'broadcasts', draft)).body.data.id;
    expect((await call('DELETE', `broadcasts/${unsent}`)).status).toBe(200);
    expect((await call('GET', `broadcasts/${unsent}`)).status).toBe(404);
  });
});

describe('403', () => {
  const broadcast = { audienceId: 'x', subject: 'a', html: 'x' };

  test.each([
    ['GET', 'audiences', undefined],
    ['POST', 'audiences', { name: 'x' }],
    ['POST', 'broadcasts', broadcast],
  ] as const)('OWN_MAIL_KEY_REQUIRED for %s %s without a key of the project', async (method, path, body) => {
    const without = await newProject();
    expect(await call(method, path, body, without)).toMatchObject({
      status: 403,
      body: { code: 'OWN_MAIL_KEY_REQUIRED' },
    });
  });

  test('PRO_PLAN_REQUIRED for broadcasts on the free plan, which may have audiences', async () => {
    const free = await withOwnKey(await newDeveloper('free'));
    expect((await call('GET', 'audiences', undefined, free)).status).toBe(200);
    for (const [method, path, body] of [
      ['POST', 'broadcasts', broadcast],
      ['GET', 'broadcasts', undefined],
      ['POST', 'broadcasts/x/send', undefined],
    ] as const) {
      expect(await call(method, path, body, free)).toMatchObject({ status: 403, body: { code: 'PRO_PLAN_REQUIRED' } });
    }
  });
});
