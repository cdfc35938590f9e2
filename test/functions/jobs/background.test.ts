import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { throttled } from '../../../shared/core/concurrency.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';

test('a job pauses as long as its last step took when it works on the shared database', async () => {
  const asked = Promise.withResolvers<void>();
  let ended = false;
  const working = throttled(() =>
    onControl(async (db) => {
      await db.command({ ping: 1 });
      await pause(300);
      asked.resolve();
    }),
  ).then(() => {
    ended = true;
  });
  // This wait starts with the pause of the work and ends before it, also if the process is blocked.
  await asked.promise.then(() => pause(100));
  expect(ended).toBe(false);
  await working;
  const step = onControl(async () => {
    await pause(300);
    return 'ended';
  });
  const after = step.then(() => pause(100, 'later'));
  expect(await Promise.race([after, step.then((word) => word)])).toBe('ended');
});
