import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { DeployProblem } from '../settings/deploy-problem.ts';
import { linuxPackage } from './linux-package.ts';

/** The binary that bundles with password hashing load from their folder. */
export const nativeFile = 'bcrypt.linux-x64-gnu.node';

/** npm only installs it on Linux x64. */
const nativePackage = '@node-rs/bcrypt-linux-x64-gnu';

/** `e_machine` of an ELF file for x86-64. */
const x86 = 0x3e;

/**
 * Returns the path of bcrypt's binary for Lambda on x86_64; downloads it on other systems. Throws if it is for another
 * architecture, because the deployment would only fail at the first sign-in.
 */
export const nativeBcrypt = async (): Promise<string> => {
  const file = join(await linuxPackage(nativePackage, '@node-rs/bcrypt'), nativeFile);
  const header = readFileSync(file).subarray(0, 20);
  if (header.toString('latin1', 1, 4) !== 'ELF' || header.readUInt16LE(18) !== x86) {
    throw new DeployProblem(`${file} is not a program for Linux on x86_64`);
  }
  return file;
};

/** Makes `@node-rs/bcrypt` load its binary from the function's folder. */
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
