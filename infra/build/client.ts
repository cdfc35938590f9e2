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

/** Builds the client's scripts for browsers, Node, Deno and workers; `index.js` and `presence.js` are the entries. */
export const buildClientScripts = async (outdir: string): Promise<void> => {
  await build({
    absWorkingDir: root,
    entryPoints: [join(clientFolder, 'src/index.ts'), join(clientFolder, 'src/presence.ts')],
    outdir,
    bundle: true,
    splitting: true,
    // Separate chunks: live updates are only loaded when an app watches; their socket is shared with presence.
    chunkNames: '[name]',
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    minify: true,
    // Node prints the complete line of an uncaught error, which would otherwise be the complete script.
    lineLimit: 500,
    legalComments: 'none',
    logLevel: 'silent',
  });
  await stop();
};

/** Builds the client's scripts and types into `dist`. */
export const buildClient = async (folder = clientFolder): Promise<void> => {
  const outdir = join(folder, 'dist');
  await rm(outdir, { recursive: true, force: true });
  await buildClientScripts(outdir);
  const emit = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--outDir', outdir];
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', clientFolder, ...emit]);
  for (const file of globSync('*.d.ts', { cwd: outdir })) {
    const text = await readFile(join(outdir, file), 'utf8');
    // Readers of the types do not have the sources.
    await writeFile(join(outdir, file), text.replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"));
  }
};

if (import.meta.main) await buildClient();
