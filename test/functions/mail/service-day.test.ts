import { ObjectId } from 'mongodb';
import { afterEach, expect, test, vi } from 'vitest';
import { clock } from '../../../shared/core/clock.ts';
import { log } from '../../../shared/core/log.ts';
import { refundQuota, reserveQuota } from '../../../shared/mail/quota.ts';
import { inParallel } from '../../support/clients/client.ts';
import { newOwnerKey } from '../../support/fixtures/owner.ts';

process.env.MAIL_RECIPIENTS_PER_DAY = '30';

afterEach(() => {
  vi.restoreAllMocks();
});

/** An email with three recipients, of a new project and owner. */
const takeThree = () => {
  const id = new ObjectId().toHexString();
  const project = { id: new ObjectId().toHexString(), plan: 'free' as const };
  return reserveQuota(project, [id], { shared: { owner: newOwnerKey(), recipients: { [id]: 3 } } });
};

test('429 MAIL_QUOTA_EXCEEDED for all except 10 of 50 concurrent owners when the day has 30 recipients; the operator is warned once', async () => {
  const day = Date.UTC(2100, 0, 1 + Math.floor(Math.random() * 100_000), 12);
  vi.spyOn(clock, 'now').mockReturnValue(day);
  const told = vi.spyOn(log, 'warn').mockReturnValue(undefined);
  const outcomes = await inParallel(50, async () => {
    for (;;) {
      const outcome = await takeThree().catch(() => undefined);
      if (outcome) return outcome;
    }
  });
  const taken = outcomes.filter((outcome) => outcome.taken);
  expect(taken).toHaveLength(10);
  const [refused] = outcomes.flatMap((outcome) => (outcome.taken ? [] : [outcome.refusal]));
  expect(refused).toMatchObject({ code: 'MAIL_QUOTA_EXCEEDED', retryAfter: 12 * 3600 });
  expect(refused?.message).toMatch(/^The shared mail key has reached its daily limit/);
  expect(told).toHaveBeenCalledTimes(1);

  const [first] = taken;
  if (first) await inParallel(5, () => refundQuota(first.slots).catch(() => 0));
  expect((await takeThree()).taken).toBe(true);
  expect((await takeThree()).taken).toBe(false);
  vi.spyOn(clock, 'now').mockReturnValue(day + 24 * 3600_000);
  expect((await takeThree()).taken).toBe(true);
});
