import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { managedBucket } from '../../shared/files/bucket.ts';
import { onProject } from '../../shared/persistence/mongo.ts';
import type { Project } from '../../shared/projects/project.ts';
import { type TransferRecord, transferKey } from '../../shared/transfers/transfer.ts';
import { measured, startMeasured } from '../support/clients/measured-process.ts';
import { killHard } from '../support/faults/kill-hard.ts';
import { newProject } from '../support/fixtures/project.ts';
import { domainProject } from '../support/fixtures/stored-users.ts';
import { abandon, heldExport, heldImport, heldUpload, recordOf } from '../support/fixtures/transfers.ts';
import { stored } from '../support/fixtures/trash.ts';

const documents = 100_000;
const perInsert = 5000;
const script = 'transfer-process.ts';

let project: Project;

beforeAll(async () => {
  const made = await newProject([
    { name: 'events' },
    { name: 'numbers', schema: [{ key: 'n', type: 'Number', required: true }] },
    { name: 'lines', schema: [{ key: 'slug', type: 'String', unique: true }] },
  ]);
  project = await domainProject(made);
  for (let start = 0; start < documents; start += perInsert) {
    const batch = Array.from({ length: perInsert }, (_, n) => ({ n: start + n, text: 'é'.repeat(500) }));
    await onProject(project, (db) => db.collection('events').insertMany(batch), 30_000);
  }
});

/** Returns the numbers of the documents in an exported file, in order. */
const numbersIn = async (record: TransferRecord): Promise<number[]> => {
  const answer = await fetch(await managedBucket.presignDownload(transferKey(record), 60));
  const lines = (await answer.text()).trimEnd().split('\n');
  return lines.map((line) => (JSON.parse(line) as { n: number }).n);
};

const inOrder = Array.from({ length: documents }, (_, n) => n);
const linesDone = async (record: TransferRecord): Promise<number> => {
  const now = await recordOf(record);
  return now.kind === 'export' ? now.count : now.line;
};

/** Runs a transfer and kills each run after `step` more documents or lines until it is done. Returns the kill count. */
const runAndKill = async (record: TransferRecord, step: number): Promise<number> => {
  for (let kills = 0; ; kills++) {
    const goal = (await linesDone(record)) + step;
    const { child, ended } = startMeasured(script, record._id.toHexString());
    for (;;) {
      const { state } = await recordOf(record);
      if (state === 'done') {
        await ended;
        return kills;
      }
      if ((await linesDone(record)) >= goal) break;
      await pause(5);
    }
    killHard(child.pid);
    await ended;
    if ((await recordOf(record)).state === 'done') return kills;
    await abandon(record);
  }
};

test('100 000 documents of over 100 MB are exported in a heap of 64 MiB', async () => {
  const record = await heldExport(project.id, 'events');
  const { seconds, peakMiB } = await measured(script, record._id.toHexString());
  const rate = Math.round(documents / seconds);
  process.stdout.write(`export: ${rate} documents/s, heap at most ${peakMiB.toFixed(1)} MiB\n`);
  expect(await recordOf(record)).toMatchObject({ state: 'done', count: documents });
  expect(await numbersIn(record)).toEqual(inOrder);
});

test('export contains each document once and in order when its runs are killed', async () => {
  const record = await heldExport(project.id, 'events');
  expect(await runAndKill(record, 20_000)).toBeGreaterThan(1);
  expect(await recordOf(record)).toMatchObject({ state: 'done', count: documents });
  expect(await numbersIn(record)).toEqual(inOrder);
});

test('import stores each line once when its runs are killed', async () => {
  const lines = Array.from({ length: 60_000 }, (_, n) => JSON.stringify({ slug: `s${n}`, text: 'x'.repeat(100) }));
  const record = await heldImport(project.id, 'lines', lines.join('\n'));
  expect(await runAndKill(record, 10_000)).toBeGreaterThan(1);
  expect(await recordOf(record)).toMatchObject({ state: 'done', inserted: 60_000, rejected: 0, line: 60_000 });
  expect(await stored(project, 'lines')).toBe(60_000);
});

/** Ten lines, of which nine are 40 KB long and rejected, and one becomes a document. */
const text = 'é'.repeat(20_000);
const files = {
  ndjson: { first: '', block: `${`{"text":"${text}"}\n`.repeat(9)}{"n":1}\n`, count: 2900 },
  csv: { first: 'n,text\n', block: `${`,${text}\n`.repeat(9)}1,\n`, count: 800 },
} as const;

test.each(['ndjson', 'csv'] as const)('large file of %s is imported in a heap of 64 MiB', async (format) => {
  const { record, size } = await heldUpload(project.id, 'numbers', { format, ...files[format] });
  const before = await stored(project, 'numbers');
  const { seconds, peakMiB } = await measured(script, record._id.toHexString());
  const mebibytes = size / 1024 ** 2;
  process.stdout.write(
    `import of ${mebibytes.toFixed(0)} MiB of ${format}: ${(mebibytes / seconds).toFixed(0)} MiB/s, heap at most ${peakMiB.toFixed(1)} MiB\n`,
  );
  const { count } = files[format];
  expect(await recordOf(record)).toMatchObject({ state: 'done', inserted: count, rejected: 9 * count, bytes: size });
  expect((await stored(project, 'numbers')) - before).toBe(count);
});

test.each(['ndjson', 'csv'] as const)(
  'import of a %s file continues at the last position when its runs are killed',
  async (format) => {
    const lines = { ndjson: `{"n":1,"text":"${'x'.repeat(100)}"}\n`, csv: `1,${'x'.repeat(100)}\n` };
    const { first } = files[format];
    const { record, size } = await heldUpload(project.id, 'numbers', {
      format,
      first,
      block: lines[format],
      count: 40_000,
    });
    const before = await stored(project, 'numbers');
    expect(await runAndKill(record, 10_000)).toBeGreaterThan(1);
    expect(await recordOf(record)).toMatchObject({ state: 'done', inserted: 40_000, rejected: 0, bytes: size });
    expect((await stored(project, 'numbers')) - before).toBe(40_000);
  },
);
