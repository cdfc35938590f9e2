import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startChild } from '../../infra/local/child.ts';
import { acquireLock } from '../../infra/local/state-directory.ts';
import { inParallel } from '../support/clients/client.ts';
import { eventually } from '../support/clients/eventually.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'basalt-lock-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const file = () => path.join(directory, 'lock');
const module = path.resolve(import.meta.dirname, '../../infra/local/state-directory.ts');

/** Acquires the lock in another process, which holds it until it is stopped. Returns its output. */
const acquireElsewhere = async () => {
  const said = Promise.withResolvers<string>();
  const script = `import { acquireLock } from ${JSON.stringify(module)};
    await acquireLock(process.argv[1], 4000).then(() => console.log('acquired'), (error) => console.log(error.message));
    process.stdin.resume();`;
  const { stop } = startChild({
    name: 'another start',
    command: process.execPath,
    args: ['--input-type=module', '--eval', script, file()],
    onLine: said.resolve,
    onExit: said.reject,
  });
  return { said: await said.promise, stop };
};

const killed = JSON.stringify({ pid: 2 ** 22 + 1, port: 4000, startedAt: '1' });

test.each([
  { left: 'no lock file', content: undefined },
  { left: 'the lock file of a killed process', content: killed },
])(
  'exactly one of several concurrent starts acquires the lock when there is $left, and the file is complete',
  async ({ content }) => {
    if (content !== undefined) await writeFile(file(), content);
    const all = await inParallel(4, acquireElsewhere);
    const holders = all.filter(({ said }) => said === 'acquired');
    expect(holders).toHaveLength(1);
    expect(JSON.parse(await readFile(file(), 'utf8'))).toMatchObject({ port: 4000 });
    expect(await readdir(directory)).toEqual(['lock']);
    for (const { said, stop } of all) {
      if (said !== 'acquired') expect(said).toMatch(/already running on port 4000|is starting with the same data/);
      await stop();
    }
  },
);

test('lock is acquired when its holder was killed', async () => {
  await writeFile(file(), killed);
  const release = await acquireLock(file(), 4100);
  expect(JSON.parse(await readFile(file(), 'utf8'))).toMatchObject({ pid: process.pid, port: 4100 });
  await release();
  expect(await readdir(directory)).toEqual([]);
});

test('lock is acquired when its holder is a zombie process', async () => {
  const began = Promise.withResolvers<number>();
  // `cat` replaces the shell and never reads the exit code of its child.
  const { stop } = startChild({
    name: 'a parent that never waits',
    command: 'sh',
    args: ['-c', 'sleep 60 & echo $!; exec cat'],
    onLine: (line) => began.resolve(Number(line)),
    onExit: began.reject,
  });
  const pid = await began.promise;
  const state = async () => (await readFile(`/proc/${pid}/stat`, 'utf8')).split(' ');
  const startedAt = (await state())[21];
  await writeFile(file(), JSON.stringify({ pid, port: 4000, startedAt }));
  await expect(acquireLock(file(), 4100)).rejects.toThrow(
    `already running on port 4000 with this data (process ${pid})`,
  );
  process.kill(pid, 'SIGKILL');
  await eventually(async () => expect((await state())[2]).toBe('Z'));
  const release = await acquireLock(file(), 4100);
  await release();
  await stop();
});
