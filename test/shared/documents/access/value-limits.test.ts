import { describe, expect, test, vi } from 'vitest';
import { filterReadable, mayGet } from '../../../../shared/documents/access/reading.ts';
import type { Document } from '../../../../shared/documents/document.ts';
import { callerOf, codeOf, fill, idOf, listed, record, shownIn, underRules } from './world.ts';

vi.mock('../../../../shared/persistence/mongo.ts', async () =>
  (await import('../../../support/fixtures/memory-database.ts')).inMemory(),
);

describe('values of more than 10,000 documents', () => {
  const from = () => ({ $from: 'free', select: 'text' });
  const full = Array.from({ length: 10_001 }, (_, at) => ({ _id: idOf(10_001 - at), text: `t${10_001 - at}` }));
  const [oldest, newest] = [
    { _id: idOf(1), text: 't1' },
    { _id: idOf(2), text: 't10001' },
  ];

  test('in lists are at most the 10,000 oldest', async () => {
    fill({ free: full });
    const read = { text: { $in: from() } };
    expect((await shownIn(read, [oldest, newest])).shown).toEqual([oldest]);
    expect(await mayGet(underRules({ read }, callerOf(record)), newest)).toBe(true);
  });

  test('403 RULE_LIMIT if a list excludes more than 10,000, but not for one document', async () => {
    const read = { tags: { $nin: from() } };
    const context = underRules({ read }, callerOf(record));
    fill({ free: full });
    await expect(filterReadable(context, 'list', false)).rejects.toThrow(
      'A rule of the collection "typed" excludes more than 10000 values of "free"',
    );
    expect(await codeOf(filterReadable(context, 'list', false))).toBe('RULE_LIMIT');
    expect(await mayGet(context, { _id: idOf(1), tags: ['u', 'v'] })).toBe(true);
    expect(await mayGet(context, { _id: idOf(1), tags: ['u', 't1'] })).toBe(false);
    fill({ free: full.slice(1) });
    const tagged = [
      { _id: idOf(1), tags: ['t10001'] },
      { _id: idOf(2), tags: ['u', 't10000'] },
    ];
    expect((await shownIn(read, tagged)).shown).toEqual(tagged.slice(0, 1));
  });
});

describe('targets of references', () => {
  const rule = { $ref: { ref: { number: { $gte: 2 } } } };
  const targets = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ _id: idOf(at), number: Math.min(at, 2) }));
  const sources = [0, 1, 2, 3].map((at): Document => ({ _id: idOf(at), ref: idOf(at), text: 'x' }));

  test.each([
    ['ids', 4, false],
    ['ids up to 10,000', 10_002, false],
    ['a join above', 10_003, true],
  ])('are found in a list by %s', async (_title, count, isExpected) => {
    fill({ typed: targets(count) });
    const missing = [{ _id: idOf(4), ref: idOf(5_000_000) }, { _id: idOf(5) }];
    const { shown, isJoined } = await shownIn(rule, [...sources, ...missing]);
    expect(shown).toEqual(sources.slice(2));
    expect(isJoined).toBe(isExpected);
  });

  test('that are too many are joined under $not too, and looked up one by one in memory', async () => {
    fill({ typed: targets(10_003) });
    expect(await listed({ $or: [{ number: 5 }, { $not: rule }] }, sources.slice(1, 3))).toEqual([1]);
  });
});
