import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { DeployProblem } from '../settings/deploy-problem.ts';
import { linuxPackage } from './linux-package.ts';

/** File that the bundles of the password functions load from beside them. */
export const nativeFile = 'bcrypt.linux-x64-gnu.node';

/** The package that holds it. npm installs it on Linux x64 alone. */
const nativePackage = '@node-rs/bcrypt-linux-x64-gnu';

/** `e_machine` of an ELF file for x86-64. */
const x86 = 0x3e;

/**
 * Path of bcrypt's binary for Lambda on x86_64, which is downloaded where npm has not installed it, as on macOS. Throws
 * where it is made for another machine: a deployment with that would fail on the first sign-in only.
 */
export const nativeBcrypt = async (): Promise<string> => {
  const file = join(await linuxPackage(nativePackage, '@node-rs/bcrypt'), nativeFile);
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
