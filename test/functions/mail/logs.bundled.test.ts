import { ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { handler as getLog } from '../../../functions/mail/get-mail-log.ts';
import { handler as listLogs } from '../../../functions/mail/list-mail-logs.ts';
import { forgetProjects } from '../../../shared/collections/find-project-by-key.ts';
import { type MailLog, mailLogs } from '../../../shared/mail/log.ts';
import { deleteOldLogs } from '../../../shared/mail/queue.ts';
import { newLog, queueMail } from '../../../shared/mail/send.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';
import { commandChannel, type DatabaseCommand } from '../../../shared/persistence/mongo-commands.ts';
import { mailTo } from '../../support/clients/inbox.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { hastenLimits } from '../../support/faults/hasten-limits.ts';
import { HttpProxy } from '../../support/faults/http-proxy.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

listenToCommands();
process.env.RATE_LIMIT = '1000000';
let provider: HttpProxy;
let project: TestProject;
let other: TestProject;

beforeAll(async () => {
  provider = await HttpProxy.start(inject('stack').env.MAIL_PROVIDER_URL ?? '');
  process.env.MAIL_PROVIDER_URL = provider.url;
  [project, other] = await Promise.all([newProject(), newProject()]);
});
afterEach(() => {
  vi.restoreAllMocks();
  provider.heal();
});
afterAll(() => provider.close());

interface Row {
  readonly _id: string;
  readonly subject: string;
  readonly sentAt: string;
  readonly providerEmailId: string | null;
}

const rowOf = (of: TestProject, subject: string, sentAt: Date): MailLog => ({
  ...newLog({
    _id: new ObjectId(),
    projectId: of.id,
    to: ['a@example.com'],
    subject,
    usingByok: false,
    templateUsed: null,
    status: 'delivered',
  }),
  sentAt,
  providerEmailId: `${subject}-${of.id}`,
});

const list = async (of = project): Promise<readonly Row[]> => {
  const { status, body } = await of.api<{ data: readonly Row[]; message: string }>('GET', '/api/mail/logs');
  expect(status).toBe(200);
  return body.data;
};

/** A sent email as the log has it. */
const sentMail = async (of = project) => {
  const to = `${new ObjectId().toHexString()}@example.com`;
  const body = { to, subject: 'Hello', text: 'Words', html: '<p>Words</p>' };
  const sent = await of.api<{ data: { id: string } }>('POST', '/api/mail/send', { body });
  const { id: providerId } = await mailTo(to);
  await expect
    .poll(async () => (await list(of)).find(({ _id }) => _id === sent.body.data.id)?.providerEmailId)
    .toBe(providerId);
  return { to, id: sent.body.data.id, providerId };
};

const get = (providerId: string, of = project) => invoke(getLog, { key: of.secretKey, params: { providerId } });

describe('the list of emails', () => {
  test('400 for a parameter, because there is only one page', async () => {
    const answer = await project.api('GET', '/api/mail/logs?limit=5');
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'INVALID_QUERY', message: 'limit is not a known parameter' },
    });
  });

  test('200 with the project’s latest 50 emails by sentAt, newest first', async () => {
    const mine = await newProject();
    const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 1, 0, minute));
    const rows = Array.from({ length: 120 }, (_, index) => rowOf(mine, String(index), at((index * 37) % 120)));
    await mailLogs.insertMany([...rows, rowOf(other, 'foreign', at(200))]);
    const listed = await list(mine);
    expect(listed.map(({ sentAt }) => sentAt)).toEqual(
      Array.from({ length: 50 }, (_, index) => at(119 - index).toISOString()),
    );
  });

  test('200 with every field of the specification, without the job', async () => {
    const { id, to, providerId } = await sentMail();
    const row = (await list()).find(({ _id }) => _id === id);
    expect(row).toEqual({
      _id: id,
      providerEmailId: providerId,
      to: [to],
      subject: 'Hello',
      status: expect.stringMatching(/^(sent|delivered)$/) as unknown,
      usingByok: false,
      templateUsed: null,
      reason: null,
      sentAt: expect.stringMatching(/^\d{4}-.*Z$/) as unknown,
    });
  });

  test('contains account emails, except those without a recipient', async () => {
    const mine = await newProject();
    const mail = { projectId: mine.id, template: 'verification', siteName: 'Notes', variables: { code: 'A' } } as const;
    await queueMail({ ...mail, to: 'reader@example.com' });
    await queueMail({ ...mail, to: null });
    expect(await list(mine)).toMatchObject([{ to: ['reader@example.com'], templateUsed: 'verification' }]);
  });

  test('costs 1 find with an index', async () => {
    const asked: DatabaseCommand[] = [];
    const note = (message: unknown): void => {
      const command = message as DatabaseCommand;
      if (command.command?.find === 'mailLogs') asked.push(command);
    };
    commandChannel.subscribe(note);
    const commands = await commandsOf(() => invoke(listLogs, { key: project.secretKey }));
    commandChannel.unsubscribe(note);
    expect(commands.filter((command) => command !== 'mongodb aggregate')).toEqual([
      'dynamodb UpdateItemCommand',
      'mongodb find',
    ]);
    const { find, filter, sort, limit, projection } = asked[0]?.command ?? {};
    const plan = await onControl((db) =>
      db.command({ explain: { find, filter, sort, limit, projection }, verbosity: 'executionStats' }),
    );
    const text = JSON.stringify(plan.queryPlanner.winningPlan);
    expect(text).toContain('"indexName":"latest"');
    expect(text).not.toMatch(/"stage":"(SORT|COLLSCAN)"/);
    expect(plan.executionStats.totalDocsExamined).toBeLessThanOrEqual(50);
  });

  test('403 SECRET_KEY_REQUIRED for the publishable key', async () => {
    const answer = await project.api('GET', '/api/mail/logs', { key: project.publishableKey });
    expect(answer).toMatchObject({ status: 403, body: { code: 'SECRET_KEY_REQUIRED' } });
  });
});

describe('one email', () => {
  test('200 with its log and the provider’s status, without its content', async () => {
    const { id, to, providerId } = await sentMail();
    const { status, body } = await get(providerId);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      success: true,
      data: {
        dbLog: { _id: id, providerEmailId: providerId },
        providerStatus: { id: providerId, to: [to], subject: 'Hello' },
      },
    });
    expect(JSON.stringify(body)).not.toContain('Words');
  });

  test('404 MAIL_LOG_NOT_FOUND for unknown emails and those of other projects, without a call to the provider', async () => {
    const { providerId } = await sentMail(other);
    const asked = provider.asked.length;
    for (const id of [providerId, 'none', '..', '{"$ne":null}', new ObjectId().toHexString()]) {
      expect(await get(id)).toMatchObject({ status: 404, body: { code: 'MAIL_LOG_NOT_FOUND' } });
    }
    expect(provider.asked).toHaveLength(asked);
  });

  test('is looked up with the key that sent it', async () => {
    const mine = await newProject();
    const set = (providerApiKey: string | null) =>
      mine.developer.dashboard('PATCH', `/api/projects/${mine.id}`, { providerApiKey }).then(forgetProjects);
    const [shared, own] = [rowOf(mine, 'shared', new Date()), { ...rowOf(mine, 'own', new Date()), usingByok: true }];
    await mailLogs.insertMany([shared, own]);
    await set('re_own');
    await get(shared.providerEmailId ?? '', mine);
    await get(own.providerEmailId ?? '', mine);
    expect(provider.asked.slice(-2).map(({ headers }) => headers.authorization)).toEqual([
      'Bearer re_local',
      'Bearer re_own',
    ]);
    await set(null);
    const answer = await get(own.providerEmailId ?? '', mine);
    expect(answer).toMatchObject({ status: 503, body: { code: 'MAIL_PROVIDER_UNAVAILABLE' } });
  });

  test('200 without a live status when the provider has forgotten it', async () => {
    const row = rowOf(project, 'forgotten', new Date());
    await mailLogs.insertOne(row);
    expect(await get(row.providerEmailId ?? '')).toMatchObject({
      status: 200,
      body: { data: { providerStatus: null } },
    });
  });

  test.each([401, 429, 500, 'cut', 'hang'] as const)(
    '503 MAIL_PROVIDER_UNAVAILABLE when the provider responds with %s',
    async (fault) => {
      const { providerId } = await sentMail();
      provider.meet(fault);
      if (fault === 'hang') hastenLimits();
      const answer = await get(providerId);
      expect(answer).toMatchObject({ status: 503, body: { code: 'MAIL_PROVIDER_UNAVAILABLE' } });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    },
  );
});

describe('old logs', () => {
  test('are deleted after 90 days', async () => {
    const mine = await newProject();
    const days = (count: number): Date => new Date(Date.now() - count * 24 * 3600_000);
    const rows = [89, 91, 200].map((age) => ({ ...rowOf(mine, String(age), days(age)), createdAt: days(age) }));
    await mailLogs.insertMany(rows);
    await deleteOldLogs();
    expect((await list(mine)).map(({ subject }) => subject)).toEqual(['89']);
  });
});
