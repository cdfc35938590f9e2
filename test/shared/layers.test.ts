import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const shared = path.resolve(import.meta.dirname, '../../shared');

/**
 * Folders of `shared`, lowest first. A folder inside another may have a layer of its own: a file belongs to the deepest
 * one that is listed, and imports that one, lower ones, and `core`.
 */
const layers: readonly (readonly string[])[] = [
  ['core'],
  ['clients/net'],
  ['clients'],
  ['table'],
  ['work'],
  ['projects'],
  ['events'],
  ['collections', 'files', 'mail', 'projects/audit', 'projects/quota'],
  ['insight', 'projects/own-database', 'realtime'],
  ['documents'],
  ['accounts', 'transfers'],
  ['projects/members', 'webhooks'],
  ['http', 'projects/removal'],
];

const listed = layers.flat();
const rankOf = (folder: string): number => layers.findIndex((layer) => layer.includes(folder));
const folderOf = (file: string): string =>
  listed.filter((folder) => file.startsWith(`${folder}/`)).sort((one, other) => other.length - one.length)[0] ?? '';

/** `file → folder` of every import that leads out of the folder a file is in. */
const edges = globSync('**/*.ts', { cwd: shared }).flatMap((file) => {
  const folder = folderOf(file);
  const imports = readFileSync(path.join(shared, file), 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)'/g);
  return [...imports].flatMap(([, specifier = '']) => {
    const target = path.relative(shared, path.resolve(shared, path.dirname(file), specifier));
    const to = folderOf(target);
    return target.startsWith('..') || to === folder ? [] : [{ file, folder, to }];
  });
});

test('every file of shared is in a folder that has a layer', () => {
  expect(globSync('**/*.ts', { cwd: shared }).filter((file) => folderOf(file) === '')).toEqual([]);
  expect(listed.filter((folder) => !existsSync(path.join(shared, folder)))).toEqual([]);
});

test('folders of shared import lower layers only, so that none of them form a cycle', () => {
  expect(edges.length).toBeGreaterThan(100);
  const upwards = edges.filter(({ folder, to }) => rankOf(to) >= rankOf(folder));
  expect(upwards.map(({ file, to }) => `${file} imports ${to}`)).toEqual([]);
});
