import { randomBytes } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as sendBatch } from '../../../functions/mail/send-batch.ts';
import { developerAccounts } from '../../../shared/accounts/developers/developers.ts';
import { markVerified } from '../../../shared/accounts/email-proofs.ts';
import { forgetProjects } from '../../../shared/collections/find-project-by-key.ts';
import { deliverMail } from '../../../shared/mail/deliver.ts';
import { sharedCounters } from '../../../shared/mail/limits.ts';
import { finalizeHeldSlots, heldSlots, mailUsage, reserveQuota } from '../../../shared/mail/quota.ts';
import { sendMail } from '../../../shared/mail/send.ts';
import { suppress } from '../../../shared/mail/suppressions.ts';
import { countIn, peek } from '../../../shared/persistence/counters.ts';
import { ownerKeyOf } from '../../../shared/persistence/item-keys.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';
import { plans } from '../../../shared/projects/plans.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { invoke } from '../../support/clients/invoke.ts';
import type { HttpProxy } from '../../support/faults/http-proxy.ts';
import { loseFirstAnswers } from '../../support/faults/lost-answers.ts';
import { newProviderKey } from '../../support/fixtures/mail-project.ts';
import { newMember } from '../../support/fixtures/members.ts';
import { startOwnDelivery } from '../../support/fixtures/own-delivery.ts';
import { newOwnerKey } from '../../support/fixtures/owner.ts';
import { type Developer, newDeveloper, newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';

// No worker takes emails from this queue: the tests deliver them through a proxy.
process.env.RATE_LIMIT = '1000000';
let provider: HttpProxy;

beforeAll(async () => {
  provider = await startOwnDelivery();
});
afterEach(() => {
  vi.restoreAllMocks();
  provider.heal();
});
afterAll(() => provider.close());

const { free } = plans;
const newAddress = (): string => `${randomBytes(6).toString('hex')}@example.com`;
const addresses = (count: number): string[] => Array.from({ length: count }, newAddress);
const mailOf = (to: unknown = newAddress()) => ({ to, subject: 'Hello', text: 'Hi' });
const batchOf = (count: number, to = 1) => Array.from({ length: count }, () => mailOf(addresses(to)));
const month = new Date().toISOString().slice(0, 7);

const send = (project: TestProject, body: unknown) =>
  project.api<{ code?: string; message: string; data: { id: string } }>('POST', '/api/mail/send', { body });
const batch = async (project: TestProject, body: unknown) => {
  const answer = await invoke(sendBatch, { key: project.secretKey, body });
  return { status: answer.status, body: answer.body as { code?: string; message: string } };
};
const exceeded = (saying: string) => ({
  status: 429,
  body: { code: 'MAIL_QUOTA_EXCEEDED', message: expect.stringContaining(saying) as string },
});

/** Counts of the owner's month: [emails, recipients]. */
const countedFor = async (key: string): Promise<readonly number[]> => {
  const [ofOwner] = sharedCounters({ owner: key, recipients: { any: 1 } }, ['any'], month);
  const item = ofOwner && (await peek(ofOwner));
  return [countIn(item, 'mails'), countIn(item, 'recipients')];
};
const countedForOwner = ({ email }: Developer) => countedFor(ownerKeyOf(email));

describe('a developer with an unverified address', () => {
  const notVerified = {
    status: 403,
    body: {
      code: 'EMAIL_NOT_VERIFIED',
      message: expect.stringContaining('POST /api/auth/resend-verification') as string,
    },
  };

  test('403 EMAIL_NOT_VERIFIED for emails, batches and test emails of their projects; 200 after verification', async () => {
    const owner = await newDeveloper();
    const project = await newProject([], owner);
    const member = await newMember(project, 'admin');
    await onControl((db) =>
      db.collection('developers').updateOne({ email: owner.email }, { $set: { emailVerified: false } }),
    );
    const test = `/api/projects/${project.id}/mail/templates/welcome/test`;
    expect(await send(project, mailOf())).toMatchObject(notVerified);
    expect(await batch(project, batchOf(2))).toMatchObject(notVerified);
    expect(await member.dashboard('POST', test, { to: newAddress() })).toMatchObject(notVerified);
    expect(await mailUsage(await domainProject(project))).toMatchObject({ used: 0 });
    await markVerified(developerAccounts, { email: owner.email });
    expect((await send(project, mailOf())).status).toBe(200);
    expect((await batch(project, batchOf(2))).status).toBe(200);
    expect((await member.dashboard('POST', test, { to: newAddress() })).status).toBe(200);
  });

  test('200 with the project’s own mail key, without a count for the owner', async () => {
    const owner = await newDeveloper('free', { isVerified: false });
    const project = await newProject([], owner);
    await owner.dashboard('PATCH', `/api/projects/${project.id}`, { providerApiKey: newProviderKey() });
    forgetProjects();
    expect((await batch(project, batchOf(5, 50))).status).toBe(200);
    expect(await countedForOwner(owner)).toEqual([0, 0]);
  });
});

describe('the month of an owner', () => {
  const removed = async (project: TestProject): Promise<void> => {
    const answer = await project.developer.dashboard('DELETE', `/api/projects/${project.id}`);
    expect(answer.status).toBe(202);
  };

  test('429 MAIL_QUOTA_EXCEEDED after the emails of all the plan’s projects, even if each project was deleted', async () => {
    const owner = await newDeveloper('free');
    for (let made = 0; made < free.projects; made++) {
      const project = await newProject([], owner);
      expect((await batch(project, batchOf(free.mailsPerMonth))).status).toBe(200);
      await removed(project);
    }
    const project = await newProject([], owner);
    const refused = exceeded('the plan allows 75 for all projects of an owner');
    expect(await send(project, mailOf())).toMatchObject(refused);
    expect(await batch(project, batchOf(1))).toMatchObject(refused);
    expect(await mailUsage(await domainProject(project))).toMatchObject({ used: 0 });
  });

  test('429 MAIL_QUOTA_EXCEEDED after 100 recipients, also in another project and with another account of the address', async () => {
    const owner = await newDeveloper('free');
    const project = await newProject([], owner);
    expect((await batch(project, batchOf(1, 50))).status).toBe(200);
    expect((await send(project, mailOf(addresses(50)))).status).toBe(200);
    const refused = exceeded('the plan allows 100 for all projects of an owner');
    expect(await send(project, mailOf())).toMatchObject(refused);
    await removed(project);
    expect(await batch(await newProject([], owner), batchOf(1))).toMatchObject(refused);
    const gone = await owner.dashboard('DELETE', '/api/auth/account', { password: owner.password });
    expect(gone.status).toBe(202);
    const again = await newDeveloper('free', { email: owner.email });
    expect(await send(await newProject([], again), mailOf())).toMatchObject(refused);
  });

  test('429 MAIL_QUOTA_EXCEEDED for all except 10 of 50 concurrent emails with 10 recipients each', async () => {
    const project = await newProject([], await newDeveloper('free'));
    const answers = await inParallel(50, () => send(project, mailOf(addresses(10))));
    expect(tally(answers)).toEqual({ 200: 10, 429: 40 });
    expect(await countedForOwner(project.developer)).toEqual([10, 100]);
    expect(await mailUsage(await domainProject(project))).toMatchObject({ used: 10 });
  });

  test('200 counts only recipients that are not suppressed', async () => {
    const project = await newProject([], await newDeveloper('free'));
    const to = addresses(3);
    await suppress(project.id, to.slice(0, 1), { reason: 'bounced', providerEmailId: null });
    expect((await send(project, mailOf(to))).status).toBe(200);
    expect((await batch(project, [mailOf(to), mailOf(to.slice(0, 1))])).status).toBe(200);
    expect(await countedForOwner(project.developer)).toEqual([2, 4]);
  });

  test('429 MAIL_QUOTA_EXCEEDED for a batch that does not fit; nothing is counted', async () => {
    const project = await newProject([], await newDeveloper('free'));
    expect(await batch(project, batchOf(3, 34))).toMatchObject(exceeded('100 for all projects'));
    expect(await countedForOwner(project.developer)).toEqual([0, 0]);
    expect(await mailUsage(await domainProject(project))).toMatchObject({ used: 0 });
    expect((await batch(project, batchOf(2, 50))).status).toBe(200);
  });
});

describe('the counts of an owner’s month', () => {
  test('are refunded once when an email is rejected, however many runs there are', async () => {
    const owned = await newProject([], await newDeveloper('free'));
    const project = await domainProject(owned);
    const { id } = await sendMail(project, mailOf(addresses(7)));
    await sendMail(project, mailOf(addresses(2)));
    expect(await countedForOwner(owned.developer)).toEqual([2, 9]);
    provider.meet(422);
    await inParallel(50, () => deliverMail(id, 1).catch(() => undefined));
    await inParallel(50, () => deliverMail(id, 2).catch(() => undefined));
    expect(await countedForOwner(owned.developer)).toEqual([1, 2]);
    expect(await mailUsage(project)).toMatchObject({ used: 1 });
  });

  test('stay when the email was sent', async () => {
    const owned = await newProject([], await newDeveloper('free'));
    const project = await domainProject(owned);
    const { id } = await sendMail(project, mailOf(addresses(7)));
    await deliverMail(id, 1);
    await deliverMail(id, 2);
    expect(await countedForOwner(owned.developer)).toEqual([1, 7]);
  });

  test('are refunded when the provider rejects a batch', async () => {
    const owned = await newProject([], await newDeveloper('free'));
    provider.next(422);
    expect((await batch(owned, batchOf(3, 5))).status).toBe(200);
    expect(await countedForOwner(owned.developer)).toEqual([0, 0]);
    expect((await batch(owned, batchOf(3, 5))).status).toBe(200);
    expect(await countedForOwner(owned.developer)).toEqual([3, 15]);
  });

  test('are refunded when a crash left an email that was never accepted', async () => {
    const key = newOwnerKey();
    const project = { id: new ObjectId().toHexString(), plan: 'free' as const };
    const old = ObjectId.createFromTime(Date.now() / 1000 - 3600).toHexString();
    const taken = await reserveQuota(project, [old], { shared: { owner: key, recipients: { [old]: 4 } } });
    if (!taken.taken) throw taken.refusal;
    expect(await countedFor(key)).toEqual([1, 4]);
    expect(await finalizeHeldSlots(taken.slots)).toBe(1);
    expect(await finalizeHeldSlots(taken.slots)).toBe(0);
    expect(await countedFor(key)).toEqual([0, 0]);
  });

  test('are refunded with the project’s next delivery when a crash left emails behind', async () => {
    const owned = await newProject([], await newDeveloper('free'));
    const project = await domainProject(owned);
    const old = [1, 2].map((n) =>
      ObjectId.createFromTime(Date.now() / 1000 - 3600)
        .toHexString()
        .replace(/.$/, String(n)),
    );
    const recipients = Object.fromEntries(old.map((id) => [id, 4]));
    const taken = await reserveQuota(project, old, { shared: { owner: project.ownerKey, recipients } });
    expect([taken.taken, await countedForOwner(owned.developer)]).toEqual([true, [2, 8]]);
    const { id } = await sendMail(project, mailOf());
    await deliverMail(id, 1);
    expect(await countedForOwner(owned.developer)).toEqual([1, 1]);
    expect((await heldSlots(project.id, month)).ids).toEqual([]);
  });

  test('count once when the table’s response was lost', async () => {
    const owned = await newProject([], await newDeveloper('free'));
    const project = await domainProject(owned);
    loseFirstAnswers();
    const { id } = await sendMail(project, mailOf(addresses(3)));
    provider.meet(422);
    const counted = await countedForOwner(owned.developer);
    await deliverMail(id, 1);
    vi.restoreAllMocks();
    expect([counted, await countedForOwner(owned.developer)]).toEqual([
      [1, 3],
      [0, 0],
    ]);
  });
});
