import { randomBytes } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { clock } from '../../../shared/core/clock.ts';
import { type MailLog, mailLogs } from '../../../shared/mail/log.ts';
import {
  confirmQuota,
  heldSlots,
  mailUsage,
  refundQuota,
  reserveQuota,
  reserveSlots,
} from '../../../shared/mail/quota.ts';
import { newJob, newLog } from '../../../shared/mail/send.ts';
import { inParallel } from '../../support/clients/client.ts';
import { laterRefusalOf } from '../../support/data/refusal.ts';

let project: { readonly id: string; readonly plan: 'free' | 'pro' };
beforeEach(() => {
  project = { id: new ObjectId().toHexString(), plan: 'free' };
});
afterEach(() => {
  vi.restoreAllMocks();
});

const newIds = (count: number): string[] => Array.from({ length: count }, () => new ObjectId().toHexString());
/** An id of an hour ago. */
const oldId = (): string =>
  ObjectId.createFromTime(Date.now() / 1000 - 3600)
    .toHexString()
    .slice(0, 8) + randomBytes(8).toString('hex');
const month = new Date().toISOString().slice(0, 7);
const used = async (): Promise<number> => (await mailUsage(project)).used;
const held = async (): Promise<readonly string[]> => [...(await heldSlots(project.id, month)).ids].sort();
const at = (time: string): void => {
  vi.spyOn(clock, 'now').mockReturnValue(Date.parse(time));
};

describe('reserving slots', () => {
  test('counts each email, up to the limit of the plan', async () => {
    expect((await reserveSlots(project, newIds(1))).usage).toEqual({ used: 1, limit: 25 });
    expect((await reserveSlots(project, newIds(24))).usage).toEqual({ used: 25, limit: 25 });
    expect(await laterRefusalOf(reserveSlots(project, newIds(1)))).toMatchObject({ code: 'MAIL_QUOTA_EXCEEDED' });
    expect(await mailUsage(project)).toEqual({ used: 25, limit: 25 });
    expect((await reserveSlots({ ...project, plan: 'pro' }, newIds(100))).usage).toEqual({ used: 125, limit: 1000 });
  });

  test('reserves all or nothing', async () => {
    await reserveSlots(project, newIds(20));
    expect(await laterRefusalOf(reserveSlots(project, newIds(6)))).toMatchObject({ code: 'MAIL_QUOTA_EXCEEDED' });
    expect(await laterRefusalOf(reserveSlots(project, newIds(26)))).toMatchObject({ code: 'MAIL_QUOTA_EXCEEDED' });
    expect(await used()).toBe(20);
  });

  test('never exceeds the limit with 50 concurrent calls', async () => {
    const taken = await inParallel(50, async () => (await reserveQuota(project, newIds(3))).taken);
    expect(taken.filter(Boolean)).toHaveLength(8);
    expect(await used()).toBe(24);
  });

  test('counts an email once when the client repeats a lost write', async () => {
    const [id = ''] = newIds(1);
    await reserveSlots(project, [id]);
    expect((await reserveSlots(project, [id])).usage?.used).toBe(1);
  });

  test('429 with the end of the month, at most a day', async () => {
    at('2026-02-28T23:59:00Z');
    await reserveSlots(project, newIds(25));
    await expect(reserveSlots(project, newIds(1))).rejects.toMatchObject({ retryAfter: 60 });
    at('2026-02-10T00:00:00Z');
    await expect(reserveSlots(project, newIds(1))).rejects.toMatchObject({ retryAfter: 86_400 });
    at('2026-03-01T00:00:00Z');
    expect((await reserveSlots(project, newIds(1))).usage?.used).toBe(1);
  });
});

describe('refunding slots', () => {
  test('refunds each slot once with 50 concurrent calls', async () => {
    const { slots } = await reserveSlots(project, newIds(1));
    await reserveSlots(project, newIds(1));
    const back = await inParallel(50, () => refundQuota(slots));
    expect(back.filter((count) => count === 1)).toHaveLength(1);
    expect(await used()).toBe(1);
  });

  test('refunds the slots of a batch together, each once when some were refunded before', async () => {
    const ids = newIds(100);
    const { slots } = await reserveSlots({ ...project, plan: 'pro' }, ids);
    expect(await refundQuota({ ...slots, ids: ids.slice(0, 90) })).toBe(90);
    expect(await refundQuota({ ...slots, ids: ids.slice(80) })).toBe(10);
    expect(await used()).toBe(0);
  });

  test('refunds no confirmed slot, and refunds to the month of the reservation', async () => {
    at('2026-05-31T23:59:59Z');
    const { slots } = await reserveSlots(project, newIds(2));
    at('2026-06-01T00:00:01Z');
    const [first = '', second = ''] = slots.ids;
    await confirmQuota({ ...slots, ids: [first] });
    await confirmQuota({ ...slots, ids: [first] });
    expect([await refundQuota({ ...slots, ids: [first] }), await refundQuota({ ...slots, ids: [second] })]).toEqual([
      0, 1,
    ]);
    expect(await used()).toBe(0);
    at('2026-05-31T23:59:59Z');
    expect(await used()).toBe(1);
  });

  test('does nothing for a project without slots', async () => {
    expect(await refundQuota({ projectId: project.id, month, ids: newIds(1) })).toBe(0);
    await confirmQuota({ projectId: project.id, month, ids: newIds(1) });
    expect(await mailUsage(project)).toEqual({ used: 0, limit: 25 });
  });
});

describe('slots that a crash left behind', () => {
  const row = (id: string, status: MailLog['status'], waits: boolean): MailLog => {
    const log = { _id: new ObjectId(id), to: [], subject: '', usingByok: false, templateUsed: null };
    return newLog({
      ...log,
      projectId: project.id,
      status,
      ...(waits && { job: { ...newJob(24 * 3600), slot: month } }),
    });
  };

  test('are refunded before an email is rejected, except those of pending or sent emails', async () => {
    const [never, failed, waiting, sent] = [oldId(), oldId(), oldId(), oldId()];
    const fresh = newIds(1);
    await reserveQuota(project, [never, failed, waiting, sent, ...fresh]);
    await reserveQuota(project, newIds(20));
    await mailLogs.insertMany([
      row(failed, 'failed', false),
      row(waiting, 'queued', true),
      row(sent, 'delivered', false),
    ]);
    expect((await reserveSlots(project, newIds(1))).usage?.used).toBe(24);
    expect(await held()).toEqual(expect.arrayContaining([waiting, ...fresh]));
    for (const id of [never, failed, sent]) expect(await held()).not.toContain(id);
    await reserveSlots(project, newIds(1));
    expect(await laterRefusalOf(reserveSlots(project, newIds(1)))).toMatchObject({ code: 'MAIL_QUOTA_EXCEEDED' });
  });

  test('are refunded once with 50 concurrent calls', async () => {
    await reserveQuota(project, [oldId(), oldId(), oldId(), ...newIds(22)]);
    const taken = await inParallel(50, () =>
      reserveSlots(project, newIds(1)).then(
        () => true,
        () => false,
      ),
    );
    expect(taken.filter(Boolean)).toHaveLength(3);
    expect(await used()).toBe(25);
  });
});
