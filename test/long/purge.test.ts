import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import type { Project } from '../../shared/projects/project.ts';
import { type Measured, measured, startMeasured } from '../support/clients/measured-process.ts';
import { killHard } from '../support/faults/kill-hard.ts';
import { newProject } from '../support/fixtures/project.ts';
import { domainProject } from '../support/fixtures/stored-users.ts';
import { addTrashed, stored } from '../support/fixtures/trash.ts';

const expired = 100_000;
const kept = 2000;

const startPurge = ({ id }: Project) => startMeasured('purge-process.ts', id);
const purge = ({ id }: Project): Promise<Measured> => measured('purge-process.ts', id);

/** Creates a project with `count` expired documents in its trash and `kept` documents that have not expired. */
const withTrash = async (count: number): Promise<Project> => {
  const made = await newProject([{ name: 'events', schema: [{ key: 'slug', type: 'String', unique: true }] }]);
  const project = await domainProject(made);
  const text = 'x'.repeat(300);
  await addTrashed(project, 'events', count, 31, (n) => ({ slug: `old-${n}`, text }));
  await addTrashed(project, 'events', kept, 3, (n) => ({ slug: `kept-${n}`, text }));
  return project;
};

let small: Measured;

beforeAll(async () => {
  small = await purge(await withTrash(5000));
});

test('100 000 expired documents are deleted at over 1 000 a second in the memory of 5 000', async () => {
  const project = await withTrash(expired);
  const { removed = 0, seconds, peakMiB } = await purge(project);
  const rate = Math.round(removed / seconds);
  process.stdout.write(`purge: ${rate} documents/s, heap at most ${peakMiB.toFixed(1)} MiB\n`);
  expect(removed).toBe(expired);
  expect(await stored(project, 'events')).toBe(kept);
  // One by one, about 500 a second would be deleted.
  expect(rate).toBeGreaterThan(1000);
  expect(peakMiB - small.peakMiB).toBeLessThan(25);
});

test('purge that was killed is continued by the next one, and documents that have not expired stay', async () => {
  const project = await withTrash(expired);
  let runs = 0;
  let left = expired;
  while (left > expired / 2) {
    const { child, ended } = startPurge(project);
    const before = left;
    while (left > before - 20_000) {
      await pause(5);
      left = (await stored(project, 'events')) - kept;
    }
    killHard(child.pid);
    await ended;
    runs += 1;
  }
  expect(runs).toBeGreaterThan(1);
  left = (await stored(project, 'events')) - kept;
  expect((await purge(project)).removed ?? 0).toBe(left);
  expect(await stored(project, 'events', { isDeleted: true })).toBe(kept);
});
