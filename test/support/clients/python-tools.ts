import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const cache = path.resolve(import.meta.dirname, '../../../node_modules/.cache/basalt/python');

const limitMs = 5 * 60_000;

/** The folder with the commands of Python packages, or why they are missing. */
export type PythonTools = { readonly bin: string } | { readonly missing: string };

const oneLine = (error: unknown): string => String(error).split('\n').slice(0, 2).join(' ').slice(0, 200);

const isThere = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );

/**
 * Installs a requirements file into an environment of its own, which later runs reuse. Returns the reason if Python or
 * the packages are not available.
 */
export const pythonTools = async (requirements: string): Promise<PythonTools> => {
  const wanted = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex')
    .slice(0, 16);
  const folder = path.join(cache, wanted);
  const bin = path.join(folder, 'bin');
  const stamp = path.join(folder, 'installed');
  if (await isThere(stamp)) return { bin };
  try {
    await run('python3', ['-c', 'import sys, venv; assert sys.version_info >= (3, 11)']);
  } catch (error) {
    return { missing: `there is no Python 3.11 or later: ${oneLine(error)}` };
  }
  const began = Date.now();
  const ticker = setInterval(
    () => process.stderr.write(`  installing Python packages, ${Math.round((Date.now() - began) / 1000)} s\n`),
    5000,
  );
  try {
    await rm(folder, { recursive: true, force: true });
    await run('python3', ['-m', 'venv', folder]);
    await run(path.join(bin, 'python3'), ['-m', 'pip', 'install', '--quiet', '--requirement', requirements], {
      timeout: limitMs,
    });
    await writeFile(stamp, '');
    return { bin };
  } catch (error) {
    return { missing: `its packages cannot be installed: ${oneLine(error)}` };
  } finally {
    clearInterval(ticker);
  }
};
