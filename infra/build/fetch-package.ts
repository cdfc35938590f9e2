import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DeployProblem } from '../settings/deploy-problem.ts';

const run = promisify(execFile);

/** A package from the lock file. */
interface LockedPackage {
  readonly name: string;
  readonly version: string;
  /** `sha512-` and the base64 hash of its tarball. */
  readonly integrity: string;
}

/** Downloads the tarball of `name@version` into a folder. */
export type Pack = (spec: string, folder: string) => Promise<void>;

/** Uses npm's configured registry. */
export const npmPack: Pack = async (spec, folder) => {
  const npm = process.env.npm_execpath;
  const command: [string, ...string[]] = npm?.endsWith('npm-cli.js') ? [process.execPath, npm] : ['npm'];
  const [program, ...before] = command;
  await run(program, [...before, 'pack', spec, '--ignore-scripts', '--pack-destination', folder]);
};

const integrityOf = async (file: string): Promise<string> => `sha512-${hash('sha512', await readFile(file), 'base64')}`;

const unpack = async ({ name, version, integrity }: LockedPackage, folder: string, pack: Pack): Promise<void> => {
  await pack(`${name}@${version}`, folder);
  const [tarball = ''] = (await readdir(folder)).filter((file) => file.endsWith('.tgz'));
  if ((await integrityOf(join(folder, tarball))) !== integrity) {
    throw new Error('what came is not what package-lock.json names');
  }
  await run('tar', ['-xzf', tarball], { cwd: folder });
};

/**
 * Returns the folder of a package, which is downloaded the first time and kept in `cache`. Checks the hash. Throws
 * `DeployProblem` if the download fails.
 */
export const fetchPackage = async (locked: LockedPackage, cache: string, pack: Pack): Promise<string> => {
  const { name, version } = locked;
  const kept = join(cache, `${name.replaceAll(/[@/]/g, '_')}-${version}`);
  if (existsSync(kept)) return kept;
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(`${kept}.`);
  try {
    await unpack(locked, folder, pack);
    // Atomic; another process may have been first.
    await rename(join(folder, 'package'), kept).catch((error: unknown) => {
      if (!existsSync(kept)) throw error;
    });
    return kept;
  } catch (error) {
    throw new DeployProblem(
      [
        `Deployed functions need ${name}@${version}, which npm does not install on this machine, and it could not be`,
        `downloaded: ${error instanceof Error ? error.message.trim() : String(error)}`,
        `See that \`npm view ${name} version\` answers and that there is a program \`tar\`, or deploy from Linux x64.`,
      ].join('\n'),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
