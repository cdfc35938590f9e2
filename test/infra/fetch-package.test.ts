import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { fetchPackage, type Pack } from '../../infra/build/fetch-package.ts';
import { DeployProblem } from '../../infra/settings/deploy-problem.ts';

const folder = mkdtempSync(join(tmpdir(), 'basalt-package-'));
const cache = join(folder, 'cache');
const tarball = join(folder, 'native.tgz');
let integrity: string;
let asked: string[];

beforeAll(() => {
  mkdirSync(join(folder, 'package'));
  writeFileSync(join(folder, 'package/native.node'), 'a program');
  execFileSync('tar', ['-czf', tarball, 'package'], { cwd: folder });
  integrity = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`;
});
beforeEach(() => {
  rmSync(cache, { recursive: true, force: true });
  asked = [];
});
afterAll(() => rmSync(folder, { recursive: true }));

const pack: Pack = async (spec, to) => {
  asked.push(spec);
  copyFileSync(tarball, join(to, 'some-native-1.2.3.tgz'));
};

const locked = (changes = {}) => ({ name: '@some/native', version: '1.2.3', integrity, ...changes });

test('package is downloaded only the first time', async () => {
  const kept = await fetchPackage(locked(), cache, pack);
  expect(readFileSync(join(kept, 'native.node'), 'utf8')).toBe('a program');
  expect(await fetchPackage(locked(), cache, pack)).toBe(kept);
  expect(asked).toEqual(['@some/native@1.2.3']);
  expect(readdirSync(cache)).toHaveLength(1);
});

test('package is downloaded again when the version differs', async () => {
  await fetchPackage(locked(), cache, pack);
  await fetchPackage(locked({ version: '1.2.4' }), cache, pack);
  expect(asked).toEqual(['@some/native@1.2.3', '@some/native@1.2.4']);
});

test('package is complete when several processes download it at the same time', async () => {
  const all = await Promise.all([1, 2, 3, 4].map(() => fetchPackage(locked(), cache, pack)));
  expect(new Set(all).size).toBe(1);
  expect(readdirSync(cache)).toHaveLength(1);
});

test.each([
  ['has another hash than the lock file says', { integrity: 'sha512-other' }, pack],
  ['does not come', {}, () => Promise.reject(new Error('E404 not found'))],
] as const)('a package that %s is rejected with advice, and nothing is kept', async (_what, changes, how) => {
  const fetched = fetchPackage(locked(changes), cache, how);
  await expect(fetched).rejects.toThrow(DeployProblem);
  await expect(fetched).rejects.toThrow('deploy from Linux x64');
  expect(readdirSync(cache)).toEqual([]);
});
