import { describe, expect, test } from 'vitest';
import type { Collection } from '../../../shared/collections/collection.ts';
import { csvLines } from '../../../shared/transfers/csv-lines.ts';
import type { ImportLine } from '../../../shared/transfers/import-lines.ts';
import { schemaFree } from '../documents/collections.ts';

const priced = {
  ...schemaFree,
  schema: [{ key: 'Preis', type: 'Number', required: false, unique: false }],
} as unknown as Collection;

const read = (file: Uint8Array, collection = schemaFree, from = { line: 0, bytes: 0 }, size = 7) => {
  const open = async function* (start: number) {
    for (let at = start; at < file.length; at += size) yield file.subarray(at, at + size);
  };
  return Array.fromAsync(csvLines(open, from, collection));
};

const bodies = (lines: readonly ImportLine[]) => lines.map((line) => ('body' in line ? line.body : line.problem));

const utf8 = (text: string) => Buffer.from(text);
const utf16le = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
const utf16be = (text: string) => utf16le(text).swap16();

const people = [
  { Name: 'Jörg 😀', Ort: 'Köln, Rhein', Alter: '30' },
  { Name: 'Zoë', Ort: 'Île-de-France', Alter: '4' },
];

describe('a file of a known program is read:', () => {
  test.each<[string, Uint8Array, readonly object[]]>([
    [
      'Excel in English, CSV UTF-8',
      utf8('\ufeffName,Ort,Alter\r\nJörg 😀,"Köln, Rhein",30\r\nZoë,Île-de-France,4\r\n'),
      people,
    ],
    [
      'Excel in German, CSV UTF-8',
      utf8('\ufeffName;Ort;Alter\r\nJörg 😀;Köln, Rhein;30\r\nZoë;Île-de-France;4\r\n'),
      people,
    ],
    [
      'Excel in French, with empty columns and rows at the edge',
      utf8('\ufeffName;Ort;Alter;;\r\nJörg 😀;Köln, Rhein;30;;\r\n;;;;\r\nZoë;Île-de-France;4;;\r\n;;;;\r\n'),
      people,
    ],
    [
      'Excel, Unicode text',
      utf16le('Name\tOrt\tAlter\r\nJörg 😀\t"Köln, Rhein"\t30\r\nZoë\tÎle-de-France\t4\r\n'),
      people,
    ],
    ['UTF-16 of the other order', utf16be('Name\tOrt\tAlter\nJörg 😀\tKöln, Rhein\t30\nZoë\tÎle-de-France\t4'), people],
    [
      'Numbers, with empty rows before its table',
      utf8(';;\nName;Ort;Alter\nJörg 😀;Köln, Rhein;30\nZoë;Île-de-France;4'),
      people,
    ],
    [
      'LibreOffice, every text in quotes',
      utf8('"Name","Ort","Alter"\n"Jörg 😀","Köln, Rhein",30\n"Zoë","Île-de-France",4\n'),
      people,
    ],
    [
      'Google Sheets, with spaces around names',
      utf8('Name, Ort , Alter\r\nJörg 😀,"Köln, Rhein",30\r\nZoë,Île-de-France,4'),
      people,
    ],
    ['a database with bars', utf8('Name|Ort|Alter\nJörg 😀|Köln, Rhein|30\nZoë|Île-de-France|4\n'), people],
    [
      'a program that names the delimiter',
      utf8('sep=;\r\nName;Ort, Land\r\nA;B\r\n'),
      [{ Name: 'A', 'Ort, Land': 'B' }],
    ],
    [
      'names with commas, rows that fit semicolons alone',
      utf8('Name;Ort, Land\nA;B\n'),
      [{ Name: 'A', 'Ort, Land': 'B' }],
    ],
    ['a quoted name with a comma', utf8('"Preis, netto";b\n1,5;x\n'), [{ 'Preis, netto': '1,5', b: 'x' }]],
    ['one column', utf8('Name\nA\n""\nB'), [{ Name: 'A' }, { Name: 'B' }]],
  ])('%s', async (_what, file, expected) => {
    const whole = await read(file);
    expect(bodies(whole)).toEqual(expected);
    for (const [at, { line, bytes }] of whole.entries()) {
      expect(await read(file, schemaFree, { line, bytes })).toEqual(whole.slice(at + 1));
    }
  });
});

describe('UnreadableFile for', () => {
  test.each<[string, Uint8Array, string]>([
    ['two delimiters that both fit', utf8('Name;Ort, Land;Alter\nA;B, C;3\n'), 'it is not clear what separates'],
    ['two delimiters above no row', utf8('Name;Ort, Land\n'), 'it is not clear what separates'],
    ['Windows-1252', Buffer.from('Name;Ort\nJörg;Köln\n', 'latin1'), 'CSV UTF-8'],
    ['UTF-16 without a mark', Buffer.from('Name\tOrt\n', 'utf16le'), 'zero bytes'],
    ['UTF-16 that is cut in a character', utf16le('a\n1').subarray(0, -1), 'not valid UTF-16'],
    ['a workbook', Buffer.from('PK\u0003\u0004…'), 'a workbook or an archive'],
    ['another delimiter that it names', utf8('sep=:\na:b\n1:2'), 'sep= must name'],
  ])('%s', async (_what, file, message) => {
    await expect(read(file)).rejects.toThrow(message);
  });
});

test('a value in a column without a name is an error of its line', async () => {
  expect(bodies(await read(utf8('a,,c\n1,,3\n1,2,3\n1,,3,4\n')))).toEqual([
    { a: '1', c: '3' },
    'The row has a value in column 2, which the first line does not name.',
    'The row has 4 values; the first line names 3 columns.',
  ]);
});

test.each<[string, string, unknown]>([
  [';', '1,5', 1.5],
  [';', '-1.234.567,89', -1234567.89],
  [';', '1.5', 1.5],
  [';', '0.125', 0.125],
  [';', '1,234', 1.234],
  [';', '1.234', expect.stringContaining('Preis: 1.234 is ambiguous')],
  ['\t', '1,5', 1.5],
  ['\t', '1.234', 1.234],
  ['|', '1,234', expect.stringContaining('Preis: 1,234 is ambiguous')],
  [',', '"1,234"', '1,234'],
])('a number after %j: %s becomes %s', async (delimiter, cell, value) => {
  const [line] = bodies(await read(utf8(`a${delimiter}Preis\nx${delimiter}${cell}\n`), priced));
  expect(typeof line === 'string' ? line : line?.Preis).toEqual(value);
});
