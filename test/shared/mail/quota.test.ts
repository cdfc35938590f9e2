import { describe, expect, test, vi } from 'vitest';
import { dayAt } from '../../../shared/core/clock.ts';
import { mailSettings } from '../../../shared/core/config.ts';
import { log } from '../../../shared/core/log.ts';
import { monthKey, monthOf, ownerMonthKey, sharedCounters } from '../../../shared/mail/limits.ts';
import {
  confirmQuota,
  countRows,
  heldSlots,
  type MailUse,
  mailUsage,
  refundQuota,
  reserveQuota,
} from '../../../shared/mail/quota.ts';
import { JsonClient } from '../../../shared/persistence/aws-client.ts';
import { itemKey, partitionKey } from '../../../shared/persistence/item-keys.ts';
import * as kinds from '../../../shared/persistence/table-keys.ts';
import { plans } from '../../../shared/projects/plans.ts';
import { laterRefusalOf } from '../../support/data/refusal.ts';
import { useMemoryTable } from '../../support/fixtures/memory-table.ts';

const { time, read, put } = useMemoryTable();
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
    expect(warn).toHaveBeenCalledTimes(1);
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
