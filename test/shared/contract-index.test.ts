import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { contract, contractParts } from '../support/data/contract.ts';

const root = path.resolve(import.meta.dirname, '../..');
const plain = (text: string): string => text.replaceAll('`', '').replace(/\.$/, '');

/** The names that a part of the contract gives: headings, what is bold, and first cells of its tables. */
const namesIn = (section: string): ReadonlySet<string> =>
  new Set(
    [...section.matchAll(/^\| (.+?) \||^#{1,3} (.+)$|\*\*(.+?)\*\*/gm)].map(([, ...names]) => plain(names.join(''))),
  );

/** Part, as comments call it, → its names. */
const sections = new Map([...contractParts].map(([part, text]) => [part, namesIn(text)]));

const quoted = /(?:(\d) )?"([^"]+)"/g;
const reference = /\b(?:contract (\d)|specification),? ("[^"]+"(?:(?:,| and|, and) (?:\d )?"[^"]+")*)/g;

/** `contract 2, "List", "sort" and 1 "Body"` → the sections and names that a file's comments refer to. */
const referencesIn = (file: string) => {
  const text = readFileSync(path.join(root, file), 'utf8').replaceAll(/\n\s*(?:\*|\/\/)?\s*/g, ' ');
  return [...text.matchAll(reference)].flatMap(([, number = 'specification', names = '']) => {
    let section = number;
    return [...names.matchAll(quoted)].map(([, other, name = '']) => {
      section = other ?? section;
      return { file, section, name: plain(name) };
    });
  });
};

const references = ['shared', 'functions', 'infra'].flatMap((folder) =>
  globSync(`${folder}/**/*.ts`, { cwd: root }).flatMap(referencesIn),
);

describe('the contract', () => {
  test('is what comments refer to', () => {
    expect(references.length).toBeGreaterThan(0);
  });

  test('has every part that they name', () => {
    expect(references.filter(({ section, name }) => !sections.get(section)?.has(name))).toEqual([]);
  });

  test('is made of headings and lists: no cell of a table is a paragraph', () => {
    const cells = contract.split('\n').flatMap((line) => (line.startsWith('|') ? line.split(/(?<!\\)\|/) : []));
    expect(cells.filter((cell) => cell.length > 300)).toEqual([]);
  });
});
