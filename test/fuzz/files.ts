import assert from 'node:assert/strict';
import fc from 'fast-check';
import { JsonText } from '../../shared/core/json.ts';
import { requireDeclaredType } from '../../shared/files/confirm-upload.ts';
import { isPathOf, newFilePath, toDisplayName } from '../../shared/files/file-items.ts';
import { draw } from '../../shared/files/images/draw-picture.ts';
import { parseVariantName, variantQuery } from '../../shared/files/images/variant.ts';
import { UnreadableFile } from '../../shared/transfers/csv-format.ts';
import { csvLines } from '../../shared/transfers/csv-lines.ts';
import { csvHeader, csvRow } from '../../shared/transfers/csv-rows.ts';
import { everything, schemaFree } from '../shared/documents/collections.ts';
import { text } from '../support/data/fuzz-values.ts';
import { listOf, mutated, optional, sequence } from './grammar.ts';
import { parser } from './parser.ts';

const linesOf = async (csv: string, collection = everything): Promise<unknown[]> => {
  const bytes = Buffer.from(csv);
  const lines: unknown[] = [];
  const open = async function* (from: number) {
    yield bytes.subarray(from);
  };
  for await (const line of csvLines(open, { line: 0, bytes: 0 }, collection)) lines.push(line);
  return lines;
};

const isUnreadable = (error: unknown): boolean => error instanceof UnreadableFile;

const cell = fc.oneof(
  fc.constantFrom(
    'a',
    '"a ""b"""',
    '1,5',
    '=1+1',
    "'=1",
    '',
    '[1,2]',
    '{"__proto__":{}}',
    '"a\nb"',
    ' ',
    '"',
    '2026-01-01',
  ),
  text,
);

const header = fc.constantFrom(
  'title',
  'views',
  'meta.score',
  'tags',
  'x',
  'meta',
  '"title"',
  '__proto__',
  'constructor.x',
  'a..b',
  '',
  'sep=;',
);

const csv = fc
  .constantFrom(',', ';', '\t', '|')
  .chain((by) =>
    sequence(
      optional(fc.constantFrom('\ufeff', `sep=${by}\n`)),
      listOf(header, by),
      '\n',
      listOf(listOf(cell, by), '\r\n'),
    ),
  );

const csvFiles = parser('CSV', mutated(csv), (sent) => linesOf(sent), isUnreadable);

const texts = fc
  .string({ minLength: 1, unit: 'grapheme' })
  .filter((one) => one.isWellFormed() && !one.includes('\0') && one.trim() !== '' && !one.startsWith('\ufeff'));

const rows = fc.array(
  fc.record({
    a: texts,
    b: fc.oneof(texts, fc.constantFrom("'", "''=x", '=1', '-', '@x', 'a,b', '"', 'a"b', 'x\r\ny', ';;', '\t|')),
  }),
  { minLength: 1, maxLength: 4 },
);

const csvRoundTrip = parser('CSV of an export', rows, async (documents) => {
  const printed = [
    csvHeader(['a', 'b']),
    ...documents.map((one) => csvRow(['a', 'b'], new JsonText(JSON.stringify(one)))),
  ].join('\r\n');
  const read = (await linesOf(`${printed}\r\n`, schemaFree)) as { readonly body: unknown }[];
  assert.deepEqual(
    read.map(({ body }) => ({ ...(body as object) })),
    documents.map((one) => ({ ...one })),
  );
  return read;
});

const sizes = parser(
  'sizes of pictures',
  mutated(
    sequence(
      optional(fc.constantFrom('w64', 'w65', 'w2048')),
      optional(fc.constantFrom('_h64', 'h128')),
      optional(fc.constantFrom('_contain', '_cover')),
      optional(fc.constantFrom('_webp', '_gif', 'avif')),
    ),
  ),
  (sent) => {
    const size = parseVariantName(sent);
    if (size) assert.match(variantQuery(size), /^\?/);
    return size;
  },
);

const names = parser(
  'names of files',
  mutated(
    fc.constantFrom('a.png', '../a', 'a\u202eb.exe', '..', 'a'.repeat(300), 'e\u0301.txt', '.a', 'a/b\\c'),
  ).filter((one) => one !== ''),
  (sent) => {
    const shown = toDisplayName(sent);
    assert.equal(toDisplayName(shown), shown);
    assert.ok(isPathOf('a'.repeat(24), newFilePath('a'.repeat(24), sent)), 'A path of ours is not valid');
    return shown;
  },
);

/** Starts of pictures, with wrong sizes and cut off; none is larger than 1 KB. */
const magic = [
  '89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489',
  '474946383961010001008000000000',
  'ffd8ffe000104a46494600010100000100010000ffdb',
  '524946462600000057454250565038200000',
  '0000001c667479706176696600000000',
  '424d46000000000000003600',
  '3c737667',
  '49492a0008000000',
  '25504446',
];

const picture = fc
  .tuple(
    fc.constantFrom(...magic),
    fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 6 }),
    fc.uint8Array({ maxLength: 300 }),
  )
  .map(([start, changes, rest]) => {
    const bytes = Buffer.concat([Buffer.from(start, 'hex'), rest]);
    for (const [at, byte] of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte;
    return bytes;
  });

const pictures = parser(
  'headers of pictures',
  fc.tuple(picture, fc.constantFrom('image/png', 'text/plain', 'application/zip', 'image/webp')),
  async ([bytes, type]) => {
    const made = await draw({ bytes, usual: 'png', size: { width: 64, fit: 'cover' } });
    assert.ok('refused' in made || made.drawn.bytes.length > 0);
    await requireDeclaredType(type, bytes);
    return 'refused' in made ? made.refused : undefined;
  },
);

export const files = [csvFiles, csvRoundTrip, sizes, names, pictures];
