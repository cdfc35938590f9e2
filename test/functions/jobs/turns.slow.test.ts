import { ObjectId } from 'mongodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { clock } from '../../../shared/core/clock.ts';
import { runPurge } from '../../../shared/documents/store/purge.ts';
import { cancelTransfer } from '../../../shared/transfers/manage.ts';
import { runTransfer } from '../../../shared/transfers/run-transfer.ts';
import {
  claimTransfer,
  endTransfer,
  failTransfer,
  releaseTransfer,
  saveProgress,
  TransferLost,
} from '../../../shared/transfers/runs.ts';
import type { ImportRecord, TransferRecord } from '../../../shared/transfers/transfer.ts';
import { inParallel } from '../../support/clients/client.ts';
import { answerForQueues } from '../../support/faults/aws-answers.ts';
import { type OwnDatabase, startOwnDatabase } from '../../support/fixtures/own-database.ts';
import { connectOwn, serveVerifiers } from '../../support/fixtures/own-project.ts';
import { newDeveloper, newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';
import { abandon, heldExport, heldImport, idOf, recordOf } from '../../support/fixtures/transfers.ts';
import { addTrashed, purgeDueAt, stored } from '../../support/fixtures/trash.ts';

/** Messages of the work queue, which has no consumer. */
let queued: object[];

beforeEach(() => {
  queued = [];
  answerForQueues(({ input }) => {
    queued.push(JSON.parse(String(input.MessageBody)) as object);
    return {};
  });
});

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the purge of an own database', () => {
  let own: OwnDatabase;
  let stopVerifiers: () => Promise<void>;
  let project: TestProject;

  beforeAll(async () => {
    own = await startOwnDatabase();
    stopVerifiers = await serveVerifiers();
    project = await newProject([{ name: 'notes' }]);
    expect(await connectOwn(project, own.uri('own'))).toMatchObject({ status: 200 });
  });

  afterAll(async () => {
    await stopVerifiers();
    await own.stop();
  });

  test('waits for the schedule when a run does not finish it, like all others within the hour', async () => {
    const domain = await domainProject(project);
    await addTrashed(domain, 'notes', 2500, 31);
    await runPurge(project.id, 1);
    const left = await stored(domain, 'notes');
    expect(left).toBeGreaterThan(0);
    await runPurge(project.id);
    expect(await stored(domain, 'notes')).toBe(left);
    expect(queued).toEqual([]);
    const due = await purgeDueAt(domain);
    expect(due.getTime()).toBeGreaterThan(Date.now());

    vi.spyOn(clock, 'now').mockReturnValue(due.getTime());
    await runPurge(project.id);
    expect(await stored(domain, 'notes')).toBe(0);
    expect((await purgeDueAt(domain)).getTime()).toBeGreaterThan(due.getTime() + 20 * 3600_000);
  });
});

describe('transfers of one owner', () => {
  let first: TestProject;
  let second: TestProject;
  let others: TestProject;

  beforeEach(async () => {
    const developer = await newDeveloper();
    const names = ['a', 'b', 'c'].map((name) => ({ name }));
    first = await newProject(names, developer);
    second = await newProject(names, developer);
    others = await newProject(names);
  });

  const stateOf = async (held: TransferRecord) => {
    const { state, waits } = await recordOf(held);
    return { state, waits };
  };

  const running = { state: 'running', waits: undefined };
  const waiting = { state: 'queued', waits: true };
  const task = (held: TransferRecord) => ({ task: 'transfer', transferId: idOf(held) });

  test('run two at the same time per owner, and do not delay those of others', async () => {
    const held = await Promise.all([
      ...['a', 'b', 'c'].map((name) => heldExport(first.id, name)),
      ...['a', 'b', 'c'].map((name) => heldImport(second.id, name, '{"n":1}')),
    ]);
    await inParallel(held.length, (index) => claimTransfer(idOf(held[index] as TransferRecord)));
    const states = await Promise.all(held.map(stateOf));
    expect(states.filter(({ state }) => state === 'running')).toHaveLength(2);
    expect(states.filter(({ waits }) => waits)).toHaveLength(4);

    const theirs = await heldImport(others.id, 'a', '{"n":1}');
    await runTransfer(idOf(theirs));
    expect(await stateOf(theirs)).toMatchObject({ state: 'done' });
  });

  test('run one after the other, each queued by the previous one', async () => {
    const [a, b, c] = [
      await heldImport(first.id, 'a', '{"n":1}'),
      await heldExport(first.id, 'b'),
      await heldImport(second.id, 'c', '{"n":1}'),
    ];
    await claimTransfer(idOf(a));
    await claimTransfer(idOf(b));
    await runTransfer(idOf(c));
    expect([await stateOf(a), await stateOf(b), await stateOf(c)]).toEqual([running, running, waiting]);

    await abandon(a);
    await runTransfer(idOf(a));
    expect(await stateOf(a)).toMatchObject({ state: 'done' });
    expect(queued).toEqual([task(c)]);
    await runTransfer(idOf(c));
    expect(await stateOf(c)).toEqual({ state: 'done', waits: undefined });
  });

  test('start the next one when they are cancelled, deleted or out of time', async () => {
    const [a, b, c] = [
      await heldExport(first.id, 'a'),
      await heldExport(first.id, 'b'),
      await heldExport(first.id, 'c'),
    ];
    await claimTransfer(idOf(a));
    await claimTransfer(idOf(b));
    await cancelTransfer(await domainProject(first), idOf(a));
    expect(await claimTransfer(idOf(c))).not.toBeNull();

    const late = await heldImport(second.id, 'a', '{"n":1}');
    await claimTransfer(idOf(late));
    expect(await stateOf(late)).toEqual(waiting);
    await abandon(b);
    await runTransfer(idOf(b), 0);
    expect(queued).toEqual([task(late), task(b)]);
    expect(await claimTransfer(idOf(late))).not.toBeNull();
  });

  test('are not changed, released or ended by a run that lost them to another run', async () => {
    const held = await heldImport(first.id, 'a', '{"n":1}');
    const before = await claimTransfer(idOf(held));
    if (!before) throw new Error('The transfer was not free');
    vi.spyOn(clock, 'now').mockReturnValue(before.leasedUntil.getTime());
    const now = await claimTransfer(idOf(held));
    expect(now?.leasedUntil.getTime()).toBeGreaterThan(before.leasedUntil.getTime());
    for (const late of [
      () => saveProgress(before as ImportRecord, { line: 7, inserted: 7 }),
      () => releaseTransfer(before),
      () => endTransfer(before, { state: 'done' }),
      () => failTransfer(before, 'It is late.'),
    ]) {
      await expect(late()).rejects.toThrow(TransferLost);
    }
    expect(await recordOf(held)).toEqual(now);
  });

  test('do not count when they are deleted or ended', async () => {
    expect(await claimTransfer(new ObjectId().toHexString())).toBeNull();
    const held = await heldExport(first.id, 'a');
    await cancelTransfer(await domainProject(first), idOf(held));
    expect(await claimTransfer(idOf(held))).toBeNull();
    expect(await stateOf(held)).toEqual({ state: 'cancelled', waits: undefined });
  });
});
