import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { inBackground, restAfter } from '../../../shared/core/background.ts';

/** Which of the two is over first. */
const first = (one: Promise<unknown>, other: Promise<unknown>): Promise<'one' | 'other'> =>
  Promise.race([one.then(() => 'one' as const), other.then(() => 'other' as const)]);

describe('restAfter', () => {
  test('rests in the background as long as a step has taken, and nowhere else', async () => {
    expect(await inBackground(() => first(restAfter(300), pause(30)))).toBe('other');
    expect(await first(restAfter(60_000), pause(10_000, undefined, { ref: false }))).toBe('one');
  });

  test('goes on in the background with whatever is begun there, side by side, and never rests for longer than a second', async () => {
    await inBackground(async () => {
      await pause(1);
      expect(await first(Promise.all([restAfter(300), restAfter(300)]), pause(30))).toBe('other');
      expect(await first(restAfter(60_000), pause(20_000, undefined, { ref: false }))).toBe('one');
    });
  });
});
