import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, stop } from 'esbuild';
import { schemaFileSchema } from './cli-schema.ts';
import { root } from './function-files.ts';

/** The folder of the package `@basalt/cli`. */
export const cliFolder = join(root, 'cli');

/** Builds the command `basalt` into `dist`, as one file, and the JSON Schema of its schema file. */
export const buildCli = async (folder = cliFolder): Promise<void> => {
  const outdir = join(folder, 'dist');
  await rm(outdir, { recursive: true, force: true });
  await build({
    absWorkingDir: root,
    entryPoints: [join(cliFolder, 'src/main.ts')],
    outdir,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    legalComments: 'none',
    logLevel: 'silent',
  });
  await stop();
  await chmod(join(outdir, 'main.js'), 0o755);
  await writeFile(join(outdir, 'schema.json'), `${JSON.stringify(schemaFileSchema(), undefined, 2)}\n`);
};

if (import.meta.main) await buildCli();
