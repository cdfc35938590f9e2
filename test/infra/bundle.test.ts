import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { bundleFunctions } from '../../infra/build/bundle.ts';
import { functionFiles } from '../../infra/build/function-files.ts';
import { descriptions, testBundles, verifyPasskeys } from './bundle-checks.ts';

// One function of each area, and those that most changes of documents reach. test/long/bundles.test.ts has all.
const names = functionFiles().map(({ name }) => name);
const areaOf = (name: string): string => /^(?:dashboard-)?\w+/.exec(name)?.[0] ?? name;
const firsts = [...new Map(names.toReversed().map((name) => [areaOf(name), name])).values()];
const ofDocuments = names.filter((name) => /^(?:data|dashboard-documents)-/.test(name));

testBundles([...new Set([...firsts, ...descriptions, ...verifyPasskeys, ...ofDocuments])]);

test('drawing program is bundled next to its function and draws an image', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'basalt-draw-'));
  await bundleFunctions(folder, { prefixes: ['jobs-make-size'] });
  const program = join(folder, 'jobs-make-size', 'draw-picture.cjs');
  const child = fork(program, { env: {}, execArgv: [], serialization: 'advanced' });
  try {
    const bytes = await sharp({ create: { width: 90, height: 60, channels: 3, background: '#c33' } })
      .png()
      .toBuffer();
    child.send({ bytes, usual: 'png', size: { width: 64, fit: 'cover', format: 'webp' } });
    const ended = once(child, 'exit').then(() => ['the program ended']);
    const [outcome] = await Promise.race([once(child, 'message'), ended]);
    expect(outcome).toMatchObject({ drawn: { contentType: 'image/webp' } });
  } finally {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true });
  }
});
