import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build, stop } from 'esbuild';
import { root } from './function-files.ts';

const run = promisify(execFile);

/** The folder of the package `@basalt/client`. */
export const clientFolder = join(root, 'client');

/** The scripts of the client for browsers, Node, Deno and workers; `index.js` is where they begin. */
export const buildClientScripts = async (outdir: string): Promise<void> => {
  await build({
    absWorkingDir: root,
    entryPoints: [join(clientFolder, 'src/index.ts')],
    outdir,
    bundle: true,
    splitting: true,
    // Live updates, which are loaded by those who watch.
    chunkNames: '[name]',
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    minify: true,
    // Where an error is not caught Node prints its whole line, which would be the script.
    lineLimit: 500,
    legalComments: 'none',
    logLevel: 'silent',
  });
  await stop();
};

/** Builds the client into `dist` of a folder: its scripts and types. */
export const buildClient = async (folder = clientFolder): Promise<void> => {
  const outdir = join(folder, 'dist');
  await rm(outdir, { recursive: true, force: true });
  await buildClientScripts(outdir);
  const emit = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--outDir', outdir];
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', clientFolder, ...emit]);
  for (const file of globSync('*.d.ts', { cwd: outdir })) {
    const text = await readFile(join(outdir, file), 'utf8');
    // As they are named for whoever reads the types without the sources.
    await writeFile(join(outdir, file), text.replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"));
  }
};

if (import.meta.main) await buildClient();
