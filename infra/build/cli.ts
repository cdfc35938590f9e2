import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
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

/** The folders of the packages whose code is in a bundle, sorted. */
const packagesIn = (inputs: readonly string[]): readonly string[] => {
  const found = inputs.flatMap((input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? []);
  return [...new Set(found)].sort();
};

/** The licence of each package, as its authors ask for. Throws if a package has none. */
const licences = async (inputs: readonly string[]): Promise<string> => {
  const texts = packagesIn(inputs).map(async (folder) => {
    const file = (await readdir(join(root, folder))).find((name) => /^licen[cs]e/i.test(name));
    if (file === undefined) throw new Error(`${folder} has no file with its licence`);
    const text = await readFile(join(root, folder, file), 'utf8');
    return `${folder.replace(/^.*node_modules\//, '')}\n\n${text.trim()}\n`;
  });
  return (await Promise.all(texts)).join(`\n${'-'.repeat(80)}\n\n`);
};

/**
 * Builds the command `basalt` into `dist`, with the packages that it needs, their licences, and the JSON Schema of its
 * schema file. Only `basalt mcp` loads `mcp-server.js`.
 */
export const buildCli = async (): Promise<void> => {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [join(cliFolder, 'src/main.ts')],
    outdir: join(cliFolder, 'dist'),
    bundle: true,
    splitting: true,
    chunkNames: '[name]',
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minify: true,
    legalComments: 'none',
    logLevel: 'silent',
  });
  await stop();
  await mkdir(join(cliFolder, 'dist'), { recursive: true });
  for (const { path, contents } of outputFiles) {
    const name = basename(path);
    await replace(name, contents, name === 'main.js' ? 0o755 : 0o644);
  }
  await replace('licenses.txt', await licences(Object.keys(metafile.inputs)), 0o644);
  await replace('schema.json', `${JSON.stringify(schemaFileSchema(), undefined, 2)}\n`, 0o644);
};

if (import.meta.main) await buildCli();
