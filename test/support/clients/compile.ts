import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

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

type Named = Readonly<Record<string, string>>;

/**
 * TypeScript's errors for these files (name → text) with `strict`; empty if there are none. `packages`: name → folder.
 */
export const compile = async (files: Named, packages: Named = {}): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'basalt-types-'));
  try {
    for (const [name, at] of Object.entries(packages)) {
      await mkdir(dirname(join(folder, 'node_modules', name)), { recursive: true });
      await symlink(at, join(folder, 'node_modules', name));
    }
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

/** Checks that all `valid` lines compile, and that none of the others does, below a common prefix. */
export const expecting = (before: string, right: readonly string[], wrong: readonly string[]): string =>
  [
    before,
    ...right.map((line) => `{ ${line} }`),
    ...wrong.flatMap((line) => ['// @ts-expect-error', `{ ${line} }`]),
  ].join('\n');
