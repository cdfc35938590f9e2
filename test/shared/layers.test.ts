import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const shared = path.resolve(import.meta.dirname, '../../shared');

/**
 * Folders and files of `shared`, lowest first. A file belongs to its own entry, or to the deepest listed folder that
 * holds it, and imports only entries of lower layers.
 */
const layers: readonly (readonly string[])[] = [
  ['core'],
  ['outbound'],
  ['persistence'],
  ['customer-database', 'outbound/resend', 'outbound/language-model'],
  ['persistence/mongo'],
  ['projects'],
  ['webhooks/event-types'],
  ['webhooks/records'],
  ['webhooks/events'],
  ['rate-limit', 'members/audit', 'files', 'collections', 'mail'],
  ['realtime', 'usage', 'customer-database/verification'],
  ['customer-database/connect', 'documents'],
  ['accounts', 'transfers'],
  ['members', 'webhooks', 'deletion'],
  ['http', 'control-indexes'],
];

const listed = layers.flat();
const rankOf = (folder: string): number => layers.findIndex((layer) => layer.includes(folder));
const folderOf = (file: string): string =>
  listed
    .filter((entry) => file === `${entry}.ts` || file.startsWith(`${entry}/`))
    .sort((one, other) => other.length - one.length)[0] ?? '';

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
  expect(
    listed.filter((folder) => ![folder, `${folder}.ts`].some((entry) => existsSync(path.join(shared, entry)))),
  ).toEqual([]);
});

test('folders of shared import lower layers only', () => {
  expect(edges.length).toBeGreaterThan(100);
  const upwards = edges.filter(({ folder, to }) => rankOf(to) >= rankOf(folder));
  expect(upwards.map(({ file, to }) => `${file} imports ${to}`)).toEqual([]);
});
