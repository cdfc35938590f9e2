import { expect, test } from 'vitest';
import { measured } from '../support/measured-process.ts';
import { newProject } from '../support/project.ts';

/** What the heap of a warm function may differ by; it has 64 MiB in this test. */
const boundMiB = 2;

test('the heap of a warm function is the same after 100 000 requests', async () => {
  const project = await newProject([{ name: 'notes', schema: null }]);
  const { beforeMiB = 0, afterMiB = 0, seconds } = await measured('warm-function.ts', project.secretKey);
  process.stdout.write(
    `heap ${beforeMiB.toFixed(2)} MiB before, ${afterMiB.toFixed(2)} MiB after 100 000 requests in ${seconds.toFixed(0)} s\n`,
  );
  expect(beforeMiB).toBeGreaterThan(0);
  expect(afterMiB - beforeMiB).toBeLessThan(boundMiB);
});
