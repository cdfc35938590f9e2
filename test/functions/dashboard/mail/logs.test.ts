import { beforeAll, describe, expect, test } from 'vitest';
import { suppress } from '../../../../shared/mail/suppressions.ts';
import { type Answer, inParallel } from '../../../support/clients/client.ts';
import { eventually } from '../../../support/clients/eventually.ts';
import { mailTo } from '../../../support/clients/inbox.ts';
import { newDeveloper, newProject, type TestProject } from '../../../support/fixtures/project.ts';

type Row = Readonly<Record<string, unknown>> & { readonly providerEmailId: string };

interface LogsBody {
  readonly data: readonly Row[];
}

interface SuppressionsBody {
  readonly data: { readonly items: readonly { readonly email: string }[]; readonly total: number };
}

let project: TestProject;
let other: TestProject;

beforeAll(async () => {
  [project, other] = await Promise.all([newProject(), newProject()]);
});

const at = (path: string, of = project): string => `/api/projects/${of.id}/mail/${path}`;
const get = <Body>(path: string): Promise<Answer<Body>> => project.developer.dashboard<Body>('GET', at(path));
const to = 'log-reader@example.com';

/** Returns the log when the provider has reported the status. */
const settled = (): Promise<Row> =>
  eventually(async () => {
    const [row] = (await get<LogsBody>('logs')).body.data;
    if (row?.status !== 'delivered') throw new Error(`The mail is ${String(row?.status)}`);
    return row;
  });

describe('the email log', () => {
  beforeAll(async () => {
    await project.api('POST', '/api/mail/send', { body: { to, subject: 'Logged', text: 'x' } });
    await mailTo(to);
  });

  test('200: it equals the mail API’s response, list and live status', async () => {
    const { providerEmailId } = await settled();
    const [own, open] = [await get('logs'), await project.api('GET', '/api/mail/logs')];
    expect(own).toMatchObject({ status: 200, body: { data: [{ subject: 'Logged', to: [to], status: 'delivered' }] } });
    expect(own.body).toEqual(open.body);
    const live = await get(`logs/${providerEmailId}/live`);
    expect(live).toMatchObject({
      status: 200,
      body: { data: { dbLog: { subject: 'Logged' }, providerStatus: { id: providerEmailId } } },
    });
    expect(live.body).toEqual((await project.api('GET', `/api/mail/logs/${providerEmailId}`)).body);
  });

  test('400 for a parameter, because there is only one page', async () => {
    expect(await get('logs?page=2')).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY' } });
  });

  test('404 for an email of another project, and for an unknown one', async () => {
    const { providerEmailId } = await settled();
    const theirs = await other.developer.dashboard('GET', at(`logs/${providerEmailId}/live`, other));
    expect(theirs).toMatchObject({ status: 404, body: { code: 'MAIL_LOG_NOT_FOUND' } });
    for (const id of ['f'.repeat(24), '__proto__', '../../emails', '%00']) {
      const answer = await get(`logs/${encodeURIComponent(id)}/live`);
      expect(answer).toMatchObject({ status: 404, body: { code: 'MAIL_LOG_NOT_FOUND' } });
    }
  });
});

describe('suppressed addresses', () => {
  const addresses = ['a+b@example.com', 'c@example.com', 'd@example.com'];

  beforeAll(async () => {
    for (const of of [project, other]) {
      for (const email of addresses) await suppress(of.id, [email], { reason: 'bounced', providerEmailId: 'x' });
    }
  });

  test('200: newest first, page by page', async () => {
    const { body } = await get<SuppressionsBody>('suppressions?limit=2&page=1');
    expect(body.data).toMatchObject({ total: 3, page: 1, limit: 2 });
    const second = await get<SuppressionsBody>('suppressions?limit=2&page=2');
    const emails = [...body.data.items, ...second.body.data.items].map(({ email }) => email);
    expect(emails).toEqual([...addresses].reverse());
    expect(body.data.items[0]).toEqual({
      email: 'd@example.com',
      reason: 'bounced',
      providerEmailId: 'x',
      createdAt: expect.stringMatching(/Z$/),
    });
  });

  test('200 for one of 50 concurrent removals, 404 for the others; addresses of other projects stay', async () => {
    const path = at(`suppressions/${encodeURIComponent('A+B@Example.com')}`);
    const answers = await inParallel(50, () => project.developer.dashboard('DELETE', path));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(49);
    expect(answers.find(({ status }) => status === 404)?.body.code).toBe('SUPPRESSION_NOT_FOUND');
    expect((await get<SuppressionsBody>('suppressions')).body.data.total).toBe(2);
    const theirs = await other.developer.dashboard<SuppressionsBody>('GET', at('suppressions', other));
    expect(theirs.body.data.total).toBe(3);
  });
});

test.each([
  ['GET', 'logs'],
  ['GET', 'logs/x/live'],
  ['GET', 'suppressions'],
  ['DELETE', `suppressions/${encodeURIComponent('d@example.com')}`],
  ['GET', 'audiences'],
  ['POST', 'audiences'],
  ['GET', 'broadcasts'],
  ['POST', 'broadcasts/x/send'],
] as const)("404 PROJECT_NOT_FOUND for %s %s of another developer's project", async (method, path) => {
  const stranger = await newDeveloper();
  const body = method === 'POST' && path === 'audiences' ? { name: 'x' } : undefined;
  expect(await stranger.dashboard(method, at(path), body)).toMatchObject({
    status: 404,
    body: { code: 'PROJECT_NOT_FOUND' },
  });
});
