import { describe, expect, test } from 'vitest';
import { convertFile, needsNoChange } from '../../console/pages/schema/convert-file.ts';
import { columnsOf, type FileColumn, fieldsFor, hasOwnIds } from '../../console/pages/schema/guess-fields.ts';
import { schemaOf } from '../../console/pages/schema/schema-draft.ts';
import { csvRows, detectEncoding, objectTexts, readTable } from '../../console/pages/schema/table-file.ts';
import { templates } from '../../console/pages/schema/templates.ts';
import { noRowSecurity } from '../../shared/collections/collection.ts';
import { parseSchema } from '../../shared/collections/schema/schema.ts';
import { csvLines } from '../../shared/transfers/csv-lines.ts';

const utf16 = (text: string, isBig = false): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(text.length * 2);
  for (const [place] of [...text].entries())
    new DataView(bytes.buffer).setUint16(place * 2, text.charCodeAt(place), !isBig);
  return bytes;
};

/** `Zürich` with the ü of Windows-1252. */
const zurich = new Uint8Array([0x5a, 0xfc, 0x72, 0x69, 0x63, 0x68]);

const fileOf = (name: string, ...parts: ConstructorParameters<typeof File>[0]): File => new File(parts, name);

const typesOf = async (file: File) => {
  const table = await readTable(file);
  return Object.fromEntries(columnsOf(table).map(({ source, type }) => [source, type?.type]));
};

describe('the encoding of a file', () => {
  test.each([
    ['UTF-8', 'utf-8', new TextEncoder().encode('a;ü\n1;2')],
    ['UTF-8 that is cut inside a letter', 'utf-8', new TextEncoder().encode('a;ü').subarray(0, 3)],
    ['Windows-1252', 'windows-1252', zurich],
    ['UTF-16 with a mark', 'utf-16le', utf16('\ufeffa,b')],
    ['UTF-16 without a mark', 'utf-16le', utf16('name,city')],
    ['big-endian UTF-16 without a mark', 'utf-16be', utf16('name,city', true)],
  ])('is detected: %s', (_, encoding, bytes) => {
    expect(detectEncoding(bytes)).toBe(encoding);
  });

  test('is not detected for a workbook, which has to be saved as CSV', () => {
    expect(() => detectEncoding(new Uint8Array([0x50, 0x4b, 0x03, 0x04]))).toThrow('workbook');
  });
});

describe('a file as a table', () => {
  test.each([
    [',', 'name,size\nA,1\nB,2\n'],
    [';', 'name;size\nA;1,5\nB;2\n'],
    ['\t', 'name\tsize\nA\t1\nB\t2\n'],
    ['|', 'name|size\nA|1\nB|2'],
  ])('has the detected delimiter %j', async (delimiter, text) => {
    const table = await readTable(fileOf('a.csv', text));
    expect(table.layout).toEqual({ format: 'csv', encoding: 'utf-8', delimiter, namesDelimiter: false });
    expect([table.columns, table.rows.length]).toEqual([['name', 'size'], 2]);
    expect(table.unsure).toBeUndefined();
  });

  test('marks the delimiter as a guess when several fit', async () => {
    const table = await readTable(fileOf('a.csv', 'a,b;c\n1,2;3\n4,5;6\n'));
    expect(table.unsure).toContain('commas and semicolons');
    expect((await readTable(table.file, { delimiter: ',' })).columns).toEqual(['a', 'b;c']);
  });

  test('is read from Windows-1252, after sep=, with quotes and line ends in cells', async () => {
    const table = await readTable(fileOf('a.csv', 'sep=;\r\ncity;note\r\n', zurich, ';"a ""b""\nc"\r\n'));
    expect(table.layout).toMatchObject({ encoding: 'windows-1252', delimiter: ';', namesDelimiter: true });
    expect([table.columns, table.rows]).toEqual([['city', 'note'], [['Zürich', 'a "b"\nc']]]);
  });

  test.each([
    ['an array', 'a.json', '[\n {"a": 1, "b": "} ]"},\n {"a": 2, "c": {"d": [1]}}\n]'],
    ['NDJSON', 'a.txt', '{"a": 1, "b": "} ]"}\n{"a": 2, "c": {"d": [1]}}\n'],
  ])('is read from JSON: %s', async (_, name, text) => {
    const table = await readTable(fileOf(name, text));
    expect(table.columns).toEqual(['a', 'b', 'c']);
    expect(table.rows).toEqual([
      [1, '} ]', undefined],
      [2, undefined, { d: [1] }],
    ]);
  });

  test('keeps an incomplete row for the next piece', () => {
    const text = 'a,"x\ny"\nb,"z\nw"\n';
    for (let cut = 1; cut < text.length; cut += 1) {
      const first = csvRows(text.slice(0, cut), ',', false);
      const second = csvRows(first.rest + text.slice(cut), ',', true);
      expect([...first.rows, ...second.rows]).toEqual([
        ['a', 'x\ny'],
        ['b', 'z\nw'],
      ]);
    }
    const json = '[{"a":"\\"}"},{"b":[{}]}]';
    for (let cut = 1; cut < json.length; cut += 1) {
      const first = objectTexts(json.slice(0, cut));
      const second = objectTexts(first.rest + json.slice(cut));
      expect([...first.objects, ...second.objects]).toEqual(['{"a":"\\"}"}', '{"b":[{}]}']);
    }
  });
});

describe('the type of a column', () => {
  test.each<[string, readonly string[], string, string | undefined]>([
    ['numbers', ['1', '-2.5', '1e3'], ',', 'Number'],
    ['numbers with a decimal comma', ['1,5', '2'], ';', 'Number'],
    ['numbers with thousands that could be decimals', ['1.234', '2'], ';', 'String'],
    ['codes', ['007', '112'], ',', 'String'],
    ['phone numbers', ['+4912345', '+4954321'], ',', 'String'],
    ['numbers that are too long to be exact', ['12345678901234567890'], ',', 'String'],
    ['booleans in any case', ['true', 'FALSE'], ',', 'Boolean'],
    ['days', ['2026-01-31', '2024-02-29'], ',', 'Date'],
    ['a day that does not exist', ['2026-02-30'], ',', 'String'],
    ['years', ['1999', '2024'], ',', 'Number'],
    ['lists', ['"[1,2]"', '"[]"'], ',', 'Array'],
    ['objects', ['"{""a"":1}"'], ',', 'Object'],
    ['a mixture', ['1', 'two'], ',', 'String'],
    ['nothing', ['', ''], ',', undefined],
  ])('is guessed from cells: %s', async (_, cells, delimiter, type) => {
    const lines = cells.map((cell) => `${cell}${delimiter}x`);
    const table = await readTable(fileOf('a.csv', `value${delimiter}other\n${lines.join('\n')}\n`));
    expect(columnsOf(table)[0]?.type?.type).toBe(type);
  });

  test('is guessed from JSON values, and absent for a mixture', async () => {
    const documents = [
      {
        n: 1,
        s: 'a',
        d: '2026-01-31T10:00:00Z',
        b: true,
        mixed: 1,
        empty: null,
        list: ['a'],
        deep: { at: '2026-01-01' },
      },
      { n: null, s: '2026-01-31', d: '2026-01-31', b: false, mixed: 'x', empty: null, list: [], deep: { more: [1] } },
    ];
    const table = await readTable(fileOf('a.json', JSON.stringify(documents)));
    expect(await typesOf(table.file)).toEqual({
      ...{ n: 'Number', s: 'String', d: 'Date', b: 'Boolean', list: 'Array', deep: 'Object' },
      ...{ mixed: undefined, empty: undefined },
    });
    expect(schemaOf(fieldsFor(table, columnsOf(table)))).toMatchObject([
      ...[{ key: 'n' }, { key: 's' }, { key: 'd' }, { key: 'b' }],
      { key: 'list', items: { type: 'String' } },
      {
        key: 'deep',
        fields: [
          { key: 'at', type: 'Date' },
          { key: 'more', items: { type: 'Number' } },
        ],
      },
    ]);
  });

  test('turns dotted names into fields of objects and omits invalid names', async () => {
    const names = ['_id', 'createdAt', 'address.city', 'address.zip', '$odd', '', '__proto__'];
    const table = await readTable(fileOf('a.csv', `${names}\n${'a'.repeat(24)},2026-01-01,Bonn,053,1,2,3\n`));
    const columns = columnsOf(table);
    expect(columns.filter(({ kept }) => kept).map(({ name }) => name)).toEqual(['_id', 'address.city', 'address.zip']);
    expect(hasOwnIds(table, columns)).toBe(true);
    expect(schemaOf(fieldsFor(table, columns))).toMatchObject([
      {
        key: 'address',
        fields: [
          { key: 'city', type: 'String' },
          { key: 'zip', type: 'String' },
        ],
      },
    ]);
  });

  test('creates a schema that the service accepts when values are deep and wide', async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(20)}1${'}'.repeat(20)}`) as object;
    const wide = Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`f${at}`, at]));
    const table = await readTable(fileOf('a.json', JSON.stringify([{ deep, wide, ...wide }])));
    expect(parseSchema(schemaOf(fieldsFor(table, columnsOf(table))))).toHaveLength(100);
    const dotted = await readTable(fileOf('a.csv', `${Array(20).fill('a').join('.')},b\n1,2\n`));
    expect(parseSchema(schemaOf(fieldsFor(dotted, columnsOf(dotted))))).toHaveLength(2);
  });
});

/** The documents that an import creates from a file. */
const imported = async (
  file: File,
  columns: Parameters<typeof fieldsFor>[1],
  table: Parameters<typeof fieldsFor>[0],
) => {
  const schema = parseSchema(schemaOf(fieldsFor(table, columns)));
  const bytes = new Uint8Array(await file.arrayBuffer());
  async function* open(from: number) {
    yield bytes.subarray(from);
  }
  const lines: unknown[] = [];
  for await (const line of csvLines(open, { line: 0, bytes: 0 }, { name: 'a', schema, rls: noRowSecurity }))
    lines.push('body' in line ? line.body : line.problem);
  return lines;
};

const edit = (columns: readonly FileColumn[], changes: Readonly<Record<string, Partial<FileColumn>>>) =>
  columns.map((column) => ({ ...column, ...changes[column.source] }));

describe('the file that is imported', () => {
  test('is the chosen one when nothing is changed', async () => {
    const file = fileOf('a.csv', '\ufeffa;b\n1;x\n');
    const table = await readTable(file);
    expect(needsNoChange(table, columnsOf(table))).toBe(true);
    expect(await convertFile(table, columnsOf(table), () => undefined)).toBe(file);
  });

  test('has the kept columns under their new names, in UTF-8, and is read as it was shown', async () => {
    const table = await readTable(fileOf('a.csv', 'city;size;note;left\r\n', zurich, ';1,5;"a; ""b""";x\r\n;2;;y\r\n'));
    const columns = edit(columnsOf(table), { city: { name: 'place.city' }, left: { kept: false } });
    const read: number[] = [];
    const file = await convertFile(table, columns, (bytes) => read.push(bytes));
    expect(read).toEqual([table.file.size]);
    expect(file.name).toBe('a.csv');
    expect(await imported(file, columns, table)).toEqual([
      { place: { city: 'Zürich' }, size: 1.5, note: 'a; "b"' },
      { size: 2 },
    ]);
  });

  test('is converted in pieces, each row one time', async () => {
    const rows = Array.from({ length: 40_000 }, (_, at) => `${at};"line ${at}\n;${'é'.repeat(at % 7)}"`);
    const table = await readTable(fileOf('big.csv', `n;text\n${rows.join('\n')}`));
    const file = await convertFile(table, edit(columnsOf(table), { n: { name: 'id' } }), () => undefined);
    const lines = (await file.text()).replaceAll('\n;', ' ').trimEnd().split('\n');
    expect(lines.slice(0, 2)).toEqual(['sep=;', 'id;text']);
    expect(lines.slice(2).map((line) => Number(line.split(';', 1)[0]))).toEqual(rows.map((_, at) => at));
  });

  test('of JSON has renamed fields, and without those left out', async () => {
    const table = await readTable(fileOf('a.json', '[{"a":1,"b":[2],"c":3},{"late":4,"a":5}]'));
    const columns = edit(columnsOf(table), { a: { name: 'first' }, b: { kept: false } });
    const file = await convertFile(table, columns, () => undefined);
    expect(file.name).toBe('a.ndjson');
    expect(await file.text()).toBe('{"first":1,"c":3}\n{"late":4,"first":5}\n');
  });
});

test.each(Object.entries(templates))('template %s is a schema that the service accepts', (_, { schema }) => {
  expect(parseSchema(JSON.parse(JSON.stringify(schema)))).toEqual(schema);
});
