import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { DeployProblem } from '../settings/deploy-problem.ts';
import { fetchPackage, npmPack } from './fetch-package.ts';
import { root } from './function-files.ts';

/** File that the bundles of the password functions load from beside them. */
export const nativeFile = 'bcrypt.linux-x64-gnu.node';

/** The package that holds it. npm installs it on Linux x64 alone. */
const nativePackage = '@node-rs/bcrypt-linux-x64-gnu';

/** `e_machine` of an ELF file for x86-64. */
const x86 = 0x3e;

const installed = (): string | undefined => {
  const fromBcrypt = createRequire(createRequire(import.meta.url).resolve('@node-rs/bcrypt'));
  try {
    return fromBcrypt.resolve(nativePackage);
  } catch {
    return undefined;
  }
};

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly version: string; readonly integrity: string }>>;
}

/** On other machines: the same package, by the lock file, in a folder of its own where npm does not look. */
const fetched = async (): Promise<string> => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as LockFile;
  const locked = packages[`node_modules/${nativePackage}`];
  if (!locked) throw new DeployProblem(`package-lock.json does not name ${nativePackage}.`);
  const folder = await fetchPackage({ name: nativePackage, ...locked }, join(root, 'node_modules/.cache'), npmPack);
  return join(folder, nativeFile);
};

/**
 * Path of bcrypt's binary for Lambda on x86_64, which is downloaded where npm has not installed it, as on macOS. Throws
 * where it is made for another machine: a deployment with that would fail on the first sign-in only.
 */
export const nativeBcrypt = async (): Promise<string> => {
  const file = installed() ?? (await fetched());
  const header = readFileSync(file).subarray(0, 20);
  if (header.toString('latin1', 1, 4) !== 'ELF' || header.readUInt16LE(18) !== x86) {
    throw new DeployProblem(`${file} is not a program for Linux on x86_64`);
  }
  return file;
};

/** Lets `@node-rs/bcrypt` load its binary from the function's own folder instead of searching for one. */
export const bcryptFromFolder: Plugin = {
  name: 'bcrypt-from-folder',
  setup: (build) => {
    build.onResolve({ filter: /^\.\/binding$/ }, ({ importer }) =>
      importer.replaceAll('\\', '/').endsWith('@node-rs/bcrypt/index.js')
        ? { path: `./${nativeFile}`, external: true }
        : undefined,
    );
  },
};
