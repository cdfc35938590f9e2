import { describe, expect, test } from 'vitest';
import type { Collection } from '../../../shared/collections/collection.ts';
import { csvLines } from '../../../shared/transfers/csv-lines.ts';
import { type ImportLine, jsonLines, ndjsonLines, type Place } from '../../../shared/transfers/import-lines.ts';

const free: Collection = {
  name: 'free',
  schema: null,
  rls: { enabled: false, mode: 'public-read', ownerField: 'userId', trash: 'everyone', requires: 'none' },
};

/** Splits a file into pieces of this many bytes. */
async function* pieces(bytes: Uint8Array, size = 3): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const start = { line: 0, bytes: 0 };

const ofList = ' NDJSON has one object a line, without the brackets and commas of a list.';

const shown = ({ bytes: _bytes, ...line }: ImportLine): object => line;

const ndjson = async (bytes: Uint8Array, size?: number): Promise<ImportLine[]> =>
  Array.fromAsync(ndjsonLines(pieces(bytes, size), start));

describe('a line of NDJSON', () => {
  test.each<[string, string, readonly object[]]>([
    ['nothing', '', []],
    ['empty lines', '\n \n\r\n', []],
    ['one without an end', '{"a":1}', [{ line: 1, body: { a: 1 } }]],
    [
      'ends of lines of Windows',
      '{"a":1}\r\n{"a":2}\r\n',
      [
        { line: 1, body: { a: 1 } },
        { line: 2, body: { a: 2 } },
      ],
    ],
    ['a byte order mark', '\ufeff{"a":1}', [{ line: 1, body: { a: 1 } }]],
    [
      'an empty line between',
      '{}\n\n{}',
      [
        { line: 1, body: {} },
        { line: 3, body: {} },
      ],
    ],
    [
      'a list',
      '[{}]\n[\n{"a":1},\n]\n[1',
      [
        { line: 1, problem: `The line must be a JSON object.${ofList}` },
        ...[2, 3, 4, 5].map((line) => ({ line, problem: `The line is not valid JSON.${ofList}` })),
      ],
    ],
    ['a number', '5', [{ line: 1, problem: 'The line must be a JSON object.' }]],
    ['no JSON', '{a:1}', [{ line: 1, problem: 'The line is not valid JSON.' }]],
    ['a lone surrogate', '{"a":"\\ud800"}', [{ line: 1, problem: expect.stringContaining('lone surrogate') }]],
    ['a number that would change', '{"a":9007199254740993}', [{ line: 1, problem: expect.stringContaining('2^53') }]],
  ])('of %s', async (_what, text, lines) => {
    for (const size of [1, 3, 1000]) expect((await ndjson(Buffer.from(text), size)).map(shown)).toEqual(lines);
  });

  test('is an error when its bytes are not UTF-8, and the next one is read', async () => {
    const bytes = Buffer.concat([Buffer.from([0x7b, 0xff, 0x7d, 0x0a]), Buffer.from('{"a":1}')]);
    expect((await ndjson(bytes)).map(shown)).toEqual([
      { line: 1, problem: 'The line is not valid UTF-8.' },
      { line: 2, body: { a: 1 } },
    ]);
  });
});

describe('a JSON array', () => {
  const read = (text: string, size: number, from: Place = start) =>
    Array.fromAsync(jsonLines((at) => pieces(Buffer.from(text).subarray(at), size), from));
  const text = '\ufeff [{"a":"]},\\"["},\n{\n "b": [1, {"c": "é"}]\n},5,\n{a:1}, {"d":"\\\\"}\n]\n';
  const elements = [
    { line: 1, body: { a: ']},"[' } },
    { line: 2, body: { b: [1, { c: 'é' }] } },
    { line: 3, problem: 'The line must be a JSON object.' },
    { line: 4, problem: 'The line is not valid JSON.' },
    { line: 5, body: { d: '\\' } },
  ];

  test.each([16, 17, 1000])('is read element by element when it comes in pieces of %d bytes', async (size) => {
    const whole = await read(text, size);
    expect(whole.map(shown)).toEqual(elements);
    for (const [at, { line, bytes }] of whole.entries()) {
      expect(await read(text, size, { line, bytes })).toEqual(whole.slice(at + 1));
    }
  });

  test.each(['[]', '[ ]\n', '\ufeff[\n]'])('%j has no elements', async (empty) => {
    expect(await read(empty, 1000)).toEqual([]);
  });

  test.each([
    ['is not closed', '[{"a":1},{"a":2}', 'not closed'],
    ['lacks a quote', '[{"a":1},{"a:2}]', 'not closed'],
    ['is followed by more', '[{"a":1}]\n{"a":2}', 'More text follows'],
  ])('is UnreadableFile when it %s', async (_what, broken, message) => {
    await expect(read(broken, 1000)).rejects.toThrow(message);
  });
});

const csvFrom = (text: string | Buffer, from: Place): Promise<ImportLine[]> => {
  const bytes = Buffer.from(text as string);
  return Array.fromAsync(csvLines((at) => pieces(bytes.subarray(at), 1000), from, free));
};

const csv = async (text: string | Buffer): Promise<(object & Pick<ImportLine, 'line'>)[]> =>
  (await csvFrom(text, start)).map(({ bytes: _bytes, ...line }) => line);

describe('the line of a row of CSV is the one on which it ends, with', () => {
  const rows = 'a,b\n1,2\n"x\ny",3\n\n4,5\n6,7';
  const at = (line: number, a: string, b: string) => ({ line, body: { a, b } });

  test.each([
    ['ends of lines of Unix', '\n'],
    ['of Windows', '\r\n'],
    ['of old Macintoshes', '\r'],
  ])('%s', async (_what, end) => {
    expect(await csv(rows.replaceAll('\n', end))).toEqual([
      at(2, '1', '2'),
      at(4, `x${end}y`, '3'),
      at(6, '4', '5'),
      at(7, '6', '7'),
    ]);
  });

  test('several kinds of them, and a byte order mark', async () => {
    expect(await csv('\ufeffa,b\n1,2\r\n3,4\n')).toEqual([at(2, '1', '2'), at(3, '3', '4')]);
  });

  test('more rows than one piece of the file', async () => {
    const many = Array.from({ length: 20_000 }, (_, n) => `${n},"é\n${n}"`).join('\n');
    const lines = await csv(`a,b\n${many}`);
    expect(lines).toHaveLength(20_000);
    expect(lines.every(({ line }, n) => line === 2 * n + 3)).toBe(true);
  });
});

test('UnreadableFile when a CSV file is not UTF-8', async () => {
  await expect(csv(Buffer.from([0x61, 0x0a, 0xff]))).rejects.toThrow('CSV UTF-8');
});

describe('reading resumes at the end of any line', () => {
  test('of NDJSON', async () => {
    const bytes = Buffer.from('{"a":1}\n\n{"a":"é"}\r\nno\n{"a":3}');
    const whole = await ndjson(bytes);
    expect(whole.map(({ line }) => line)).toEqual([1, 3, 4, 5]);
    for (const [at, { line, bytes: from }] of whole.entries()) {
      const rest = ndjsonLines(pieces(bytes.subarray(from), 2), { line, bytes: from });
      expect(await Array.fromAsync(rest)).toEqual(whole.slice(at + 1));
    }
  });

  test.each(['', '\ufeff'])('of CSV, with the columns of the first line: %j before it', async (mark) => {
    const text = `${mark}a,b\n1,"x\ny"\r\n\n"é",3\n4\n5,6`;
    const whole = await csvFrom(text, start);
    expect(whole.map(({ line }) => line)).toEqual([3, 5, 6, 7]);
    for (const [at, { line, bytes }] of whole.entries()) {
      expect(await csvFrom(text, { line, bytes })).toEqual(whole.slice(at + 1));
    }
  });
});

test('a line is rejected and the next one is read when it is longer than any document', async () => {
  const bytes = Buffer.concat([Buffer.alloc(17 * 1024 * 1024, 'x'), Buffer.from('\n{"a":1}')]);
  expect((await ndjson(bytes, 1024 * 1024)).map(shown)).toEqual([
    { line: 1, problem: 'The line is longer than any document may be.' },
    { line: 2, body: { a: 1 } },
  ]);
});
