import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { DeployProblem } from '../settings/deploy-problem.ts';
import { fetchPackage, npmPack } from './fetch-package.ts';
import { root } from './function-files.ts';

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly version: string; readonly integrity: string }>>;
}

/** On other machines: the same package, by the lock file, in a folder of its own where npm does not look. */
const fetched = (name: string): Promise<string> => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as LockFile;
  const locked = packages[`node_modules/${name}`];
  if (!locked) throw new DeployProblem(`package-lock.json does not name ${name}.`);
  return fetchPackage({ name, ...locked }, join(root, 'node_modules/.cache'), npmPack);
};

/** The folder of a package for Linux on x86_64, which npm installs there alone, of all that `of` depends on. */
export const linuxPackage = async (name: string, of: string): Promise<string> => {
  const fromIt = createRequire(createRequire(import.meta.url).resolve(of));
  try {
    return dirname(fromIt.resolve(`${name}/package`));
  } catch {
    return fetched(name);
  }
};
