import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

const assertion = /\bas (?:never|any)\b(?=[\s;,)\]}.])|\bas unknown as\b/;
const codeOf = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$|'[^'\n]*'/gm, '');

test.each(['functions', 'shared', 'infra'])('nothing in %s asserts a type over the compiler', (folder) => {
  const files = globSync('**/*.ts', { cwd: join(root, folder) }).map((file) => `${folder}/${file}`);
  expect(files.length).toBeGreaterThan(10);
  expect(files.filter((file) => assertion.test(codeOf(readFileSync(join(root, file), 'utf8'))))).toEqual([]);
});

test.each([
  ['const a = b as never;', true],
  ['call(b as any)', true],
  ['const a = b as unknown as C;', true],
  ['const a = b as C;', false],
  ['/** the same as never before */', false],
])('%s asserts: %s', (text, asserts) => {
  expect(assertion.test(codeOf(text))).toBe(asserts);
});
