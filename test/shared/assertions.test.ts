import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

/** Files that may tell the compiler what it cannot see, and why. */
const reasons: Readonly<Record<string, string>> = {
  'shared/documents/read/read-page.ts': 'the driver types batches that it was told to leave raw as documents',
  'shared/documents/read/populate-targets.ts': 'the driver types batches that it was told to leave raw as documents',
  'shared/documents/write/change-document.ts': 'the driver types a reply that it was told to leave raw as a document',
  'shared/transfers/export/export-part.ts': 'the driver types batches that it was told to leave raw as documents',
};

const assertion = /\bas (?:never|any)\b(?=[\s;,)\]}.])|\bas unknown as\b/;
const codeOf = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$|'[^'\n]*'/gm, '');

test.each(['functions', 'shared', 'infra'])(
  'nothing in %s asserts a type over the compiler, but for those listed',
  (folder) => {
    const files = globSync('**/*.ts', { cwd: join(root, folder) }).map((file) => `${folder}/${file}`);
    expect(files.length).toBeGreaterThan(10);
    const asserting = files.filter((file) => assertion.test(codeOf(readFileSync(join(root, file), 'utf8'))));
    expect(asserting.filter((file) => !(file in reasons))).toEqual([]);
  },
);

test.each([
  ['const a = b as never;', true],
  ['call(b as any)', true],
  ['const a = b as unknown as C;', true],
  ['const a = b as C;', false],
  ['/** the same as never before */', false],
])('%s asserts: %s', (text, asserts) => {
  expect(assertion.test(codeOf(text))).toBe(asserts);
});
