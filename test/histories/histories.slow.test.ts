import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { check } from './check.ts';
import { runHistory } from './run.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'basalt-history-'));
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

test('a history of 16 clients is linearizable when databases and processes fail', async () => {
  const seed = String(Date.now() % 1_000_000);
  const problems = await runHistory({ seed, seconds: 60, clients: 16, directory, report: () => undefined });
  expect(problems).toEqual([]);
});

/** Operations one after the other, as [input, output]; without an output, the outcome is unknown. */
type Steps = readonly (readonly [object, object?])[];

const resultOf = async (model: string, steps: Steps): Promise<string> => {
  const file = path.join(directory, 'steps.jsonl');
  const lines = steps.map(([input, output], at) =>
    JSON.stringify({
      model,
      key: 'a',
      client: at,
      call: at * 10,
      input,
      ...(output && { return: at * 10 + 5, output }),
    }),
  );
  await writeFile(file, lines.join('\n'));
  const [result] = await check(file, directory);
  expect(result?.undecided).toEqual([]);
  return result?.illegal.length === 0 ? 'linearizable' : 'illegal';
};

const insert = [{ op: 'insert' }, { status: 201, rev: 1, n: 5 }] as const;
const inc = (n: number, rev: number) =>
  [
    { op: 'inc', by: 1 },
    { status: 200, rev, n },
  ] as const;
const read = (n: number, rev: number) => [{ op: 'read' }, { status: 200, rev, n }] as const;
const refresh = (token: string, next: string) => [{ token }, { status: next ? 200 : 401, next }] as const;

describe('the checker finds', () => {
  test.each<readonly [string, string, Steps]>([
    ['a lost update', 'document', [insert, inc(6, 2), inc(6, 2)]],
    ['a read of an older state', 'document', [insert, inc(6, 2), read(5, 1)]],
    ['a lost write', 'document', [insert, inc(6, 2), [{ op: 'read' }, { status: 404, code: 'DOCUMENT_NOT_FOUND' }]]],
    [
      'a write beyond a bound',
      'document',
      [
        insert,
        [
          { op: 'inc', by: 5 },
          { status: 200, rev: 2, n: 10 },
        ],
      ],
    ],
    [
      'a value that two documents have',
      'unique',
      [
        [{ op: 'take', id: 'x' }, { status: 201 }],
        [{ op: 'take', id: 'y' }, { status: 201 }],
      ],
    ],
    [
      'an upsert that inserts twice',
      'upsert',
      [
        [
          { op: 'write', n: 1 },
          { status: 201, rev: 1 },
        ],
        [
          { op: 'write', n: 2 },
          { status: 201, rev: 1 },
        ],
      ],
    ],
    [
      'a repeat that inserts twice',
      'once',
      [
        [{ op: 'insert' }, { status: 201, id: 'x' }],
        [{ op: 'count' }, { status: 200, count: 2 }],
      ],
    ],
    [
      'a read by a removed member',
      'member',
      [
        [{ op: 'add' }, { status: 201 }],
        [{ op: 'remove' }, { status: 200 }],
        [{ op: 'read' }, { status: 200 }],
      ],
    ],
    ['a refresh token that works twice', 'session', [refresh('a', 'b'), refresh('a', 'c')]],
    ['a session that ends without a reason', 'session', [refresh('a', 'b'), refresh('b', '')]],
  ])('%s', async (_title, model, steps) => {
    expect(await resultOf(model, steps)).toBe('illegal');
  });

  test.each<readonly [string, string, Steps]>([
    ['a write with an unknown outcome that was carried out', 'document', [insert, [{ op: 'inc', by: 1 }], read(6, 2)]],
    ['a write with an unknown outcome that was not', 'document', [insert, [{ op: 'inc', by: 1 }], read(5, 1)]],
    ['a refresh whose response was lost', 'session', [refresh('a', 'b'), [{ token: 'b' }], refresh('b', '')]],
  ])('no fault in %s', async (_title, model, steps) => {
    expect(await resultOf(model, steps)).toBe('linearizable');
  });
});
