import { expect, test } from 'vitest';
import { measured } from '../support/measured-process.ts';
import { newProject } from '../support/project.ts';

/** Half of what a function has deployed. */
const heapMiB = 256;

/** What the heap of a warm function may have grown by. */
const boundMiB = 2;

test('the heap of a warm function is the same after 100 000 requests', async () => {
  const project = await newProject([{ name: 'notes', schema: null }]);
  const { beforeMiB = 0, afterMiB = 0, seconds } = await measured('warm-function.ts', project.secretKey, heapMiB);
  process.stdout.write(
    `heap ${beforeMiB.toFixed(2)} MiB before, ${afterMiB.toFixed(2)} MiB after 100 000 requests in ${seconds.toFixed(0)} s\n`,
  );
  expect(beforeMiB).toBeGreaterThan(0);
  expect(afterMiB - beforeMiB).toBeLessThan(boundMiB);
});
