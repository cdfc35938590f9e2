import { beforeEach, describe, expect, test, vi } from 'vitest';
import { cancellation } from '../../../shared/persistence/dynamo.ts';
import { throughConflicts } from '../../../shared/persistence/table.ts';
import { cancelled, tableError } from '../../support/faults/aws-answers.ts';

/** Milliseconds that were waited, one after the other. */
const waits: number[] = [];

vi.mock('node:timers/promises', () => ({
  setTimeout: (ms: number) => {
    waits.push(ms);
    return Promise.resolve();
  },
}));

beforeEach(() => {
  vi.restoreAllMocks();
  waits.length = 0;
});

const conflict = tableError('TransactionConflictException');

/** A write that fails with each of these in turn and then succeeds. */
const writeAfter = (...failures: readonly Error[]) => {
  const calls = { count: 0 };
  const write = async (): Promise<string> => {
    const failure = failures[calls.count++];
    if (failure) throw failure;
    return 'written';
  };
  return { calls, write };
};

describe('throughConflicts', () => {
  test.each([
    ['a transaction', cancelled('TransactionConflict', 'None', 'None')],
    ['a single write', conflict],
  ])('sends %s again while another write holds its item', async (_name, failure) => {
    const { calls, write } = writeAfter(failure, failure, failure);
    expect(await throughConflicts(write)).toBe('written');
    expect(calls.count).toBe(4);
  });

  test.each([
    ['a condition', cancelled('ConditionalCheckFailed', 'None')],
    ['a condition beside a conflict', cancelled('ConditionalCheckFailed', 'TransactionConflict')],
    ['the condition of a single write', tableError('ConditionalCheckFailedException')],
  ])('throws %s immediately and unchanged', async (_name, failure) => {
    const { calls, write } = writeAfter(failure);
    await expect(throughConflicts(write)).rejects.toBe(failure);
    expect(calls.count).toBe(1);
  });

  test.each(['ThrottlingError', 'ProvisionedThroughputExceeded', 'ValidationError'])(
    'throws a fault, not a decision, when %s cancelled the transaction',
    async (code) => {
      const { calls, write } = writeAfter(cancelled('None', code));
      const failure = await throughConflicts(write).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(Error);
      expect(cancellation(failure)).toBeUndefined();
      expect(calls.count).toBe(1);
    },
  );

  test('fails after six conflicts, within two seconds', async () => {
    const { calls, write } = writeAfter(...Array<Error>(10).fill(conflict));
    vi.spyOn(Math, 'random').mockReturnValue(1);
    await expect(throughConflicts(write)).rejects.toBe(conflict);
    expect(calls.count).toBe(6);
    expect(waits).toHaveLength(5);
    expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(2000);
  });
});
