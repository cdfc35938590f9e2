import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const compiler = resolve('node_modules/typescript/bin/tsc');

const options = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: false,
  target: 'es2022',
  lib: ['es2022', 'dom'],
  module: 'nodenext',
  types: [],
  noEmit: true,
  allowImportingTsExtensions: true,
};

/** What TypeScript says of these files (name → text) under `strict`: '' where nothing is wrong. */
export const compile = async (files: Readonly<Record<string, string>>): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'basalt-types-'));
  try {
    await Promise.all([
      ...Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)),
      writeFile(join(folder, 'package.json'), '{"type":"module"}'),
      writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options })),
    ]);
    return await new Promise((done) => {
      execFile(process.execPath, [compiler, '-p', folder], { maxBuffer: 1e8 }, (_error, stdout, stderr) =>
        done(stdout + stderr),
      );
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Lines that must compile, and lines of which each must not, below what they have in common. */
export const expecting = (before: string, right: readonly string[], wrong: readonly string[]): string =>
  [
    before,
    ...right.map((line) => `{ ${line} }`),
    ...wrong.flatMap((line) => ['// @ts-expect-error', `{ ${line} }`]),
  ].join('\n');
