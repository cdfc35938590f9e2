import { globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const shared = path.resolve(import.meta.dirname, '../../shared');

/** Folders of `shared`, lowest first: a file imports its own folder, lower ones, and the files directly in `shared`. */
const layers: readonly (readonly string[])[] = [
  ['net'],
  ['clients'],
  ['table'],
  ['secrets', 'work'],
  ['health', 'projects'],
  ['audit', 'collections', 'mail', 'quota', 'storage'],
  ['assistant', 'byod', 'usage'],
  ['documents'],
  ['auth', 'transfers'],
  ['developers'],
  ['control', 'http'],
];

const rankOf = (folder: string): number => layers.findIndex((layer) => layer.includes(folder));

/** `file → folder` of every import that leads out of the folder a file is in. */
const edges = globSync('**/*.ts', { cwd: shared }).flatMap((file) => {
  const [folder = ''] = file.split(path.sep);
  const imports = readFileSync(path.join(shared, file), 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)'/g);
  return [...imports].flatMap(([, specifier = '']) => {
    const target = path.relative(shared, path.resolve(shared, path.dirname(file), specifier)).split(path.sep);
    return target.length > 1 && target[0] !== '..' && target[0] !== folder
      ? [{ file, folder, to: target[0] ?? '' }]
      : [];
  });
});

test('every folder of shared has a layer', () => {
  const folders = readdirSync(shared, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.map(({ name }) => name).toSorted()).toEqual(layers.flat().toSorted());
});

test('folders of shared import lower layers only, so that none of them form a cycle', () => {
  expect(edges.length).toBeGreaterThan(100);
  const upwards = edges.filter(({ file, folder, to }) => file.includes(path.sep) && rankOf(to) >= rankOf(folder));
  expect(upwards.map(({ file, to }) => `${file} imports ${to}`)).toEqual([]);
});

test('the files directly in shared import none of its folders', () => {
  expect(edges.filter(({ file }) => !file.includes(path.sep)).map(({ file, to }) => `${file} imports ${to}`)).toEqual(
    [],
  );
});
