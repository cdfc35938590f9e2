/**
 * `npm run bench:init [prefix…]`: how long a process of each bundled function takes from its start until it asks the Lambda
 * Runtime API for its first event; median of 10, rounds interleaved. The first row is a function that does nothing.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Bundle, bundleFunctions } from '../infra/bundle.ts';
import { type FunctionProcess, startFunctionProcess } from '../infra/local/runtime-api.ts';
import { median } from './statistics.ts';

const rounds = 10;
const empty: Bundle = { name: '(empty function)', bytes: 0, parts: [], native: false };
const folder = await mkdtemp(path.join(tmpdir(), 'basalt-init-'));

/** Starts one process and ends it once it is ready; milliseconds in between. */
const initOf = async (name: string): Promise<number> => {
  const start = performance.now();
  let started: Promise<FunctionProcess> | undefined;
  const ready = new Promise<number>((resolve, reject) => {
    started = startFunctionProcess(
      name,
      path.join(folder, name),
      { AWS_REGION: 'eu-west-1', LOG: 'silent' },
      {
        next: () => {
          resolve(performance.now() - start);
          return new Promise(() => undefined);
        },
        ended: (_process, beforeFirst, detail) => {
          if (beforeFirst) reject(new Error(`${name} does not start: ${detail}`));
        },
      },
    );
  });
  try {
    return await ready;
  } finally {
    await (await started)?.stop();
  }
};

try {
  const wanted = process.argv.slice(2);
  const built = await bundleFunctions(folder);
  await mkdir(path.join(folder, empty.name));
  await writeFile(path.join(folder, empty.name, 'index.mjs'), 'export const handler = async () => {};\n');
  const bundles = [
    empty,
    ...built.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.startsWith(part))),
  ];
  const times = new Map(bundles.map(({ name }) => [name, [] as number[]]));
  for (let round = 1; round <= rounds; round++) {
    for (const [name, measured] of times) measured.push(await initOf(name));
    console.error(`round ${round} of ${rounds}`);
  }
  const width = Math.max(...bundles.map(({ name }) => name.length));
  console.log(`${'function'.padEnd(width)}  init ms      KiB`);
  for (const { name, bytes } of bundles) {
    const ms = median(times.get(name) ?? []).toFixed(0);
    console.log(`${name.padEnd(width)}  ${ms.padStart(7)}  ${(bytes / 1024).toFixed(0).padStart(7)}`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
