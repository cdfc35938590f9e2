import { expect, test } from 'vitest';
import { UnreadableFile } from '../../../shared/transfers/csv-format.ts';
import { csvLines } from '../../../shared/transfers/csv-lines.ts';
import type { ImportLine } from '../../../shared/transfers/import-lines.ts';
import { schemaFree } from '../documents/collections.ts';

/** The rows read from a file that arrives in two pieces, and the error that ends it. */
const read = async (text: string): Promise<{ readonly lines: ImportLine[]; readonly end: unknown }> => {
  const bytes = Buffer.from(text);
  const half = bytes.length >> 1;
  const open = async function* (from: number) {
    yield bytes.subarray(from, Math.max(from, half));
    yield bytes.subarray(Math.max(from, half));
  };
  const lines: ImportLine[] = [];
  try {
    for await (const line of csvLines(open, { line: 0, bytes: 0 }, schemaFree)) lines.push(line);
    return { lines, end: undefined };
  } catch (end) {
    return { lines, end };
  }
};

const rows = (count: number): string => Array.from({ length: count }, (_, n) => `${n},${'x'.repeat(50)}\n`).join('');

test.each([1, 10, 10_000])('all %d rows are read before a misplaced quote', async (count) => {
  for (const fault of ['7,"x"y\n8,z\n', '7,"x\n8,z\n']) {
    const { lines, end } = await read(`a,b\n${rows(count)}${fault}`);
    expect(lines.length).toBe(count);
    expect(lines.at(-1)).toMatchObject({ line: count + 1, body: { a: String(count - 1) } });
    expect(end).toBeInstanceOf(UnreadableFile);
  }
});

test('every row of a valid file is read, with or without a final line end', async () => {
  for (const text of [`a,b\n${rows(10_000)}`, `a,b\n${rows(10_000)}`.trimEnd()]) {
    const { lines, end } = await read(text);
    expect([lines.length, lines.at(-1)?.bytes, end]).toEqual([10_000, Buffer.byteLength(text), undefined]);
  }
});
