import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, stop } from 'esbuild';
import { schemaFileSchema } from './cli-schema.ts';
import { root } from './function-files.ts';

/** The folder of the package `@basalt/cli`. */
export const cliFolder = join(root, 'cli');

/** Replaces a file in one step, because two packages may be packed at the same time. */
const replace = async (name: string, content: string | Uint8Array, mode: number): Promise<void> => {
  const draft = join(cliFolder, `${name}.${process.pid}`);
  await writeFile(draft, content, { mode });
  await rename(draft, join(cliFolder, 'dist', name));
};

/** Builds the command `basalt` into `dist`, as one file, and the JSON Schema of its schema file. */
export const buildCli = async (): Promise<void> => {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [join(cliFolder, 'src/main.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    legalComments: 'none',
    logLevel: 'silent',
  });
  await stop();
  const [script] = outputFiles;
  if (!script) throw new Error('esbuild wrote no script');
  await mkdir(join(cliFolder, 'dist'), { recursive: true });
  await replace('main.js', script.contents, 0o755);
  await replace('schema.json', `${JSON.stringify(schemaFileSchema(), undefined, 2)}\n`, 0o644);
};

if (import.meta.main) await buildCli();
