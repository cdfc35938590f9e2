import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { DeployProblem } from '../settings/deploy-problem.ts';
import { fetchPackage, npmPack } from './fetch-package.ts';
import { root } from './function-files.ts';

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly version: string; readonly integrity: string }>>;
}

/** On other systems, downloads the package of the lock file to a folder that npm does not search. */
const fetched = (name: string): Promise<string> => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as LockFile;
  const locked = packages[`node_modules/${name}`];
  if (!locked) throw new DeployProblem(`package-lock.json does not name ${name}.`);
  return fetchPackage({ name, ...locked }, join(root, 'node_modules/.cache'), npmPack);
};

/** Returns the folder of a Linux x64 package that `of` depends on. npm only installs it on Linux x64. */
export const linuxPackage = async (name: string, of: string): Promise<string> => {
  const fromIt = createRequire(createRequire(import.meta.url).resolve(of));
  try {
    return dirname(fromIt.resolve(`${name}/package`));
  } catch {
    return fetched(name);
  }
};
