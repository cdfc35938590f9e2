import { ObjectId } from 'mongodb';
import { describe, expect, test, vi } from 'vitest';
import { dayAt, dayMs } from '../../../shared/core/clock.ts';
import { mailSettings } from '../../../shared/core/config.ts';
import { log } from '../../../shared/core/log.ts';
import {
  monthKey,
  monthOf,
  ownerMonthKey,
  requireVerifiedOwner,
  type SharedUse,
  sharedCounters,
  sharedUse,
} from '../../../shared/mail/limits.ts';
import {
  confirmQuota,
  countRows,
  finalizeHeldSlots,
  heldSlots,
  type MailUse,
  mailUsage,
  refundQuota,
  reserveQuota,
  reserveSlots,
} from '../../../shared/mail/quota.ts';
import { JsonClient } from '../../../shared/persistence/aws-client.ts';
import { itemKey, partitionKey } from '../../../shared/persistence/item-keys.ts';
import * as kinds from '../../../shared/persistence/table-keys.ts';
import { plans } from '../../../shared/projects/plans.ts';
import { laterRefusalOf } from '../../support/data/refusal.ts';
import { useMemoryMongo } from '../../support/fixtures/memory-mongo.ts';
import { useMemoryTable } from '../../support/fixtures/memory-table.ts';

const { time, read, put } = useMemoryTable();
const { state, insert } = useMemoryMongo();
let days = 0;
const project = { id: 'a'.repeat(24), plan: 'free' } as const;
const { mailsPerMonth, recipientsPerMonth, projects } = plans.free;
const owner = 'owner';
const monthItem = () => read(monthKey(project.id, monthOf(time.now)));
const ownerItem = () => read(ownerMonthKey(owner, monthOf(time.now)));

const shared = (recipients: Readonly<Record<string, number>>): MailUse => ({ shared: { owner, recipients } });
const taken = async (ids: readonly string[], use?: MailUse) => {
  const outcome = await reserveQuota(project, ids, use);
  if (!outcome.taken) throw outcome.refusal;
  return outcome;
};
const refusedBy = async (ids: readonly string[], use?: MailUse): Promise<string> => {
  const outcome = await reserveQuota(project, ids, use);
  return outcome.taken ? 'taken' : outcome.refusal.message;
};

describe('a reservation of emails', () => {
  test('counts slots and log entries, and returns the usage', async () => {
    expect(await taken(['a', 'b'], { rows: 3 })).toMatchObject({ usage: { used: 2, limit: mailsPerMonth } });
    expect(await monthItem()).toMatchObject({ used: 2, rows10: 3, held: new Set(['a', 'b']) });
    expect(await mailUsage(project)).toEqual({ used: 2, limit: mailsPerMonth });
  });

  test('429 MAIL_QUOTA_EXCEEDED when the project has no slot left', async () => {
    await put({ ...monthKey(project.id, monthOf(time.now)), used: mailsPerMonth - 1 });
    await taken(['a']);
    expect(await refusedBy(['b'])).toContain(`its plan allows ${mailsPerMonth} emails a month`);
    expect(await reserveQuota(project, ['b'])).toMatchObject({
      held: { projectId: project.id, month: monthOf(time.now), ids: ['a'] },
    });
  });

  test('429 MAIL_QUOTA_EXCEEDED when the log has no room for the day', async () => {
    const rows = 4 * mailsPerMonth;
    expect(await countRows(project, rows)).toEqual({ used: 0, limit: mailsPerMonth });
    expect(await laterRefusalOf(countRows(project, 1))).toMatchObject({
      code: 'MAIL_QUOTA_EXCEEDED',
      message: expect.stringContaining(`takes ${rows} emails a day`),
    });
    expect(await refusedBy(['a'])).toContain(`takes ${rows} emails a day`);
  });

  test('429 MAIL_QUOTA_EXCEEDED when the owner has no email left with the shared key', async () => {
    const all = mailsPerMonth * projects;
    await put({ ...ownerMonthKey(owner, monthOf(time.now)), mails: all - 1 });
    await taken(['a'], shared({ a: 1 }));
    expect(await refusedBy(['b'], shared({ b: 1 }))).toContain('The monthly limit of emails');
    expect(await monthItem()).toMatchObject({ used: 1 });
  });

  test('429 MAIL_QUOTA_EXCEEDED when the owner has no recipient left with the shared key', async () => {
    await put({ ...ownerMonthKey(owner, monthOf(time.now)), recipients: recipientsPerMonth - 4 });
    expect(await refusedBy(['a', 'b'], shared({ a: 2, b: 3 }))).toContain('The monthly limit of recipients');
    expect((await taken(['a', 'b'], shared({ a: 2, b: 2 }))).usage).toBeUndefined();
    expect(await ownerItem()).toMatchObject({ mails: 2, recipients: recipientsPerMonth });
  });

  test('429 MAIL_QUOTA_EXCEEDED when the service has no recipient left for the day', async () => {
    // The process warns one time a day.
    time.now += ++days * dayMs;
    const day = itemKey(kinds.serviceRecipients, partitionKey('service'), { day: dayAt(time.now).name });
    await put({ ...day, today: mailSettings().MAIL_RECIPIENTS_PER_DAY - 3 });
    const warn = vi.spyOn(log, 'warn').mockReturnValue();
    await put({ ...monthKey('d'.repeat(24), monthOf(time.now)), used: mailsPerMonth });
    expect(await reserveQuota({ ...project, id: 'd'.repeat(24) }, ['x'])).toMatchObject({ taken: false });
    expect(warn).not.toHaveBeenCalled();
    await taken(['a'], shared({ a: 2 }));
    await refusedBy(['b'], shared({ b: 2 }));
    expect(await refusedBy(['b'], shared({ b: 2 }))).toContain('has reached its daily limit');
    await taken(['c'], shared({ c: 1 }));
    await refusedBy(['c'], shared({ c: 2 }));
    expect(warn).toHaveBeenCalledTimes(1);
    time.now += ++days * dayMs;
    const next = itemKey(kinds.serviceRecipients, partitionKey('service'), { day: dayAt(time.now).name });
    await put({ ...next, today: mailSettings().MAIL_RECIPIENTS_PER_DAY });
    await refusedBy(['d'], shared({ d: 1 }));
    expect(warn).toHaveBeenCalledTimes(2);
  });

  test('counts no recipients of the service when they have no limit, or are not counted any more', async () => {
    const one = { owner, recipients: { a: 2 } };
    const day = dayAt(time.now).name;
    const counted = (use: SharedUse) => sharedCounters(use, ['a'], monthOf(time.now)).length;
    expect([counted({ ...one, day }), counted(one)]).toEqual([2, 1]);
    vi.resetModules();
    vi.stubEnv('MAIL_RECIPIENTS_PER_DAY', '0');
    const limits = await import('../../../shared/mail/limits.ts');
    expect(limits.sharedCounters({ ...one, day }, ['a'], monthOf(time.now))).toHaveLength(1);
  });

  test('counts nothing of the owner for emails without recipients of the shared key', () => {
    expect(sharedCounters({ owner, recipients: {} }, ['a'], monthOf(time.now))).toEqual([]);
  });
});

describe('a refund of slots', () => {
  test('gives back emails and recipients, each one time', async () => {
    const { slots } = await taken(['a', 'b'], shared({ a: 2, b: 3 }));
    expect(await refundQuota({ ...slots, ids: ['a'] })).toBe(1);
    expect(await monthItem()).toMatchObject({ used: 1 });
    expect(await ownerItem()).toMatchObject({ mails: 1, recipients: 3 });
    expect(await refundQuota(slots)).toBe(1);
    expect(await refundQuota(slots)).toBe(0);
    expect(await monthItem()).toMatchObject({ used: 0, rows10: 2 });
    expect(await ownerItem()).toMatchObject({ mails: 0, recipients: 0 });
  });

  test('of a confirmed email changes nothing', async () => {
    const { slots } = await taken(['a', 'b']);
    await confirmQuota({ ...slots, ids: ['a'] });
    expect(await refundQuota(slots)).toBe(1);
    expect(await monthItem()).toMatchObject({ used: 1 });
    vi.mocked(JsonClient.prototype.send).mockClear();
    await confirmQuota({ ...slots, ids: [] });
    expect(await refundQuota({ ...slots, ids: [] })).toBe(0);
    expect(JsonClient.prototype.send).not.toHaveBeenCalled();
  });

  test('of slots that a crash left behind gives back the shared ones and those of an own key', async () => {
    await taken(['a'], shared({ a: 2 }));
    await taken(['b']);
    expect(await heldSlots(project.id, monthOf(time.now))).not.toHaveProperty('shared');
    const held = await heldSlots(project.id, monthOf(time.now), owner);
    expect(held).toMatchObject({ shared: { owner, recipients: { a: 2 } } });
    expect(await refundQuota(held)).toBe(2);
    expect(await monthItem()).toMatchObject({ used: 0 });
    expect(await ownerItem()).toMatchObject({ mails: 0, recipients: 0 });
  });
});

describe('slots that a crash left behind', () => {
  const patienceMs = 15 * 60_000;
  const idAt = (ms: number, count: number): string =>
    new ObjectId(`${Math.floor(ms / 1000).toString(16)}${count.toString(16).padStart(16, '0')}`).toHexString();
  const ids = (count: number, ms = time.now): string[] => Array.from({ length: count }, (_, at) => idAt(ms, at));
  const logged = (id: string, rest: object) => insert('mailLogs', { _id: new ObjectId(id), ...rest });
  const month = () => monthOf(time.now);
  const held = () => heldSlots(project.id, month(), owner);
  const finalize = async () => finalizeHeldSlots(await held());

  test('are given back if the email failed or has no log entry, and kept if it was sent', async () => {
    const warn = vi.spyOn(log, 'warn').mockReturnValue();
    const [sent = '', failed = '', lost = '', queued = ''] = ids(4);
    await taken([sent, failed, lost, queued], shared({ [lost]: 3 }));
    logged(sent, { status: 'sent' });
    logged(failed, { status: 'failed' });
    logged(queued, { status: 'failed', job: { slot: true } });
    logged(idAt(time.now, 9), { status: 'sent' });
    time.now += patienceMs;
    expect(await finalize()).toBe(0);
    expect(state.commands).toEqual([]);
    time.now += 1;
    expect(await finalize()).toBe(2);
    expect(state.commands.at(-1)?.filter._id.$in).toHaveLength(4);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(await monthItem()).toMatchObject({ used: 2, held: new Set([queued]) });
    expect(await ownerItem()).toMatchObject({ mails: 0, recipients: 0 });
    expect(await finalize()).toBe(0);
    expect(warn).toHaveBeenCalledTimes(1);
  });

  test.each(['sent', 'failed'])('are looked after 100 at a time if they are %s', async (status) => {
    vi.spyOn(log, 'warn').mockReturnValue();
    const all = ids(101);
    await put({ ...monthKey(project.id, month()), used: 101, held: new Set(all) });
    for (const id of all) logged(id, { status });
    time.now += patienceMs + 1;
    const sending = vi.mocked(JsonClient.prototype.send);
    const slots = await held();
    sending.mockClear();
    expect(await finalizeHeldSlots(slots)).toBe(status === 'failed' ? 101 : 0);
    expect(sending).toHaveBeenCalledTimes(2);
    expect(await monthItem()).toMatchObject({ used: status === 'failed' ? 0 : 101 });
    expect(await monthItem()).not.toHaveProperty('held');
  });

  test('are given back when the quota is full, before 429 MAIL_QUOTA_EXCEEDED', async () => {
    vi.spyOn(log, 'warn').mockReturnValue();
    const key = monthKey(project.id, month());
    const [left = '', another = '', a = '', b = '', c = ''] = ids(5);
    await put({ ...key, used: mailsPerMonth - 1, held: new Set([left]) });
    expect(await reserveSlots(project, [a])).toMatchObject({ usage: { used: mailsPerMonth } });
    const sending = vi.mocked(JsonClient.prototype.send);
    sending.mockClear();
    const refusal = await laterRefusalOf(reserveSlots(project, [b]));
    expect(sending).toHaveBeenCalledTimes(1);
    expect(refusal.code).toBe('MAIL_QUOTA_EXCEEDED');
    expect(state.commands).toEqual([]);
    await put({ ...key, used: mailsPerMonth, held: new Set([left, another]) });
    logged(another, { status: 'sent' });
    time.now += patienceMs + 1;
    expect(await reserveSlots(project, [b])).toMatchObject({ taken: true, usage: { used: mailsPerMonth } });
    await put({ ...key, used: mailsPerMonth, held: new Set([another]) });
    expect(await laterRefusalOf(reserveSlots(project, [c]))).toMatchObject({ code: 'MAIL_QUOTA_EXCEEDED' });
  });
});

describe('the shared mail key', () => {
  const sender = { id: project.id, ownerKey: owner, ownerVerified: false, sealedProviderApiKey: null };
  const loaded = (rows: readonly object[]) => {
    state.replies = { aggregate: { ok: 1, cursor: { id: 0n, ns: 'control.projects', firstBatch: rows } } };
  };

  test('403 EMAIL_NOT_VERIFIED unless its owner has verified an address, by the current record', async () => {
    const record = { _id: new ObjectId(project.id), ownerId: new ObjectId(), placement: { kind: 'managed' } };
    const notVerified = { code: 'EMAIL_NOT_VERIFIED' };
    loaded([]);
    expect(await laterRefusalOf(requireVerifiedOwner(sender))).toMatchObject(notVerified);
    loaded([{ ...record, ownerVerified: false }]);
    expect(await laterRefusalOf(requireVerifiedOwner(sender))).toMatchObject(notVerified);
    loaded([{ ...record, ownerVerified: true }]);
    await requireVerifiedOwner(sender);
  });

  test('is not needed with a key of its own, and a verified owner is not read', async () => {
    loaded([]);
    await requireVerifiedOwner({ ...sender, sealedProviderApiKey: 'sealed' });
    await requireVerifiedOwner({ ...sender, ownerVerified: true });
    expect(state.commands).toEqual([]);
  });

  test('counts the recipients of each email, and none with a key of its own', () => {
    const _id = new ObjectId();
    const mails = [{ _id, to: ['a', 'b'] }];
    expect(sharedUse(sender, mails)).toEqual({ shared: { owner, recipients: { [_id.toHexString()]: 2 } } });
    expect(sharedUse({ ...sender, sealedProviderApiKey: 'sealed' }, mails)).toEqual({});
  });
});
