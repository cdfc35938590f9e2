import { randomBytes } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { reserveQuota } from '../../../../shared/mail/quota.ts';
import { plans } from '../../../../shared/projects/plans.ts';
import type { Answer } from '../../../support/clients/client.ts';
import { mailsTo, mailTo } from '../../../support/clients/inbox.ts';
import { newDeveloper, newProject, type TestProject } from '../../../support/fixtures/project.ts';

interface Body {
  readonly data: Readonly<Record<string, unknown>> & { readonly _id: string };
  readonly code: string;
  readonly message: string;
}

let project: TestProject;

beforeAll(async () => {
  project = await newProject();
});

const address = (): string => `reader-${randomBytes(6).toString('hex')}@example.com`;

const newTemplate = async (body: Readonly<Record<string, unknown>>, of = project): Promise<string> => {
  const name = `Template ${randomBytes(4).toString('hex')}`;
  const made = await of.developer.dashboard<Body>('POST', `/api/projects/${of.id}/mail/templates`, { name, ...body });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return made.body.data._id;
};

const send = (templateId: string, body: unknown, of = project): Promise<Answer<Body>> =>
  of.developer.dashboard('POST', `/api/projects/${of.id}/mail/templates/${templateId}/test`, body);

describe('a test email', () => {
  test('200: is sent as the template defines it, counts against the quota and is logged', async () => {
    const to = address();
    const id = await newTemplate({
      key: `shipped-${randomBytes(4).toString('hex')}`,
      subject: 'For {{user.name}} from {{siteName}}',
      html: '<p title="{{user.name}}">{{user.name}} {{{sign}}}</p>',
      text: '{{user.name}}{{constructor.name}}{{missing}}',
    });
    const name = '<img src=x onerror="alert(1)">';
    const variables = { user: { name }, sign: '<b>Us</b>' };
    const first = await send(id, { to, variables });
    expect(first).toMatchObject({
      status: 200,
      body: { data: { id: expect.any(String), provider: 'default' }, message: 'Mail queued successfully.' },
    });
    const mail = await mailTo(to);
    expect(mail.subject).toBe(`For ${name} from test project`);
    const safe = '&lt;img src=x onerror=&quot;alert(1)&quot;&gt;';
    expect(mail.html).toBe(`<p title="${safe}">${safe} <b>Us</b></p>`);
    expect(mail.text).toBe(name);
    const second = await send(id, { to });
    expect(Number(second.body.data.monthlyUsage)).toBe(Number(first.body.data.monthlyUsage) + 1);
    const logs = await project.developer.dashboard<{ data: readonly Record<string, unknown>[] }>(
      'GET',
      `/api/projects/${project.id}/mail/logs`,
    );
    expect(logs.body.data.find(({ _id }) => _id === first.body.data.id)).toMatchObject({
      to: [to],
      templateUsed: expect.stringMatching(/^Template /),
    });
  });

  test('200: uses the built-in template, even when the project has one with its key', async () => {
    const own = await newProject();
    await newTemplate({ key: 'welcome', subject: 'Own', text: 'Own' }, own);
    const to = address();
    expect((await send('welcome', { to, variables: { link: 'https://app.example.com/begin' } }, own)).status).toBe(200);
    const mail = await mailTo(to);
    expect(mail.subject).toBe('Welcome to test project');
    expect(mail.text).toContain('https://app.example.com/begin');
  });

  test('200: a line break in a variable starts no header', async () => {
    const to = address();
    const id = await newTemplate({ subject: 'Hi {{name}}', text: 'x' });
    await send(id, { to, variables: { name: 'x\r\nBcc: victim@example.com' } });
    expect((await mailTo(to)).subject).toBe('Hi x  Bcc: victim@example.com');
    expect(await mailsTo('victim@example.com')).toEqual([]);
  });

  test.each<[string, unknown, string]>([
    ['no recipient', {}, 'VALIDATION_FAILED'],
    ['a recipient that is not an address', { to: 'nobody' }, 'INVALID_MAIL'],
    ['a line break in the address', { to: 'a@example.com\r\nBcc: b@example.com' }, 'INVALID_MAIL'],
    ['an operator as recipient', { to: { $ne: null } }, 'VALIDATION_FAILED'],
    ['a list of recipients', { to: ['a@example.com'] }, 'VALIDATION_FAILED'],
    ['variables that are a list', { to: 'a@example.com', variables: [] }, 'VALIDATION_FAILED'],
    ['a subject', { to: 'a@example.com', subject: 'x' }, 'VALIDATION_FAILED'],
    ['a subject that comes out empty', { to: 'a@example.com', variables: { name: ' ' } }, 'INVALID_MAIL'],
    ['a mail that becomes too long', { to: 'a@example.com', variables: { name: 'x'.repeat(200_000) } }, 'INVALID_MAIL'],
  ])('400 for %s', async (_what, body, code) => {
    const id = await newTemplate({ subject: '{{name}}', text: '{{name}}'.repeat(10) });
    expect(await send(id, body)).toMatchObject({ status: 400, body: { code } });
  });

  test.each([
    ['that does not exist', () => 'f'.repeat(24)],
    ['that is malformed', () => 'constructor'],
    ['of another project', async () => newTemplate({ subject: 'x', text: 'x' }, await newProject())],
  ])('404 TEMPLATE_NOT_FOUND for a template %s', async (_which, idOf) => {
    expect(await send(await idOf(), { to: address() })).toMatchObject({
      status: 404,
      body: { code: 'TEMPLATE_NOT_FOUND' },
    });
  });

  test('429 MAIL_QUOTA_EXCEEDED when the quota of the month is used up', async () => {
    const free = await newProject([], await newDeveloper('free'));
    const ids = Array.from({ length: plans.free.mailsPerMonth }, () => new ObjectId().toHexString());
    await reserveQuota({ id: free.id, plan: 'free' }, ids);
    expect(await send('welcome', { to: address() }, free)).toMatchObject({
      status: 429,
      body: { code: 'MAIL_QUOTA_EXCEEDED' },
    });
  });
});

test('200: the mail API sends from a template by id, name and key, and rejects one of another project', async () => {
  const name = `By name ${randomBytes(4).toString('hex')}`;
  const key = `by-key-${randomBytes(4).toString('hex')}`;
  const templateId = await newTemplate({ name, key, subject: 'Hi {{name}}', html: '<p>{{name}}</p>' });
  const to = address();
  const variables = { name: 'A&B' };
  for (const reference of [{ templateId }, { templateName: name.toUpperCase() }, { templateName: key }]) {
    const { status } = await project.api('POST', '/api/mail/send', { body: { to, ...reference, variables } });
    expect(status).toBe(200);
  }
  expect(await mailTo(to, 3)).toMatchObject({ subject: 'Hi A&B', html: '<p>A&amp;B</p>' });
  const other = await newProject();
  for (const reference of [{ templateId }, { templateName: name }, { templateName: key }]) {
    expect(await other.api('POST', '/api/mail/send', { body: { to, ...reference } })).toMatchObject({
      status: 404,
      body: { code: 'TEMPLATE_NOT_FOUND' },
    });
  }
});
