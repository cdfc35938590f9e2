import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

/** An npm that reports its start and waits for permission to finish. */
const npm = `#!/bin/sh
echo "npm $1" >> asked
while [ ! -e go ]; do sleep 0.1; done
mkdir -p node_modules
echo '{}' > node_modules/.package-lock.json
`;

let root: string;
let children: ChildProcess[];

beforeEach(async () => {
  children = [];
  root = await mkdtemp(path.join(tmpdir(), 'basalt-install-'));
  await mkdir(path.join(root, 'scripts'));
  await copyFile(
    path.resolve(import.meta.dirname, '../../scripts/install.mjs'),
    path.join(root, 'scripts/install.mjs'),
  );
  await writeFile(path.join(root, 'package-lock.json'), '{}');
  await mkdir(path.join(root, 'bin'));
  await writeFile(path.join(root, 'bin/npm'), npm);
  await chmod(path.join(root, 'bin/npm'), 0o755);
});

afterEach(async () => {
  await writeFile(path.join(root, 'go'), '');
  await Promise.all(children.map((child) => child.exitCode ?? once(child, 'exit')));
  await rm(root, { recursive: true, force: true });
});

/** Runs the installation as an npm script does. Returns its output so far and its exit code. */
const install = () => {
  const { npm_execpath: _none, ...env } = process.env;
  const searched = [path.join(root, 'bin'), path.dirname(process.execPath), process.env.PATH].join(path.delimiter);
  const child = spawn(process.execPath, [path.join(root, 'scripts/install.mjs')], { env: { ...env, PATH: searched } });
  children.push(child);
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += chunk;
  });
  const says = (text: string) => vi.waitFor(() => expect(said).toContain(text), { timeout: 20_000 });
  return { says, said: () => said, ends: once(child, 'exit').then(([code]) => code) };
};

const asked = async (): Promise<string> => readFile(path.join(root, 'asked'), 'utf8');

test('the second of two concurrent installations waits for the first, prints that, and installs nothing', async () => {
  const first = install();
  await vi.waitFor(async () => expect(await asked()).toBe('npm ci\n'), { timeout: 20_000 });
  const second = install();
  await second.says('Waiting for another command');
  await writeFile(path.join(root, 'go'), '');
  expect([await first.ends, await second.ends]).toEqual([0, 0]);
  expect(await asked()).toBe('npm ci\n');
  expect(second.said()).not.toContain('Installing');
  expect(await readdir(root)).not.toContain('.installing');
});

test('an installation does not wait for one that was killed', async () => {
  const { pid } = spawnSync(process.execPath, ['--version']);
  await writeFile(path.join(root, '.installing'), String(pid));
  await writeFile(path.join(root, 'go'), '');
  const next = install();
  expect(await next.ends).toBe(0);
  expect(await asked()).toBe('npm ci\n');
  expect(next.said()).toContain('Installed in');
});

test('an installation writes nothing when everything is installed', async () => {
  await writeFile(path.join(root, 'go'), '');
  expect(await install().ends).toBe(0);
  const again = install();
  expect([await again.ends, again.said(), await asked()]).toEqual([0, '', 'npm ci\n']);
});
