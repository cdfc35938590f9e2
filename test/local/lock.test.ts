import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startChild } from '../../infra/local/child.ts';
import { claim } from '../../infra/local/lock.ts';
import { inParallel } from '../support/clients/client.ts';
import { eventually } from '../support/clients/eventually.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'basalt-lock-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const file = () => path.join(directory, 'lock');
const module = path.resolve(import.meta.dirname, '../../infra/local/lock.ts');

/** Claims the directory in a process of its own and keeps it until that is stopped; answers what it says. */
const claimElsewhere = async () => {
  const said = Promise.withResolvers<string>();
  const script = `import { claim } from ${JSON.stringify(module)};
    await claim(process.argv[1], 4000).then(() => console.log('claimed'), (error) => console.log(error.message));
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
  { left: 'nothing', content: undefined },
  { left: 'the claim of one that was killed', content: killed },
])(
  'of several that start at once and find $left one has the directory, and its whole content is there',
  async ({ content }) => {
    if (content !== undefined) await writeFile(file(), content);
    const all = await inParallel(4, claimElsewhere);
    const claimed = all.filter(({ said }) => said === 'claimed');
    expect(claimed).toHaveLength(1);
    expect(JSON.parse(await readFile(file(), 'utf8'))).toMatchObject({ port: 4000 });
    expect(await readdir(directory)).toEqual(['lock']);
    for (const { said, stop } of all) {
      if (said !== 'claimed') expect(said).toMatch(/already running on port 4000|is starting with this data/);
      await stop();
    }
  },
);

test('what a process that was killed left behind does not count', async () => {
  await writeFile(file(), killed);
  const release = await claim(file(), 4100);
  expect(JSON.parse(await readFile(file(), 'utf8'))).toMatchObject({ pid: process.pid, port: 4100 });
  await release();
  expect(await readdir(directory)).toEqual([]);
});

test('a process that has ended does not count, though nobody has asked how', async () => {
  const began = Promise.withResolvers<number>();
  // What takes the shell's place asks nothing of the shell's child.
  const { stop } = startChild({
    name: 'a parent that asks nothing',
    command: 'sh',
    args: ['-c', 'sleep 60 & echo $!; exec cat'],
    onLine: (line) => began.resolve(Number(line)),
    onExit: began.reject,
  });
  const pid = await began.promise;
  const state = async () => (await readFile(`/proc/${pid}/stat`, 'utf8')).split(' ');
  const startedAt = (await state())[21];
  await writeFile(file(), JSON.stringify({ pid, port: 4000, startedAt }));
  await expect(claim(file(), 4100)).rejects.toThrow(`already running on port 4000 with this data (process ${pid})`);
  process.kill(pid, 'SIGKILL');
  await eventually(async () => expect((await state())[2]).toBe('Z'));
  const release = await claim(file(), 4100);
  await release();
  await stop();
});
