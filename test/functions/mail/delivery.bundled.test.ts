import { randomBytes } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { forgetProjects } from '../../../shared/collections/find-project-by-key.ts';
import { clock } from '../../../shared/core/clock.ts';
import { deliverMail } from '../../../shared/mail/deliver.ts';
import { type MailLog, mailLogs } from '../../../shared/mail/log.ts';
import { mailTries } from '../../../shared/mail/queue.ts';
import { heldSlots, mailUsage } from '../../../shared/mail/quota.ts';
import { sendMail } from '../../../shared/mail/send.ts';
import { recordFailed, recordSent } from '../../../shared/mail/submit.ts';
import { suppress } from '../../../shared/mail/suppressions.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { inParallel } from '../../support/clients/client.ts';
import { mailsTo } from '../../support/clients/inbox.ts';
import { beforeChange } from '../../support/faults/before-change.ts';
import type { HttpProxy } from '../../support/faults/http-proxy.ts';
import { startOwnDelivery } from '../../support/fixtures/own-delivery.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';

// No worker takes emails from this queue: the tests deliver them through a proxy.
let provider: HttpProxy;
let owned: TestProject;
let project: Project;

beforeAll(async () => {
  provider = await startOwnDelivery();
  owned = await newProject();
  project = await domainProject(owned);
});
afterEach(() => {
  vi.restoreAllMocks();
  provider.heal();
});
afterAll(() => provider.close());

const newAddress = (): string => `${randomBytes(6).toString('hex')}@example.com`;
const accepted = expect.stringMatching(/^(sent|delivered)$/) as unknown;

/** Sets a project setting, visible to this process immediately. */
const set = async (of: TestProject, settings: object): Promise<Project> => {
  const answer = await of.developer.dashboard('PATCH', `/api/projects/${of.id}`, settings);
  expect(answer.status).toBe(200);
  forgetProjects();
  return domainProject(of);
};

interface Held {
  readonly id: string;
  readonly to: string;
}

/** An accepted email that only the test delivers. */
const heldMail = async (from = project, to: string | readonly string[] = newAddress()): Promise<Held> => {
  const { id } = await sendMail(from, { to, subject: 'Hello', text: 'Hi' });
  const lostAt = new Date(Date.now() + 24 * 3600_000);
  await mailLogs.updateOne({ _id: new ObjectId(id) }, { $set: { 'job.lostAt': lostAt } });
  return { id, to: [to].flat()[0] ?? '' };
};

const logOf = async (id: string): Promise<MailLog> => {
  const log = await mailLogs.findOne({ _id: new ObjectId(id) });
  if (!log) throw new Error('There is no such mail');
  return log;
};

const used = async (): Promise<number> => (await mailUsage(project)).used;
const isHeld = async (id: string): Promise<boolean> => {
  const { ids } = await heldSlots(project.id, new Date(clock.now()).toISOString().slice(0, 7));
  return ids.includes(id);
};
const requestsFor = (id: string) => provider.asked.filter(({ headers }) => headers['idempotency-key'] === id);

describe('the slot of an email', () => {
  test('stays counted and cannot be refunded when the email was sent', async () => {
    const { id, to } = await heldMail();
    const before = await used();
    expect(await isHeld(id)).toBe(true);
    expect(await deliverMail(id, 1)).toEqual({ done: true });
    expect(await logOf(id)).toMatchObject({ status: accepted, providerEmailId: expect.any(String) as unknown });
    expect([await used(), await isHeld(id)]).toEqual([before, false]);
    expect(await mailsTo(to)).toHaveLength(1);
  });

  test('is refunded once when the provider rejects the email, however many runs there are', async () => {
    const { id, to } = await heldMail();
    const before = await used();
    provider.meet(422);
    await inParallel(50, () => deliverMail(id, 1));
    await inParallel(50, () => deliverMail(id, 2));
    expect(await logOf(id)).toMatchObject({ status: 'failed', reason: 'application_error: Said by the test' });
    expect(await logOf(id)).not.toHaveProperty('job');
    expect([await used(), await isHeld(id)]).toEqual([before - 1, false]);
    expect(await mailsTo(to)).toEqual([]);
  });

  test('is refunded after the last try', async () => {
    const { id } = await heldMail();
    const before = await used();
    provider.meet(503);
    for (let tries = 1; tries <= mailTries; tries++) {
      expect(await logOf(id)).toMatchObject({ status: 'queued' });
      await deliverMail(id, tries);
    }
    expect(await logOf(id)).toMatchObject({ status: 'failed' });
    expect([await used(), await isHeld(id)]).toEqual([before - 1, false]);
  });

  test('is refunded when the run crashed after it had recorded the failure', async () => {
    const { id } = await heldMail();
    const before = await used();
    await mailLogs.updateOne({ _id: new ObjectId(id) }, { $set: { status: 'failed' }, $unset: { 'job.content': '' } });
    await inParallel(50, () => deliverMail(id, 1));
    expect([await used(), await isHeld(id)]).toEqual([before - 1, false]);
    expect(requestsFor(id)).toEqual([]);
  });

  test('is refunded after 20 h when every run crashes', async () => {
    const { id } = await heldMail();
    const before = await used();
    const month = new Date().toISOString().slice(0, 7);
    vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + 21 * 3600_000);
    await deliverMail(id, 1);
    vi.restoreAllMocks();
    expect(await logOf(id)).toMatchObject({ status: 'failed', reason: 'Not accepted in time' });
    expect(await used()).toBe(before - 1);
    expect((await heldSlots(project.id, month)).ids).not.toContain(id);
  });
});

describe('an email that the provider may have', () => {
  test.each(['lose the answer', 'cut'] as const)('(%s) is kept after the last try and sent once', async (fault) => {
    // No event reports it, so only the provider's response can.
    const { id, to } = await heldMail(project, `silent+${randomBytes(6).toString('hex')}@resend.dev`);
    const before = await used();
    provider.next(fault);
    await deliverMail(id, 1);
    provider.meet(500);
    for (let tries = 2; tries <= mailTries; tries++) await deliverMail(id, tries);
    // If the provider did its work, its events may have arrived by now.
    if (fault === 'cut') expect(await logOf(id)).toMatchObject({ status: 'queued', job: { inDoubt: true } });
    else expect((await logOf(id)).status).not.toBe('failed');
    provider.heal();
    expect(await deliverMail(id, 1)).toEqual({ done: true });
    expect(await logOf(id)).toMatchObject({ status: accepted });
    expect(await used()).toBe(before);
    expect(await mailsTo(to)).toHaveLength(1);
  });

  test('is in doubt until the next response when its run crashed', async () => {
    const { id } = await heldMail();
    await mailLogs.updateOne({ _id: new ObjectId(id) }, { $set: { 'job.inDoubt': true } });
    provider.next(500);
    await deliverMail(id, mailTries);
    expect(await logOf(id)).toMatchObject({ status: 'queued' });
    await deliverMail(id, 1);
    expect(await logOf(id)).toMatchObject({ status: accepted });
  });

  test('is not sent again when an event has reported it', async () => {
    const { id } = await heldMail();
    const before = await used();
    const event = { status: 'delivered' as const, lastEventAt: new Date('2100-01-01'), providerEmailId: 'known' };
    await mailLogs.updateOne({ _id: new ObjectId(id) }, { $set: event });
    expect(await deliverMail(id, 1)).toEqual({ done: true });
    expect(await logOf(id)).toMatchObject({ status: 'delivered', providerEmailId: 'known' });
    expect(await logOf(id)).not.toHaveProperty('job');
    expect(requestsFor(id)).toEqual([]);
    expect([await used(), await isHeld(id)]).toEqual([before, false]);
  });

  test.each(['delivered', 'bounced', 'queued'] as const)(
    'keeps the status "%s" when its event came before the response',
    async (status) => {
      for (const settle of [recordSent, (mail: MailLog) => recordFailed(mail, 'late')]) {
        const { id } = await heldMail();
        const before = await used();
        const mail = await logOf(id);
        const event = { status, reason: 'said the event', lastEventAt: new Date('2100-01-01') };
        await mailLogs.updateOne({ _id: new ObjectId(id) }, { $set: event });
        await settle(mail);
        await deliverMail(id, 1);
        expect(await logOf(id)).toMatchObject(event);
        expect(await logOf(id)).not.toHaveProperty('job');
        expect([await used(), await isHeld(id)]).toEqual([before, false]);
      }
    },
  );
});

test('a run leaves the email to another run that has claimed it meanwhile', async () => {
  const { id } = await heldMail();
  const theirs = new Date(Date.now() + 60_000);
  let taken: Promise<unknown> | undefined;
  provider.meet(() => {
    taken ??= mailLogs.updateOne({ _id: new ObjectId(id) }, { $set: { 'job.leasedUntil': theirs, reason: 'theirs' } });
    return 500;
  });
  expect(await deliverMail(id, 1)).toMatchObject({ done: false });
  await taken;
  expect(await logOf(id)).toMatchObject({ status: 'queued', reason: 'theirs', job: { leasedUntil: theirs } });
});

test('the next try finishes an email that an event reported during a failed try', async () => {
  const { id } = await heldMail();
  provider.meet(500);
  const told = { $set: { status: 'delivered', lastEventAt: new Date() } } as const;
  beforeChange('updateOne', 1, () => mailLogs.findOneAndUpdate({ _id: new ObjectId(id) }, told));
  expect(await deliverMail(id, 1)).toMatchObject({ done: false });
  vi.restoreAllMocks();
  expect(await logOf(id)).not.toHaveProperty('reason');
  expect(await deliverMail(id, 2)).toEqual({ done: true });
  const log = await logOf(id);
  expect(log.status).toBe('delivered');
  expect(log).not.toHaveProperty('job');
  expect(requestsFor(id)).toHaveLength(1);
});

describe('suppressed addresses', () => {
  const suppressed = newAddress();
  beforeAll(() => suppress(project.id, [suppressed], { reason: 'bounced', providerEmailId: null }));

  test('get no email', async () => {
    const other = newAddress();
    const { id } = await heldMail(project, [suppressed, other]);
    await deliverMail(id, 1);
    expect(requestsFor(id)).toMatchObject([{ body: { to: [other] } }]);
    expect(await logOf(id)).toMatchObject({ status: accepted, to: [suppressed, other] });
  });

  test('still get emails of other projects', async () => {
    const other = await domainProject(await newProject());
    const { id } = await heldMail(other, [suppressed]);
    await deliverMail(id, 1);
    expect(requestsFor(id)).toMatchObject([{ body: { to: [suppressed] } }]);
    expect(await logOf(id)).toMatchObject({ status: accepted });
  });

  test('fail an email with "suppressed" and refund its slot when no recipient is left', async () => {
    const before = await used();
    const { id, to } = await heldMail();
    await suppress(project.id, [`Sam <${to.toUpperCase()}>`], { reason: 'bounced', providerEmailId: null });
    await deliverMail(id, 1);
    expect(requestsFor(id)).toEqual([]);
    expect(await logOf(id)).toMatchObject({ status: 'failed', reason: 'suppressed' });
    expect(await used()).toBe(before);
  });
});

describe("a project's own provider key", () => {
  test('sends its emails from its own address and is noted in the log', async () => {
    const mine = await newProject();
    const withKey = await set(mine, { providerApiKey: 're_mine', providerFromEmail: 'Shop <shop@example.org>' });
    const { id } = await heldMail(withKey);
    await deliverMail(id, 1);
    expect(requestsFor(id)).toMatchObject([
      { headers: { authorization: 'Bearer re_mine' }, body: { from: 'Shop <shop@example.org>' } },
    ]);
    expect(await logOf(id)).toMatchObject({ status: accepted, usingByok: true });
  });

  test('sends from our address when the project has none', async () => {
    const mine = await newProject();
    const { id } = await heldMail(await set(mine, { providerApiKey: 're_mine' }));
    await deliverMail(id, 1);
    expect(requestsFor(id)).toMatchObject([{ body: { from: 'test project <no-reply@basalt.local>' } }]);
  });

  test('fails pending emails when it was removed', async () => {
    const mine = await newProject();
    const { id } = await heldMail(await set(mine, { providerApiKey: 're_mine' }));
    await set(mine, { providerApiKey: null });
    await deliverMail(id, 1);
    expect(requestsFor(id)).toEqual([]);
    expect(await logOf(id)).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching('no longer has') as unknown,
    });
    expect(await mailUsage(await domainProject(mine))).toMatchObject({ used: 0 });
  });

  test('waits for as long as the provider asks, also with its other emails', async () => {
    const mine = await newProject();
    const withKey = await set(mine, { providerApiKey: 're_mine' });
    const [first, second] = [await heldMail(withKey), await heldMail(withKey)];
    const body = { statusCode: 429, name: 'rate_limit_exceeded', message: 'Too many requests' };
    provider.next({ status: 429, headers: { 'retry-after': '120' }, body });
    expect(await deliverMail(first.id, 1)).toEqual({ done: false, retryIn: 120 });
    const { retryIn } = (await deliverMail(second.id, 1)) as { readonly retryIn: number };
    expect(retryIn).toBeGreaterThan(110);
    expect(requestsFor(second.id)).toEqual([]);
    const shared = await heldMail();
    await deliverMail(shared.id, 1);
    expect(await logOf(shared.id)).toMatchObject({ status: accepted });
  });
});
